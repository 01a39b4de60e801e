"""Tests that the suite's comparison finds differences and that its catalogue is large enough."""

import pathlib
import sys
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]

import case as cases  # noqa: E402
import engines  # noqa: E402
from catalog import cases as catalogue  # noqa: E402
from testlib import suites  # noqa: E402

CASE = cases.Case("c", lambda: None, "multi")


class Comparison(unittest.TestCase):
    def differs(self, wanted, got):
        return cases.compare(CASE, wanted, got, "y")

    def test_numbers(self):
        self.assertIsNone(self.differs(np.float32([1, np.nan]), [1.000001, np.nan]))
        self.assertIn("y[1]", self.differs(np.float32([1, 2]), [1, 2.0001]))
        self.assertIn("shape", self.differs(np.float32([1, 2]), [[1, 2]]))

    def test_labels_are_equal_or_wrong(self):
        self.assertIsNone(self.differs(np.array(["a", "b"], dtype=object), np.array(["a", "b"], dtype=object)))
        self.assertIn("y[1]", self.differs(np.array([3, 4]), np.array([3, 5])))

    def test_maps(self):
        self.assertIsNone(self.differs([{3: 0.5}], [{"3": 0.5}]))
        self.assertIn("y[0]['3']", self.differs([{3: 0.5}], [{"3": 0.6}]))
        self.assertIn("keys", self.differs([{"a": 0.5}], [{"b": 0.5}]))
        self.assertIn("1 items", self.differs([{"a": 0.5}], []))

    def test_values_as_tern_writes_them(self):
        self.assertEqual(engines.read([{"a": {"type": "f32", "shape": [], "data": 0.5}}]), [{"a": 0.5}])
        self.assertTrue(np.isnan(engines.read({"type": "f32", "shape": [1], "data": ["nan"]})[0]))
        self.assertEqual(engines.read({"type": "string", "shape": [1, 1], "data": [["x"]]}).tolist(), [["x"]])


class Catalogue(unittest.TestCase):
    def test_it_is_as_large_as_promised(self):
        self.assertGreaterEqual(len(catalogue()), suites.ESTIMATORS)

    def test_the_sample_is_part_of_it(self):
        lines = (HERE / "sample.txt").read_text().splitlines()
        names = [line for line in lines if line and not line.startswith("#")]
        self.assertEqual(len(names), suites.ESTIMATORS_SAMPLE)
        self.assertLessEqual(set(names), {case.name for case in catalogue()})


if __name__ == "__main__":
    unittest.main()
