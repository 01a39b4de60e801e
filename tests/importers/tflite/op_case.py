"""The base class of tests that compare one operator with LiteRT's reference kernels."""

import pathlib
import tempfile
import unittest

import numpy as np
from lite import interpreter, names_of, run_lite
from run_model import run_model
from writer import Operator, single


class OpCase(unittest.TestCase):
    """Subclasses call `check`. `steps` is the largest difference of quantized results."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.count = 0

    def path(self, content):
        self.count += 1
        path = pathlib.Path(self.folder.name, f"m{self.count}.tflite")
        path.write_bytes(content)
        return path

    def check(self, code, inputs, outputs, opts=None, steps=1, rtol=1e-3, atol=1e-5, seed=0, custom=None, intermediates=(), feeds=None,
              reference=True, version=1):
        op = Operator(code, inputs, outputs, opts, custom, intermediates, version)
        model = self.path(single(op))
        rng = np.random.default_rng(seed)
        fed = []
        for t in inputs:
            if t is not None and t.data is None and not t.variable and t not in fed:
                fed.append(t)
        arrays = feeds or [t.random(rng) for t in fed]
        self.compare(model, arrays, outputs, steps, rtol, atol, reference=reference)

    def compare(self, model, arrays, outputs=None, steps=1, rtol=1e-3, atol=1e-5, args=(), reference=True):
        lite = interpreter(model, reference)
        wanted = run_lite(lite, arrays)
        inputs, names = names_of(lite)
        got = run_model(model, dict(zip(inputs, arrays)), *args)
        quantized = [o.q is not None for o in outputs] if outputs else [True] * len(wanted)
        for name, want, q in zip(names, wanted, quantized):
            self.same(name, got[name], want, steps if q else 0, rtol, atol)

    def same(self, name, got, want, steps, rtol, atol):
        self.assertEqual(got.shape, want.shape, name)
        self.assertEqual(got.dtype, want.dtype, name)
        if want.dtype.kind in "fc":
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=name)
        elif want.dtype.kind in "iu" and steps:
            np.testing.assert_array_less(np.abs(got.astype(np.int64) - want.astype(np.int64)), steps + 1, err_msg=name)
        else:
            np.testing.assert_array_equal(got, want, err_msg=name)
