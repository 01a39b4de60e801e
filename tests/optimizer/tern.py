"""Optimises, runs and times a model with tern."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy

from child import Failure, one_line


@dataclass(frozen=True)
class Times:
    """The milliseconds per run of the original and the optimised model, each in its best round, and the spread between
    rounds."""

    original: float
    optimised: float
    spread: float

    @property
    def ratio(self):
        return self.optimised / self.original


class Tern:
    def __init__(self, program, limit):
        self.program, self.limit = str(program), limit

    def _call(self, *args):
        try:
            done = subprocess.run([self.program, *map(str, args)], capture_output=True, text=True, errors="replace",
                                  timeout=self.limit, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"tern {args[0]}: time limit of {self.limit} s") from None
        except OSError as error:
            raise SystemExit(f"cannot start '{self.program}': {error.strerror}") from None
        if done.returncode:
            raise Failure(f"tern {args[0]}: exit status {done.returncode}: {one_line(done.stderr)}")
        return done.stdout

    def _object(self, *args):
        text = self._call(*args, "--json")
        try:
            return json.loads(text)
        except ValueError:
            raise Failure(f"tern {args[0]} --json printed no JSON: {one_line(text)}") from None

    def optimise(self, model, out, level="extended"):
        """Writes the optimised model to `out` (.onnx or .tern). Returns the report with nodes_before, nodes_after,
        rules and so on."""
        report = self._object("optimize", model, "-o", out, "--level", level)
        if not Path(out).exists():
            raise Failure(f"tern optimize wrote no {Path(out).name}")
        return report

    def report(self, model, *options, level="extended"):
        """Returns the same report as optimise(), but writes no file."""
        return self._object("optimize", model, "--level", level, *options)

    def run(self, model, inputs, out):
        """Runs the model and returns its outputs by file name."""
        self._call("run", model, *inputs, "--level", "none", "--output-dir", out)
        return {file.name: numpy.load(file) for file in sorted(out.glob("*.npy"))}

    def verify(self, model, stored):
        """Runs the model without optimization. Raises Failure if its outputs differ from those in the folder
        `stored`."""
        self._call("verify", model, "--data", stored, "--level", "none", "--threads", 1)

    def times(self, original, optimised, inputs, rounds, seconds):
        """Measures both models alternately, so that other load on the machine affects both equally."""
        def bench(model):
            report = self._object("bench", model, *inputs, "--threads", 1, "--level", "none", "--seconds", seconds)
            return report["latency_ms"]["p50"]

        before, after = zip(*((bench(original), bench(optimised)) for _ in range(rounds)))
        return Times(min(before), min(after), max(max(t) / min(t) - 1 for t in (before, after)))


def shape_options(feeds):
    """Returns the options that set the shapes of a model's inputs to those of the arrays."""
    return [word for name, value in feeds.items() if value.shape
            for word in ("--shape", f"{name}={'x'.join(map(str, value.shape))}")]


def save_inputs(feeds, folder):
    """Stores the arrays in `folder` and returns the options that feed them to tern."""
    folder.mkdir()
    for number, value in enumerate(feeds.values()):
        numpy.save(folder / f"{number}.npy", value)
    return [word for number, name in enumerate(feeds) for word in ("--input", f"{name}={folder / f'{number}.npy'}")]
