"""tern.quantize: the same sequence as the command, as a function."""

import pathlib
import tempfile
import unittest

import numpy as np
import support
import tern
from onnx import numpy_helper

SAMPLES = pathlib.Path(support.DIGITS).parent / "samples"


class Quantize(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.images = np.random.default_rng(0).random((8, 1, 28, 28), np.float32)

    def agree(self, path):
        """How many of the pictures get the same digit as from the float model."""
        one, two = (tern.load(model)({"image": self.images})["probabilities"].argmax(1) for model in (support.DIGITS, path))
        return (one == two).sum()

    def test_a_folder_of_pictures(self):
        out = self.folder / "int8.tern"
        report = tern.quantize(support.DIGITS, out, SAMPLES, preprocess="none", method="minmax", layers=True)
        self.assertEqual((report["method"], report["samples"], report["output"]), ("minmax", len(list(SAMPLES.iterdir())), str(out)))
        self.assertLess(report["bytes"]["after"], report["bytes"]["before"])
        self.assertGreater(report["outputs"]["sqnr_db"], 10)
        self.assertEqual(len(report["layer_errors"]), report["layers"])
        self.assertGreaterEqual(self.agree(out), 6)

    def test_arrays(self):
        for name in ("a.tern", "a.onnx"):
            report = tern.quantize(support.DIGITS, self.folder / name, {"image": self.images}, samples=4, threads=1)
            self.assertEqual(report["samples"], 4)
            self.assertGreaterEqual(self.agree(self.folder / name), 6)

    def test_weights_only(self):
        w = np.random.default_rng(1).standard_normal((128, 64)).astype(np.float32)
        path = self.folder / "matmul.onnx"
        path.write_bytes(support.model([support.node("MatMul", "x w", "y")], [support.value("x", shape=("N", 128))],
                                       [support.value("y", shape=("N", 64))], [numpy_helper.from_array(w, "w")]))
        x = np.random.default_rng(2).standard_normal((3, 128)).astype(np.float32)
        for options in ({"weights": "int8"}, {"weights": "int4", "block": 32}, {"dynamic": True}, {"weights": "int4", "weight_method": "gptq", "calib": {"x": x}}):
            report = tern.quantize(path, self.folder / "w.tern", **options)
            self.assertLess(report["weight_bytes"]["after"], report["weight_bytes"]["before"])
            self.assertEqual(len(report["layers"]), 1)
            error = np.abs(tern.load(self.folder / "w.tern")({"x": x})["y"] - x @ w).max()
            self.assertLess(error, 8 if "int4" in options.values() else 0.5)

    def test_mistakes(self):
        out = self.folder / "x.tern"
        for call, error, text in (
                (lambda: tern.quantize("nowhere.onnx", out), tern.ModelNotFound, "nowhere.onnx"),
                (lambda: tern.quantize(support.DIGITS, out), tern.InvalidArgument, "no calibration data"),
                (lambda: tern.quantize(support.DIGITS, self.folder / "x.bin", SAMPLES, preprocess="none"), tern.InvalidArgument, "must end in .tern or .onnx"),
                (lambda: tern.quantize(support.DIGITS, out, self.folder / "no"), tern.NotFound, "no such file or folder"),
                (lambda: tern.quantize(support.DIGITS, out, {"img": self.images}), tern.NotFound, "no input 'img'"),
                (lambda: tern.quantize(support.DIGITS, out, SAMPLES, method="best"), tern.InvalidArgument, "minmax"),
                (lambda: tern.quantize(support.DIGITS, out, SAMPLES, bits=9), tern.InvalidArgument, "8 or 16"),
                (lambda: tern.quantize(support.DIGITS, out, SAMPLES, preprocess="none", keep_float=["none"]), tern.NotFound, "keep_float none"),
                (lambda: tern.quantize(support.DIGITS, out, weights="int3"), tern.InvalidArgument, "int8 or int4"),
                (lambda: tern.quantize(support.DIGITS, out, weights="int4", weight_method="gptq"), tern.InvalidArgument, "calibration data"),
                (lambda: tern.quantize(support.DIGITS, out, SAMPLES, bits="8"), tern.InvalidArgument, "'bits'")):
            with self.assertRaises(error) as raised:
                call()
            self.assertIn(text, str(raised.exception))
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
