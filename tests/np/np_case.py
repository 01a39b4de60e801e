"""The base of the comparisons with numpy: makes random arrays, and compares results."""

import random
import unittest

import numpy as np
from probe import NpError, Probe

TYPES = (np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_)


class Case(unittest.TestCase):
    seed = 0

    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()
        cls.random = random.Random(cls.seed)
        cls.numpy = np.random.default_rng(cls.seed)

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def shape(self, most=4, least=0):
        return tuple(self.random.choice((0, 1, 1, 2, 3, 5, 17) if self.random.random() < 0.3 else (1, 2, 3, 4))
                     for _ in range(self.random.randint(least, most)))

    def array(self, shape=None, dtype=None, special=True):
        dtype = np.dtype(dtype or self.random.choice(TYPES))
        shape = self.shape() if shape is None else shape
        if dtype.kind == "b":
            return self.numpy.integers(0, 2, shape).astype(dtype)
        if dtype.kind == "u":
            return self.numpy.integers(0, 256, shape).astype(dtype)
        if dtype.kind == "i":
            return self.numpy.integers(-50, 50, shape).astype(dtype)
        x = self.numpy.standard_normal(shape) * self.random.choice((1, 1, 10))
        if special and self.random.random() < 0.3 and x.size:
            x = np.where(self.numpy.random(shape) < 0.2, self.numpy.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape), x)
        return np.asarray(x, dtype)

    def partner(self, shape):
        """A shape that broadcasts with `shape`."""
        other = [1 if self.random.random() < 0.3 else dim for dim in shape]
        return tuple(other[self.random.randint(0, len(other)):] if self.random.random() < 0.3 else other)

    def check(self, wanted, name, *arguments, exact=False, types=True, tolerance=None):
        """`wanted` computes numpy's result. Where numpy raises, tern must fail too."""
        what = f"{name} {[(str(a.dtype), a.shape) if isinstance(a, np.ndarray | np.generic) else a for a in arguments]}"
        with self.subTest(what):
            self.compare(wanted, name, arguments, what, exact, types, tolerance)

    def compare(self, wanted, name, arguments, what, exact, types, tolerance):
        try:
            expected = wanted()
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError, np.exceptions.AxisError, OverflowError) as error:
            with self.assertRaises(NpError, msg=f"{what}: numpy raises {error}"):
                self.probe(name, *arguments)
            return
        try:
            got = self.probe(name, *arguments)
        except NpError as error:
            self.fail(f"{what}: {error}; numpy gives {expected}")
        got, expected = (x if isinstance(x, list) else [x] for x in (got, list(expected) if isinstance(expected, (tuple, list)) else expected))
        self.assertEqual(len(got), len(expected), what)
        for g, e in zip(got, map(np.asarray, expected)):
            self.assertEqual(g.shape, e.shape, what)
            if types:
                self.assertEqual(g.dtype, self.known(e.dtype), what)
            limit = 0 if exact or g.dtype.kind in "iub" else tolerance or (3e-5 if g.dtype == np.float32 else 1e-11)
            scale = max(1, np.abs(e[np.isfinite(e)]).max(initial=0)) if e.dtype.kind == "f" and tolerance else 1
            np.testing.assert_allclose(g, e.astype(g.dtype), rtol=limit, atol=limit * scale, err_msg=what)

    @staticmethod
    def wide(function, *operands):
        """Calls numpy's function. What it would give as float16 is computed in float32."""
        if np.asarray(function(*operands)).dtype != np.float16:
            return function(*operands)
        return function(*(x.astype(np.float32) if isinstance(x, np.ndarray) else x for x in operands))

    @staticmethod
    def known(dtype):
        """The types that numpy has and np has not: float16 becomes f32, unsigned sums become i64."""
        return {"float16": np.dtype(np.float32), "uint64": np.dtype(np.int64), "int8": np.dtype(np.int32)}.get(dtype.name, dtype)
