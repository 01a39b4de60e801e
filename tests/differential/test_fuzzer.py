#!/usr/bin/env python3
"""Tests the fuzzer itself, without tern. Run this file directly or with pytest."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fuzz import compare, registry  # noqa: E402
from fuzz.case import Check, make_model  # noqa: E402
from fuzz.draw import draw_case  # noqa: E402
from run import read_sample, share_out  # noqa: E402

FAKE = f"{sys.executable} {HERE / 'fake_tern.py'}"
# The cases cover tensors, strings, a sequence, an optional, and a node without inputs.
CASES = ["Add:1", "Conv:0", "TopK:0", "StringConcat:0", "SplitToSequence:0", "OptionalHasElement:2", "Constant:0"]


def fuzz(*arguments, fault=""):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run([sys.executable, str(HERE / "run.py"), "--tern", FAKE, "--jobs", "1", "--save", folder,
                        "--report", str(report), *arguments], check=False, capture_output=True,
                       env={**os.environ, "FAKE_TERN_FAULT": fault})
        return json.loads(report.read_text())["totals"]


class Comparison(unittest.TestCase):
    def differ(self, want, got, **check):
        return compare.outputs_differ([want], [got], Check(**check))

    def test_equal(self):
        x = np.array([1, np.nan, np.inf, -0.0], np.float32)
        self.assertIsNone(self.differ(x, x.copy()))

    def test_type_shape_and_value(self):
        x = np.ones((2, 3), np.float32)
        self.assertIn("type", self.differ(x, x.astype(np.float64)))
        self.assertIn("shape", self.differ(x, x.T))
        wrong = x.copy()
        wrong[1, 1] = 2
        self.assertIn("1 of 6", self.differ(x, wrong))

    def test_infinity_is_not_close_to_a_large_number(self):
        self.assertTrue(self.differ(np.array([np.inf], np.float32), np.array([3e38], np.float32)))
        self.assertTrue(self.differ(np.array([np.nan], np.float32), np.array([0], np.float32)))

    def test_off_by_one_only_where_allowed_and_seldom(self):
        x = np.zeros(100, np.uint8)
        one, all_ones = x.copy(), x + 1
        one[3] = 1
        self.assertTrue(self.differ(x, one))
        self.assertIsNone(self.differ(x, one, off_by_one=True))
        self.assertTrue(self.differ(x, all_ones, off_by_one=True))

    def test_sequences_and_nothing(self):
        self.assertIsNone(self.differ([np.ones(2)], [np.ones(2)]))
        self.assertTrue(self.differ([np.ones(2)], []))
        self.assertIsNone(self.differ(None, None))
        self.assertTrue(self.differ(None, np.ones(1)))


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ops = registry.load_specs()

    def test_every_operator_draws_and_draws_again_the_same(self):
        for op in self.ops.values():
            for seed in range(3):
                one, two = draw_case(op, seed), draw_case(op, seed)
                self.assertEqual(make_model(one).SerializeToString(deterministic=True),
                                 make_model(two).SerializeToString(deterministic=True), one.ident)

    def test_sample_names_every_operator(self):
        named = {ident.rsplit(":", 1)[0] for ident in read_sample(HERE / "sample.txt")}
        self.assertEqual(set(self.ops), named)

    def test_shares_add_up(self):
        quota = share_out(list(self.ops.values()), 5000)
        self.assertEqual(5000, sum(quota.values()))
        self.assertGreaterEqual(min(quota.values()), 1)


class Plumbing(unittest.TestCase):
    cases = [a for c in CASES for a in ("--case", c)]

    def test_right_answers_match(self):
        totals = fuzz(*self.cases)
        self.assertEqual(len(CASES), totals["matched"], totals)

    def test_wrong_answers_do_not(self):
        for fault in ("value", "shape", "type"):
            totals = fuzz("--case", "Add:1", "--case", "Conv:0", fault=fault)
            self.assertEqual(2, totals["mismatched"], (fault, totals))

    def test_refusals_and_crashes_are_told_apart(self):
        self.assertEqual(1, fuzz("--case", "Add:1", fault="refuse")["unsupported"])
        self.assertEqual(1, fuzz("--case", "Add:1", fault="crash")["failed"])


if __name__ == "__main__":
    unittest.main()
