"""Compares the TensorFlow models of the zoo (TERN_ZOO) with TensorFlow."""

import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import run_model  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

ZOO = os.environ.get("TERN_ZOO", "")
MODELS = pathlib.Path(ZOO, "models/tensorflow")


@unittest.skipUnless(ZOO and MODELS.is_dir(), "TERN_ZOO is not set")
class Zoo(unittest.TestCase):
    def frozen(self, name, feed, outputs):
        graph = tf.Graph()
        with graph.as_default():
            definition = tf.compat.v1.GraphDef()
            definition.ParseFromString((MODELS / name).read_bytes())
            tf.import_graph_def(definition, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            wanted = session.run([f"{o}:0" for o in outputs], {f"{k}:0": v for k, v in feed.items()})
        got = run_model(MODELS / name, feed)
        for output, array in zip(outputs, wanted):
            np.testing.assert_allclose(got[output], array, rtol=1e-3, atol=1e-4)

    def saved(self, name, feed, signature="serving_default"):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            meta = tf.compat.v1.saved_model.load(session, ["serve"], str(MODELS / name))
            ports = meta.signature_def[signature]
            wanted = session.run({k: o.name for k, o in ports.outputs.items()}, {ports.inputs[k].name: v for k, v in feed.items()})
        got = run_model(MODELS / name, feed)
        self.assertEqual(sorted(got), sorted(wanted))
        for output, array in wanted.items():
            np.testing.assert_allclose(got[output], array, rtol=1e-3, atol=1e-4)

    def test_espcn(self):
        self.frozen("ESPCN_x2.pb", {"IteratorGetNext": np.random.default_rng(1).random((1, 24, 30, 1), np.float32)}, ["NCHW_output"])

    def test_fsrcnn(self):
        self.frozen("FSRCNN_x2.pb", {"IteratorGetNext": np.random.default_rng(1).random((2, 24, 30, 1), np.float32)}, ["NCHW_output"])

    def test_hey_snips(self):
        self.frozen("hey_snips_3.pb", {"inputs": np.random.default_rng(1).random((200, 40), np.float32)}, ["logits"])

    def test_keyword_spotting(self):
        self.saved("mlperf_kws_saved_model", {"input_1": np.random.default_rng(1).random((3, 49, 10, 1), np.float32)})

    def test_half_plus_two(self):
        x = {"x": np.array([[1.0], [2.5], [-4.0]], np.float32)}
        self.saved("saved_model_half_plus_two_cpu/00000123", x)
        self.saved("saved_model_half_plus_two_tf2_cpu/00000123", {"x": np.array([2.5], np.float32)})
