"""Runs a model with `tern run`, for the tests of importers."""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

TERN = os.environ.get("TERN_BIN", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/tern"))


class TernError(Exception):
    """The message and exit code of a command that failed."""


def tern(*args):
    """Runs the command. Returns its standard output. Raises TernError if it fails."""
    done = subprocess.run([TERN, *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TernError(f"exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def run_model(model, inputs, *args):
    """Runs a model. `inputs` maps names to arrays. Returns a map from the names of outputs to arrays."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        feeds = []
        for i, (name, array) in enumerate(inputs.items()):
            path = pathlib.Path(folder, f"{i}.npy")
            np.save(path, array)
            feeds += ["--input", f"{name}={path}"]
        text = tern("run", model, *feeds, "--output-dir", out, "--json", *args)
        outputs = json.loads(text)["outputs"]
        return {name: np.load(o["file"], allow_pickle=False) for name, o in outputs.items()}
