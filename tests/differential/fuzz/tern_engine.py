"""Runs a case with Tern's command line. The command is `tern run` if .npy files can represent the inputs and outputs,
and otherwise `tern verify` with .pb files."""

import pathlib
import re
import shlex
import shutil
import subprocess

import numpy as np

from . import values
from .case import make_model
from .compare import tolerance
from .engine import Answer

TIMEOUT_S = 60
EXIT_UNSUPPORTED = 2
EXIT_MISMATCH = 1


class Tern:
    def __init__(self, command, folder):
        self.command = shlex.split(command)
        self.folder = pathlib.Path(folder)

    def run(self, case, expected):
        self._clear()
        model = self.folder / "model.onnx"
        model.write_bytes(make_model(case).SerializeToString())
        npy = all(_npy_carries(v) for v in [*case.fed.values(), *expected])
        # Only `tern run` returns outputs. Without the outputs, check.canon and check.shape_only cannot be applied.
        if npy:
            return self._run(case, model)
        if case.check.canon or case.check.shape_only:
            return Answer(status="unsupported", message="the outputs cannot be stored as .npy, and `tern verify` cannot compare them")
        return self._verify(case, model, expected)

    def _clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def _call(self, *args):
        try:
            return subprocess.run([*self.command, *map(str, args)], capture_output=True, text=True,
                                  errors="replace", timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(args, -1, "", f"no answer in {TIMEOUT_S} s")

    def _run(self, case, model):
        arguments = []
        for i, (name, value) in enumerate(case.fed.items()):
            path = self.folder / f"in{i}.npy"
            np.save(path, value, allow_pickle=False)
            arguments += ["--input", f"{name}={path}"]
        out = self.folder / "out"
        done = self._call("run", model, *arguments, "--output-dir", out)
        if done.returncode:
            return _refusal(done)
        try:
            return Answer(outputs=[np.load(out / f"{file_stem(n)}.npy") for n in case.outputs])
        except (OSError, ValueError) as error:
            return Answer(status="failed", message=f"output not readable: {error}")

    def _verify(self, case, model, expected):
        write_data(self.folder / "data", case, expected)
        rtol, atol = verify_tolerance(case, expected)
        done = self._call("verify", model, "--data", self.folder / "data", "--rtol", rtol, "--atol", atol)
        if done.returncode == 0:
            return Answer(status="matched")
        if done.returncode == EXIT_MISMATCH:
            return Answer(status="mismatched", message=_words(done))
        return _refusal(done)


def file_stem(name):
    return re.sub("[/:]", "_", name)


def _npy_carries(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and not values.is_exotic(value)


def _words(done):
    return " ".join((done.stderr or done.stdout).split())[:600]


def _refusal(done):
    if done.returncode == EXIT_UNSUPPORTED and "internal error" not in done.stderr:
        return Answer(status="unsupported", message=_words(done))
    return Answer(status="failed", message=f"exit {done.returncode}: {_words(done)}")


def write_data(folder, case, expected):
    """Writes input_K.pb in the order of the graph's inputs and output_K.pb in the order of its outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, (name, value) in enumerate(case.fed.items()):
        (folder / f"input_{i}.pb").write_bytes(values.to_proto(value, name).SerializeToString())
    for i, (name, value) in enumerate(zip(case.outputs, expected)):
        kind = case.output_types[i]
        if kind.WhichOneof("value") == "optional_type":
            value = values.as_optional(value)
        (folder / f"output_{i}.pb").write_bytes(values.to_proto(value, name, kind).SerializeToString())


def verify_tolerance(case, expected):
    """Returns one pair (rtol, atol) for the model: the maximum over all float outputs."""
    def leaves(value):
        if isinstance(value, list):
            return [leaf for item in value for leaf in leaves(item)]
        return [value] if isinstance(value, np.ndarray) else []

    pairs = [tolerance(values.name_of(a), case.check) for v in expected for a in leaves(v)]
    rtol = max((p[0] for p in pairs), default=0.0)
    atol = max((p[1] for p in pairs), default=0.0)
    # `tern verify` does not count the elements that differ by 1. The absolute tolerance is therefore at least 1.
    return rtol, max(atol, 1.0) if case.check.off_by_one else atol
