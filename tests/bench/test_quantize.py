"""Tests the comparison of int8 models. fake_tern.py replaces tern, and there is no peer."""

import json
import os
import subprocess
import sys
import unittest

import test_measure
from test_measure import BENCH

sys.path.insert(0, str(BENCH))

from lowbit import calibration  # noqa: E402


class Quantize(unittest.TestCase):
    setUp = test_measure.Compare.setUp  # a cache folder with one network, and the fake tern

    def quantize(self, *options, **env):
        command = [sys.executable, BENCH / "quantize", "speed", "--cache", self.dir, "--tern", self.tern, "--rounds", "2", "--peers", "none",
                   "--models", "small", "--threads", "1", *options]
        return subprocess.run(list(map(str, command)), env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False)

    def test_ratios_are_those_of_the_best_times(self):
        out = self.dir / "out.json"
        done = self.quantize("--json", out, FAKE_MS="6 5", FAKE_INT8_MS="3 2 4")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        row, = json.loads(out.read_text())["rows"]
        self.assertEqual({name: found["ms"] for name, found in row["engines"].items()}, {"tern": 2, "fp32": 5, "bf16": 5})
        self.assertAlmostEqual(row["cosine"], 1)
        self.assertRegex(done.stdout, r"small +2\.00 +5\.00 +5\.00 +– +– +2\.50 +2\.50")

    def test_an_int8_model_slower_than_fp32_fails(self):
        done = self.quantize(FAKE_MS="3", FAKE_INT8_MS="4")
        self.assertEqual(done.returncode, 1)
        self.assertIn("MISSED small, 1 thread(s): 0.75 x the better of fp32 and bf16\n", done.stdout)

    def test_a_model_that_cannot_be_quantized_is_named_with_the_reason(self):
        refusing = self.dir / "refusing"
        refusing.write_text(f'#!/bin/sh\ntest "$1" = quantize && echo "tern: made up to refuse" >&2 && exit 2\nexec "{self.tern}" "$@"\n')
        refusing.chmod(0o755)
        done = self.quantize("--tern", refusing, FAKE_MS="3", FAKE_INT8_MS="4")
        self.assertEqual(done.returncode, 1)
        self.assertIn("    tern: tern: made up to refuse\n", done.stdout)

    def test_calibration_differs_from_the_measured_inputs(self):
        import feeds

        spec = {"name": "x", "dtype": "float32", "dims": [2, 3], "symbols": {}, "kind": "normal", "high": 0}
        drawn = [sample["x"].tolist() for sample in calibration.samples({"inputs": [spec]})]
        self.assertEqual(len(drawn), calibration.SAMPLES)
        self.assertNotIn(feeds.make(spec).tolist(), drawn)
        self.assertNotEqual(drawn[0], drawn[1])


if __name__ == "__main__":
    unittest.main()
