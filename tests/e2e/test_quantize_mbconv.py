"""Tests tern quantize on a small network of EfficientNet's type, which one range per tensor ruins (tests/accuracy/mbconv)."""

import os
import pathlib
import sys
import unittest

import numpy as np

from support import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/accuracy/mbconv/mbconv.onnx"
sys.path.insert(0, str(ROOT / "examples/digits"))

PLAIN = ("--method", "minmax", "--per-tensor", "--rounding", "nearest", "--no-bias-correction")
MOST_LOST = 0.015
# Options with which at most MOST_LOST of the labels are lost.
REMEDIES = {
    "AdaRound, percentiles": ("--method", "percentile"),
    "AdaRound, percentiles, equalization": ("--method", "percentile", "--equalize"),
    "layers in float": ("--min-sqnr", "20"),
    "layers in float, else plain": (*PLAIN, "--min-sqnr", "20"),
}
# Remedies that recover more than half of the loss when they are added alone to one scale per tensor.
PARTIAL = {"equalization": (*PLAIN, "--equalize"), "AdaRound": tuple(o for o in PLAIN if o not in ("--rounding", "nearest"))}
CALIBRATION = 200  # images


@unittest.skipUnless(os.environ.get("TERN_ZOO"), "TERN_ZOO does not name a folder of models and data")
class MbConv(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import dataset

        images, labels = dataset.load()
        held_out = dataset.held_out_mask()
        cls.calibration = dataset.to_input(images[~held_out][::17][:CALIBRATION])
        cls.images, cls.labels = dataset.to_input(images[held_out]), labels[held_out]

    def setUp(self):
        super().setUp()
        np.savez(self.dir / "calib.npz", image=self.calibration)
        np.save(self.dir / "x.npy", self.images)
        self.right = self.rights(MODEL)

    def rights(self, model):
        """Returns for each held-out image whether the model's label is right."""
        self.ok("run", model, "--input", f"image={self.dir / 'x.npy'}", "--output-dir", self.dir / "out")
        return np.load(self.dir / "out/logits.npy").argmax(1) == self.labels

    def quantized(self, *options):
        """Returns the report, and the lost share of the labels, paired: those lost minus those gained."""
        out = self.dir / "q.tern"
        report = self.json("quantize", MODEL, "-o", out, "--calib", self.dir / "calib.npz", "--json", *options)
        right = self.rights(out)
        return report, ((self.right & ~right).sum() - (right & ~self.right).sum()) / len(right)

    def test_one_range_per_tensor_loses_and_the_remedies_recover(self):
        self.assertGreaterEqual(len(self.labels), 1000)
        self.assertGreater(self.right.mean(), 0.975)
        report, plain = self.quantized(*PLAIN)
        self.assertGreaterEqual(plain, 0.05)
        self.assertEqual(report["float_layers"], [])
        for name, options in PARTIAL.items():
            with self.subTest(remedy=name):
                self.assertLess(self.quantized(*options)[1], plain / 2)
        for name, options in REMEDIES.items():
            with self.subTest(remedy=name):
                report, lost = self.quantized(*options)
                self.assertLessEqual(lost, MOST_LOST)
                self.assertEqual(bool(report["float_layers"]), name.startswith("layers in float"))
                self.assertGreaterEqual(report["layers"], 14)  # of 28


if __name__ == "__main__":
    unittest.main()
