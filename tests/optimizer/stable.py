#!/usr/bin/env python3
"""Checks guarantees of the optimizer on real models.

For every model of --models and of $TERN_ZOO/models, two runs of `tern optimize` must write the same bytes, as .tern and
as .onnx. When the result is optimised again, no rule may fire and no byte may change. The result must compute the
stored outputs. If none are stored, it must compute the outputs of the original. The exit status is 1 if anything
differs. The last line is `N passed, N failed, N skipped`.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import data
import outputs
from child import Failure, one_line
from tern import Tern, save_inputs


class Check:
    """Checks one model. Writes files to `folder`."""

    def __init__(self, tern, model, folder, level):
        self.tern, self.model, self.folder, self.level = tern, model, folder, level

    def optimise(self, source, name):
        return self.tern.optimise(source, self.folder / name, self.level)

    def same(self, first, second, what):
        a, b = ((self.folder / name).read_bytes() for name in (first, second))
        if a != b:
            place = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            raise Failure(f"{what}: {len(a)} and {len(b)} bytes, which differ at byte {place}")

    def deterministic(self):
        for form in ("tern", "onnx"):
            for run in (1, 2):
                self.optimise(self.model.path, f"{run}.{form}")
            self.same(f"1.{form}", f"2.{form}", f"two runs differ (.{form})")

    def idempotent(self):
        report = self.optimise(self.folder / "1.tern", "again.tern")
        if report["rules"]:
            raise Failure(f"a second run fires {report['rules']}")
        if report["nodes_before"] != report["nodes_after"]:
            raise Failure(f"a second run changes the number of nodes from {report['nodes_before']} to {report['nodes_after']}")
        self.same("1.tern", "again.tern", "a second run changes the file")

    def results(self):
        if not self.model.published:
            self.tern.verify(self.folder / "1.tern", self.model.path.parent)
            for stored in sorted(self.model.path.parent.glob("data_*")):
                self.tern.verify(self.folder / "1.tern", stored)
            return
        feeds = data.feeds(self.model)[0]
        inputs = save_inputs(feeds, self.folder / "inputs")
        wanted = self.tern.run(self.model.path, inputs, self.folder / "wanted")
        got = self.tern.run(self.folder / "1.tern", inputs, self.folder / "got")
        error = outputs.distance(wanted, got)
        if not error <= self.model.tolerance:
            raise Failure(f"outputs differ by {error:.1e}")

    def run(self):
        self.deterministic()
        self.idempotent()
        self.results()


def check(tern, model, level):
    """Returns the error, or "" if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            Check(tern, model, Path(folder), level).run()
        except Failure as failure:
            return one_line(failure, 400)
    return ""


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.declare(parser)
    parser.add_argument("--level", default="extended", choices=("basic", "extended", "layout"))
    parser.add_argument("--limit", type=int, default=120, help="time limit of one call of tern, in seconds")
    parser.add_argument("--jobs", type=int, default=2, help="number of models that are checked at the same time")
    return parser.parse_args()


def main():
    options = parse()
    models = data.chosen(options)
    valid = [m for m in models if not m.invalid]
    tern = Tern(options.tern, options.limit)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for model, problem in zip(valid, pool.map(lambda m: check(tern, m, options.level), valid)):
            failed += bool(problem)
            if problem:
                print(f"FAIL {model.name}: {problem}", flush=True)
    print(f"{len(valid) - failed} passed, {failed} failed, {len(models) - len(valid)} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
