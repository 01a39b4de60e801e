"""Runs a published MindIR model (TERN_ZOO) and measures its accuracy."""

import gzip
import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import run_model  # noqa: E402

ZOO = pathlib.Path(os.environ.get("TERN_ZOO", ""))
MODEL = ZOO / "models/mindir/mnist.mindir"


@unittest.skipUnless(os.environ.get("TERN_ZOO") and MODEL.exists(), "needs TERN_ZOO")
class Zoo(unittest.TestCase):
    def test_mnist(self):
        data = ZOO / "data/mnist"
        pictures = np.frombuffer(gzip.decompress((data / "t10k-images-idx3-ubyte.gz").read_bytes()), np.uint8, offset=16).reshape(-1, 28, 28)
        labels = np.frombuffer(gzip.decompress((data / "t10k-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8)
        x = np.pad(pictures, ((0, 0), (2, 2), (2, 2))).astype(np.float32)[:, None] / 255
        got = run_model(MODEL, {"x": x}, "--batch", len(x))
        (scores,) = got.values()
        self.assertGreater((scores.argmax(1) == labels).mean(), 0.975)


if __name__ == "__main__":
    unittest.main()
