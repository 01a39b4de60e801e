"""Tests the comparison of formats. fake_tern.py replaces tern, and the files of the network are in the cache."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench"
ENTRY = {"file": "small.onnx", "outputs": ["y"],
         "inputs": [{"name": "x", "dtype": "float32", "dims": [2, 3], "symbols": {}, "kind": "normal", "high": 0}]}
PROGRAM = {"inputs": ["x"], "outputs": ["y"]}


class Formats(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tern_bench_")
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)
        self.programs = {"raw": {"file": "small.raw.pt2", **PROGRAM}, "core": {"file": "small.core.pt2", **PROGRAM}}
        (self.dir / "index.json").write_text(json.dumps({"small": ENTRY}))
        self.tern = self.dir / "tern"
        self.tern.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "fake_tern.py"}" "$@"\n')
        self.tern.chmod(0o755)

    def formats(self, *options, **env):
        (self.dir / "programs.json").write_text(json.dumps({"small": self.programs}))
        self.out = self.dir / "out.json"
        command = [sys.executable, BENCH / "formats", "--cache", self.dir, "--tern", self.tern, "--rounds", "2", "--networks", "small", "--json", self.out, *options]
        return subprocess.run(list(map(str, command)), env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False)

    def test_every_program_is_compared_with_the_onnx_file(self):
        done = self.formats("--clock", "processor", "--markdown", FAKE_MS="3 2 4")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(self.out.read_text())
        found = report["networks"]["small"]
        self.assertEqual([(kind, result["ms"], result["steps"], result["rounds"]) for kind, result in found.items()],
                         [("onnx", 1, 2, 2), ("raw", 1, 2, 2), ("core", 1, 2, 2)])
        self.assertEqual((report["clock"], report["geomean"]), ("processor", {"raw": 1, "core": 1}))
        self.assertRegex(done.stdout, r"(?m)^small +1\.00 +1\.00 +1\.00 +1\.000 +1\.000 +0% ")
        self.assertIn("| small | 1.00 | 1.00 | 1.00 | 1.000 | 1.000 | 0% | 2 | 2 | 2 | 2 | 2 | 2 |\n", done.stdout)

    def test_a_form_that_is_not_in_the_cache_is_left_out(self):
        del self.programs["core"]
        done = self.formats(FAKE_MS="3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(json.loads(self.out.read_text())["networks"]["small"]), ["onnx", "raw"])

    def test_wrong_outputs_are_named_and_not_counted(self):
        self.programs["raw"]["file"] = "small.rounded.pt2"
        done = self.formats(FAKE_MS="3", FAKE_CHAOS="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("    raw wrong: differs from the first engine by 0.5 of its largest output", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^small +3\.00 +wrong +3\.00 +– +1\.000 ")

    def test_a_file_that_does_not_run_is_named(self):
        done = self.formats(FAKE_MS="3", FAKE_DIES="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        for kind in ("onnx", "raw", "core"):
            self.assertIn(f"    {kind} failed: tern: made up to fail\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
