"""Runs networks of one layer in Tern, and compares with OpenCV or with values that numpy computes."""

import pathlib
import sys
import tempfile
import unittest

import cv2
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from caffe_net import Net  # noqa: E402
from run_model import run_model  # noqa: E402


def opencv(text, model, inputs, outputs):
    """Runs a network in OpenCV. Returns a map from the names of outputs to arrays."""
    net = cv2.dnn.readNetFromCaffe(str(text), str(model))
    for name, array in inputs.items():
        net.setInput(array, name)
    names = list(outputs)
    return dict(zip(names, net.forward(names)))


def numbers(*dims, seed=0, low=-2.0, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, dims).astype(np.float32)


class LayerTest(unittest.TestCase):
    def close(self, got, wanted, rtol=1e-4, atol=1e-5, msg=""):
        wanted = np.asarray(wanted)
        self.assertEqual(got.shape, wanted.shape, msg)
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol, err_msg=msg)

    def run_net(self, net, inputs, *args, form="shape"):
        with tempfile.TemporaryDirectory() as folder:
            text, _ = net.write(folder, form=form)
            return run_model(text, inputs, *args)

    def run_layer(self, kind, inputs, params="", blobs=(), tops=("y",), form="shape"):
        """Runs one layer named y. Returns the arrays of its tops."""
        net, feeds = Net(), {}
        for i, array in enumerate(inputs):
            feeds[net.input(f"x{i}", array.shape)] = array
        net.layer(kind, list(feeds), "y", params, blobs, list(tops))
        out = self.run_net(net, feeds, form=form)
        return [out[top] for top in tops]

    def check(self, kind, inputs, wanted, params="", blobs=(), **tolerance):
        """Compares the first top with values."""
        inputs = [inputs] if isinstance(inputs, np.ndarray) else inputs
        got = self.run_layer(kind, inputs, params, blobs)[0]
        self.close(got, wanted, msg=f"{kind} {params}", **tolerance)

    def check_opencv(self, kind, inputs, params="", blobs=(), **tolerance):
        """Compares with OpenCV. OpenCV may add dims of size 1."""
        inputs = [inputs] if isinstance(inputs, np.ndarray) else inputs
        net, feeds = Net(), {}
        for i, array in enumerate(inputs):
            feeds[net.input(f"x{i}", array.shape)] = array
        net.layer(kind, list(feeds), "y", params, blobs)
        with tempfile.TemporaryDirectory() as folder:
            text, model = net.write(folder)
            got = run_model(text, feeds)["y"]
            wanted = opencv(text, model, feeds, ["y"])["y"]
        self.assertEqual(got.size, wanted.size, f"{kind} {params}: {got.shape} and {wanted.shape}")
        self.close(got, wanted.reshape(got.shape), msg=f"{kind} {params}", **tolerance)
