"""Runs the stored models of other frameworks and compares with the stored results of these frameworks."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_model import run_model  # noqa: E402
from sample import HERE, add_tests  # noqa: E402


class Samples(unittest.TestCase):
    def test_every_format_has_samples(self):
        for requirements in HERE.glob("*/requirements.txt"):
            self.assertTrue(list(requirements.parent.glob("samples/*/data.npz")), f"{requirements.parent.name} has no stored models")

    def check(self, sample):
        sample.compare(self, run_model(sample.model, sample.inputs, *sample.args))


add_tests(Samples)
