"""Runs single operators of tf.raw_ops in TensorFlow and in Tern, and compares the results.

A table maps the name of an operator to its cases. A case is a dict of arguments: `X(array)` is an input of the graph, `C(array)` a
constant, everything else an attribute. Each case runs twice: with known dims and with open dims. Further keys start with `_`:
_outs lists the outputs to compare, _rtol and _atol are tolerances, _static leaves out the run with open dims.
"""

import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import run_model  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
rng = np.random.default_rng(7)


class X:
    """An input of the graph."""

    def __init__(self, array):
        self.array = np.asarray(array)


class C(X):
    """A constant of the graph."""


def f(*dims, low=-1.0, high=1.0, dtype=np.float32):
    return rng.uniform(low, high, dims).astype(dtype)


def i(*dims, low=-5, high=6, dtype=np.int32):
    return rng.integers(low, high, dims).astype(dtype)


def b(*dims):
    return rng.integers(0, 2, dims).astype(bool)


def flatten(result):
    if isinstance(result, tf.Operation):
        return []
    return [result] if isinstance(result, tf.Tensor) else list(result)


def parts(array):
    """Tern holds complex numbers as a last axis of 2."""
    return np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array


def save(graph, strip):
    definition = graph.as_graph_def()
    if strip:
        from tensorflow.python.framework import meta_graph, op_def_library  # noqa: F401
        from tensorflow.python.framework import op_def_registry

        for node in definition.node:
            op = op_def_registry.get(node.op)
            for attr in op.attr:
                if attr.HasField("default_value") and node.attr[attr.name] == attr.default_value:
                    del node.attr[attr.name]
    return definition.SerializeToString()


class OpTest(unittest.TestCase):
    def run_case(self, op, case, dynamic):
        args = {k: v for k, v in case.items() if not k.startswith("_")}
        feeds = {}

        def node(name, value):
            if isinstance(value, C):
                return tf.constant(value.array)
            if isinstance(value, X):
                shape = [None] * value.array.ndim if dynamic else value.array.shape
                dtype = tf.string if value.array.dtype.kind in "SUO" else tf.as_dtype(value.array.dtype)
                feeds[name] = value.array
                return v1.placeholder(dtype, shape, name)
            if isinstance(value, (list, tuple)) and value and any(isinstance(v, X) for v in value):
                return [node(f"{name}_{k}", v) for k, v in enumerate(value)]
            return value

        graph = tf.Graph()
        with graph.as_default():
            function = case.get("_call") or getattr(tf.raw_ops, op)
            outputs = flatten(function(**{k: node(k, v) for k, v in args.items()}))
            chosen = case.get("_outs", range(len(outputs)))
            fetches = [tf.identity(outputs[k], name=f"out{k}") for k in chosen]
        with v1.Session(graph=graph) as session:
            wanted = session.run(fetches, {f"{k}:0": v for k, v in feeds.items()})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.pb")
            path.write_bytes(save(graph, strip=dynamic))
            got = run_model(path, {k: parts(v) for k, v in feeds.items()})
        for k, array in zip(chosen, wanted):
            self.compare(got[f"out{k}"], parts(np.asarray(array)), case)

    def check_saved(self, module, function, *arrays):
        """Saves a function with variables as a SavedModel and compares it."""
        specs = [tf.TensorSpec([None] * a.ndim, tf.as_dtype(a.dtype), name=f"x{k}") for k, a in enumerate(arrays)]
        traced = tf.function(function, input_signature=specs)
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, signatures=traced.get_concrete_function())
            wanted = tf.saved_model.load(folder).signatures["serving_default"](**{f"x{k}": tf.constant(a) for k, a in enumerate(arrays)})
            got = run_model(folder, {f"x{k}": parts(a) for k, a in enumerate(arrays)})
        self.assertEqual(sorted(got), sorted(wanted))
        for name, tensor in wanted.items():
            self.compare(got[name], parts(tensor.numpy()), {})

    def compare(self, got, wanted, case):
        self.assertEqual(got.shape, wanted.shape)
        if wanted.dtype.kind in "OSU":
            self.assertEqual([str(v) for v in got.ravel()], [v.decode() if isinstance(v, bytes) else str(v) for v in wanted.ravel()])
            return
        self.assertEqual(got.dtype, wanted.dtype)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(got, wanted, rtol=case.get("_rtol", 1e-4), atol=case.get("_atol", 1e-5))
        else:
            np.testing.assert_array_equal(got, wanted)


def add_tests(cls, table):
    """Adds one test per operator."""
    for op, cases in table.items():
        def test(self, op=op, cases=cases):
            for number, case in enumerate(cases):
                for dynamic in (False, True):
                    if dynamic and case.get("_static"):
                        continue
                    with self.subTest(op=op, case=number, dynamic=dynamic):
                        self.run_case(op, case, dynamic)
        setattr(cls, f"test_{op}", test)
