"""Compares tern::np with numpy on random arrays, also empty ones and scalars."""

import pathlib
import random
import sys
import unittest
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from probe import NpError, Number, Probe  # noqa: E402

TYPES = (np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_)
warnings.filterwarnings("ignore")


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


class Elementwise(Case):
    seed = 1
    BINARY = ("add", "subtract", "multiply", "divide", "floor_divide", "mod", "fmod", "maximum", "minimum", "arctan2", "hypot", "equal",
              "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and",
              "bitwise_or", "bitwise_xor")
    UNARY = ("negative", "abs", "sign", "square", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
             "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint", "isnan",
             "isinf", "isfinite", "logical_not", "bitwise_not")

    def test_binary(self):
        for _ in range(1500):
            name, a = self.random.choice(self.BINARY), self.array()
            b = self.array(self.partner(a.shape))
            self.check(lambda: self.wide(getattr(np, name), a, b), name, a, b)

    def test_numbers(self):
        for _ in range(600):
            name, a, b = self.random.choice(self.BINARY), self.array(), self.random.choice((0, 1, 2, 7, 2.5, -0.5, 300))
            first = self.random.random() < 0.3
            wanted = lambda: self.wide(getattr(np, name), *((b, a) if first else (a, b)))
            if name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal") and a.dtype == np.uint8 and b == 300:
                continue  # numpy compares numbers that the type does not hold
            self.check(wanted, name, *((Number(b), a) if first else (a, Number(b))))

    def test_unary(self):
        for _ in range(1200):
            name, a = self.random.choice(self.UNARY), self.array()
            if a.dtype == np.bool_ and name in ("floor", "ceil", "trunc", "square", "sign"):
                continue
            self.check(lambda: self.wide(getattr(np, name), a), name, a, tolerance=2e-5 if a.dtype in (np.float32, np.uint8, np.bool_) else None)

    def test_power_and_shifts(self):
        for _ in range(200):
            a, b = self.array(special=False), self.array((), special=False)
            if a.dtype.kind in "ui" and b.dtype.kind in "uib":
                b = np.abs(b).astype(b.dtype) % 7
            self.check(lambda: np.power(a, b), "power", a, b.astype(b.dtype))
            i, n = self.array(dtype=self.random.choice((np.int32, np.int64, np.uint8))), self.numpy.integers(0, 70, ()).astype(np.int32)
            self.check(lambda: np.left_shift(i, n), "left_shift", i, n)
            self.check(lambda: np.right_shift(i, n), "right_shift", i, n)

    def test_large(self):
        for name in ("add", "multiply", "maximum", "less"):
            for shape, other in (((1000, 300), (300,)), ((200, 1, 77), (1, 50, 77)), ((1 << 18,), (1 << 18,))):
                for dtype in (np.float32, np.int64):
                    a, b = self.array(shape, dtype), self.array(other, dtype)
                    self.check(lambda: getattr(np, name)(a, b), name, a, b)

    def test_where_clip_round(self):
        for _ in range(300):
            a = self.array()
            b, c = self.array(self.partner(a.shape)), self.array(self.partner(a.shape))
            self.check(lambda: np.where(c, a, b), "where", c, a, b)
            low, high = sorted(map(float, self.numpy.standard_normal(2)))
            f = self.array(dtype=self.random.choice((np.float32, np.float64)))
            self.check(lambda: np.clip(f, low, high), "clip", f, Number(low), Number(high))
            d = self.random.choice((0, 1, 2, 3, -1))
            if a.dtype.kind in "f" or (a.dtype.kind == "i" and d >= -1):
                self.check(lambda: np.round(a, d), "round", a, d, tolerance=1e-6)
            self.check(lambda: np.isclose(a, b), "isclose", a, b)
            target = self.random.choice((1, 2, 13, 14, 23))
            if a.dtype.kind != "f" or np.isfinite(a).all():
                from probe import CODES
                self.check(lambda: a.astype(CODES[target]), "astype", a, target)


class Reductions(Case):
    seed = 2

    def axes(self, rank):
        kind = self.random.random()
        if kind < 0.3 or rank == 0:
            return None
        picked = self.random.sample(range(-rank, 0) if self.random.random() < 0.3 else range(rank), self.random.randint(1, rank))
        return tuple(picked) if len(picked) > 1 else picked[0]

    def word(self, axes):
        return axes if axes is None or isinstance(axes, int) else tuple(axes)

    def test_reductions(self):
        for _ in range(1200):
            name, a = self.random.choice(("sum", "prod", "mean", "min", "max", "any", "all", "var", "std", "count_nonzero")), self.array()
            axes, keep = self.axes(a.ndim), self.random.random() < 0.5
            if name == "prod" and a.dtype.kind == "f":
                a = np.clip(np.nan_to_num(a), -2, 2)
            extra, ddof = ((), {}) if name not in ("var", "std") else ((1,), {"ddof": 1}) if self.random.random() < 0.3 else ((0,), {})
            self.check(lambda: getattr(np, name)(a, axis=axes, keepdims=keep, **ddof), name, a, self.word(axes), keep, *extra,
                       tolerance=1e-4 if a.dtype == np.float32 else 1e-10)

    def test_arg_and_cumulative(self):
        for _ in range(800):
            name, a = self.random.choice(("argmin", "argmax", "cumsum", "cumprod", "median", "sort", "argsort")), self.array()
            axis = self.random.choice((None, *range(-a.ndim, a.ndim)))
            keep = self.random.random() < 0.5
            if name == "cumprod" and a.dtype.kind == "f":
                a = np.clip(np.nan_to_num(a), -2, 2)
            if name in ("argmin", "argmax"):
                self.check(lambda: getattr(np, name)(a, axis=axis, keepdims=keep), name, a, axis, keep)
            elif name == "median":
                if a.size:
                    self.check(lambda: np.median(a, axis=axis, keepdims=keep), name, a, axis, keep, tolerance=1e-6)
            elif name == "argsort":
                self.check(lambda: np.argsort(a, axis=axis, kind="stable"), name, a, axis)
            elif name == "sort":
                self.check(lambda: np.sort(a, axis=axis), name, a, axis)
            else:
                self.check(lambda: getattr(np, name)(a, axis=axis), name, a, axis, tolerance=1e-4 if a.dtype == np.float32 else 1e-10)

    def test_long_sorts(self):
        for dtype in TYPES:
            for shape in ((5000,), (3, 1500)):
                a = self.array(shape, dtype)
                if dtype in (np.float32, np.float64):
                    a[..., ::7], a[..., 1::50], a[..., 2::60] = a[..., :1], 0.0, -0.0
                    a[..., 3::90], a[..., 4::91] = np.nan, -np.inf
                self.check(lambda: np.sort(a), "sort", a, -1)
                self.check(lambda: np.argsort(a, kind="stable"), "argsort", a, -1)
                self.check(lambda: tuple(np.unique(a, True, True, True)), "unique_all", a)
        wide = self.numpy.integers(-2 ** 63, 2 ** 63 - 1, 3000)
        self.check(lambda: np.sort(wide), "sort", wide, -1)
        self.check(lambda: np.argsort(wide, kind="stable"), "argsort", wide, -1)

    def test_norm_and_diff(self):
        for _ in range(200):
            a = self.array(self.shape(3, 1), special=False)
            axis = self.random.choice(range(-a.ndim, a.ndim))
            for order in (1, 2, 3, 0, np.inf):
                x = a.astype(np.float64 if a.dtype != np.float32 else np.float32)
                self.check(lambda: np.linalg.norm(x, order, axis), "norm", x, order, axis, False, tolerance=1e-5)
            self.check(lambda: np.diff(a, 1, axis), "diff", a, 1, axis)

    def test_large(self):
        for dtype in TYPES:
            x = self.array((300, 70, 11), dtype, special=False)
            for axes in (None, 0, 1, 2, (0, 2), (1, 2)):
                self.check(lambda: np.sum(x, axis=axes), "sum", x, axes, False, tolerance=1e-4)
                self.check(lambda: np.max(x, axis=axes), "max", x, axes, False)


class Shapes(Case):
    seed = 3

    def test_reshape_and_transpose(self):
        for _ in range(500):
            a = self.array()
            dims = list(self.shape(3)) if self.random.random() < 0.4 else list(self.numpy.permutation(a.shape))
            if dims and self.random.random() < 0.5:
                dims[self.random.randrange(len(dims))] = -1
            self.check(lambda: np.reshape(a, dims), "reshape", a, tuple(map(int, dims)))
            order = tuple(map(int, self.numpy.permutation(a.ndim)))
            if a.ndim:
                self.check(lambda: np.transpose(a, order), "transpose", a, order)
            self.check(lambda: np.transpose(a), "transpose", a, ())
            first, second = self.random.randint(-4, 3), self.random.randint(-4, 3)
            self.check(lambda: np.swapaxes(a, first, second), "swapaxes", a, first, second)
            self.check(lambda: np.moveaxis(a, first, second), "moveaxis", a, first, second)
            self.check(lambda: np.expand_dims(a, first), "expand_dims", a, first)
            self.check(lambda: np.squeeze(a), "squeeze", a, None)
            if a.ndim:
                self.check(lambda: np.squeeze(a, first), "squeeze", a, first)
            wide = (2, *(3 if dim == 1 else dim for dim in a.shape))
            self.check(lambda: np.broadcast_to(a, wide), "broadcast_to", a, wide)

    def test_join_and_split(self):
        for _ in range(400):
            a = self.array(self.shape(3, 1))
            axis = self.random.randint(-a.ndim, a.ndim - 1)
            other = list(a.shape)
            other[axis] = self.random.choice((0, 1, 2, 4))
            b = self.array(tuple(other))
            self.check(lambda: np.concatenate([a, b], axis), "concatenate", axis, a, b)
            c = self.array(a.shape)
            self.check(lambda: np.stack([a, c], axis), "stack", axis, a, c)
            self.check(lambda: np.vstack([a, c]), "vstack", a, c)
            self.check(lambda: np.hstack([a, c]), "hstack", a, c)
            self.check(lambda: np.split(a, 2, axis), "split", a, 2, axis)
            cuts = sorted(self.random.choices(range(6), k=2))
            self.check(lambda: np.split(a, cuts, axis), "split_at", a, cuts, axis)

    def test_repeat(self):
        for _ in range(400):
            a = self.array(self.shape(3))
            axis = self.random.choice((None, *range(-a.ndim, a.ndim)))
            count = self.random.randint(-5, 7)
            self.check(lambda: np.flip(a, axis), "flip", a, axis)
            self.check(lambda: np.roll(a, count, axis), "roll", a, count, axis)
            self.check(lambda: np.repeat(a, abs(count), axis), "repeat", a, abs(count), axis)
            times = tuple(self.random.choices(range(4), k=self.random.randint(1, 4)))
            self.check(lambda: np.tile(a, times), "tile", a, times)
            if a.ndim:
                widths = [(self.random.randint(0, 4), self.random.randint(0, 4)) for _ in range(a.ndim)]
                flat = tuple(n for pair in widths for n in pair)
                mode = self.random.choice(("constant", "edge", "reflect", "symmetric", "wrap"))
                if mode == "constant":
                    self.check(lambda: np.pad(a, widths, constant_values=1), "pad", a, flat, mode, Number(1))
                elif a.size and min(a.shape) > (1 if mode == "reflect" else 0):
                    self.check(lambda: np.pad(a, widths, mode), "pad", a, flat, mode, Number(0))

    def test_creation(self):
        for _ in range(150):
            start, stop, step = self.random.randint(-9, 9), self.random.randint(-9, 9), self.random.choice((-3, -1, 1, 2))
            self.check(lambda: np.arange(start, stop, step), "arange", start, stop, step)
            a, b, c = (round(self.random.uniform(-5, 5), 2) for _ in range(3))
            if c:
                self.check(lambda: np.arange(a, b, c), "arange_float", a, b, c)
            self.check(lambda: np.linspace(a, b, abs(start), stop > 0), "linspace", a, b, abs(start), stop > 0)
            self.check(lambda: np.eye(abs(start), abs(stop), step), "eye", abs(start), abs(stop), step)
            x = self.array(self.shape(2, 1))
            self.check(lambda: np.diag(x, step), "diag", x, step)
            y = self.array(self.shape(3, 2))
            self.check(lambda: np.tril(y, step), "tril", y, step)
            self.check(lambda: np.triu(y, step), "triu", y, step)
            self.check(lambda: np.trace(y), "trace", y, tolerance=1e-5)
            shape = self.shape()
            self.check(lambda: np.zeros(shape), "zeros", shape)
            self.check(lambda: np.full(shape, 3), "full", shape, Number(3))
            v, w = self.array((3,)), self.array((2,))
            self.check(lambda: np.meshgrid(v, w), "meshgrid", v, w)


class Indexing(Case):
    seed = 4

    def part(self, length):
        kind = self.random.random()
        if kind < 0.3:
            i = self.random.randint(-length - 1, length)
            return i, str(i)
        bounds = [None if self.random.random() < 0.4 else self.random.randint(-length - 2, length + 2) for _ in range(2)]
        step = self.random.choice((1, 1, 2, -1, -2, 5))
        return slice(*bounds, step), ":".join("none" if b is None else str(b) for b in (*bounds, step))

    def test_basic(self):
        for _ in range(1200):
            a = self.array(self.shape(4, 0))
            parts = [self.part(length) for length in a.shape[:self.random.randint(0, a.ndim)]]
            if self.random.random() < 0.2:
                parts.insert(self.random.randint(0, len(parts)), (None, "new"))
            if self.random.random() < 0.2:
                parts.insert(self.random.randint(0, len(parts)), (Ellipsis, "dots"))
            index = tuple(part for part, _ in parts)
            self.check(lambda: a[index], "get", a, *(word for _, word in parts))

    def test_arrays(self):
        for _ in range(500):
            a = self.array(self.shape(3, 1))
            mask = self.array(a.shape[:self.random.randint(1, a.ndim)], np.bool_)
            self.check(lambda: a[mask], "index", a, mask)
            axis = self.random.randint(-a.ndim, a.ndim - 1)
            n = a.shape[axis]
            index = self.numpy.integers(-n - (self.random.random() < 0.05), max(n, 1), self.shape(2)).astype(self.random.choice((np.int32, np.int64)))
            if a.size:
                self.check(lambda: np.take(a, index, axis), "take", a, index, axis)
            if a.shape[0]:
                first = self.numpy.integers(0, a.shape[0], self.shape(2))
                self.check(lambda: a[first], "index", a, first)
            if a.size:
                flat = self.numpy.integers(0, a.size, self.shape(2))
                self.check(lambda: np.take(a, flat), "take", a, flat, None)
                order = np.argsort(a, axis=axis, kind="stable")
                self.check(lambda: np.take_along_axis(a, order, axis), "take_along_axis", a, order, axis)
            self.check(lambda: np.nonzero(a), "nonzero", a)
            self.check(lambda: np.argwhere(a), "argwhere", a)
            self.check(lambda: np.flatnonzero(a), "flatnonzero", a)

    def test_order(self):
        for _ in range(300):
            a = self.array(special=self.random.random() < 0.5)
            a = np.where(self.numpy.random(a.shape) < 0.5, a.flat[0], a).astype(a.dtype) if a.size else a
            self.check(lambda: np.unique(a), "unique", a)
            self.check(lambda: tuple(np.unique(a, True, True, True)), "unique_all", a)
            x, v = np.sort(self.array((7,), special=False)), self.array(special=False)
            self.check(lambda: np.searchsorted(x, v), "searchsorted", x, v, False)
            self.check(lambda: np.searchsorted(x, v, "right"), "searchsorted", x, v, True)
            i = self.numpy.integers(0, 9, 12)
            self.check(lambda: np.bincount(i, minlength=4), "bincount", i, 4)


class Algebra(Case):
    seed = 5

    def numbers(self, shape, dtype=None):
        return self.array(shape, dtype or self.random.choice(TYPES), special=False)

    def test_products(self):
        for _ in range(600):
            m, k, n = self.random.choices((0, 1, 2, 3, 7, 40), k=3)
            batch = self.shape(2)
            a, b = self.numbers((*batch, m, k)), self.numbers((*self.partner(batch), k, n))
            self.check(lambda: np.matmul(a, b), "matmul", a, b, tolerance=1e-5)
            x, y = self.numbers((k,)), self.numbers((k,))
            self.check(lambda: np.matmul(x, y), "matmul", x, y, tolerance=1e-5)
            self.check(lambda: np.matmul(a, x), "matmul", a, x, tolerance=1e-5)
            self.check(lambda: np.matmul(x, b), "matmul", x, b, tolerance=1e-5)
            self.check(lambda: np.dot(a, b), "dot", a, b, tolerance=1e-5)
            self.check(lambda: np.outer(x, y), "outer", x, y)
            wrong = self.numbers((k + 1,))
            self.check(lambda: np.matmul(a, wrong), "matmul", a, wrong)
            axes = self.random.randint(0, 2)
            c, d = self.numbers((2, 3, 4)), self.numbers((3, 4, 5) if axes == 2 else (4, 3))
            self.check(lambda: np.tensordot(c, d, axes), "tensordot", c, d, axes, tolerance=1e-5)

    def test_einsum(self):
        lengths = dict(zip("ijklm", (2, 3, 4, 5, 1)))
        fixed = ["ij,jk->ik", "ij,jk", "ii->i", "ii", "ij->ji", "ij->", "i,j->ij", "ij,ij->", "bij,bjk->bik", "...ij,...jk->...ik", "ij,jk,kl->il",
                 "iji->ij", "ij,kj->ik", "i,i->i", "ijk,ikl,i->jl", "...i->...", "a...,b...->ab...", "ij,j", "ba", "ijj,k->ki"]
        for subscripts in fixed:
            inputs = subscripts.split("->")[0].split(",")
            shapes = [(2, 3, *(lengths.get(c, 3) for c in s.replace("...", ""))) if "..." in s and s.startswith("...") else
                      (*(lengths.get(c, 3) for c in s.replace("...", "")), 2, 3) if "..." in s else tuple(lengths.get(c, 3) for c in s) for s in inputs]
            arrays = [self.numbers(shape, np.float64) for shape in shapes]
            with self.subTest(subscripts=subscripts):
                self.check(lambda: np.einsum(subscripts, *arrays), "einsum", subscripts, *arrays)
        for _ in range(300):
            inputs = ["".join(self.random.choices("ijklm", k=self.random.randint(0, 3))) for _ in range(self.random.randint(1, 3))]
            names = sorted(set("".join(inputs)))
            output = "".join(self.random.sample(names, self.random.randint(0, len(names))))
            subscripts = ",".join(inputs) + "->" + output
            arrays = [self.numbers(tuple(lengths[c] for c in s), np.float64) for s in inputs]
            self.check(lambda: np.einsum(subscripts, *arrays), "einsum", subscripts, *arrays, tolerance=1e-10)

    def test_linear(self):
        for i in range(150):
            n, m = self.random.choices((0, 1, 2, 3, 8, 30), k=2)
            batch, dtype = self.random.choice(((), (), (2,), (2, 3))), self.random.choice((np.float32, np.float64))
            limit = 2e-3 if dtype == np.float32 else 1e-8
            a = (self.numbers((*batch, n, n), np.float64) + 4 * np.eye(n)).astype(dtype)
            b, v, r = (self.numbers(shape, dtype) for shape in ((*batch, n, m), (n,), (*batch, n, m)))
            self.check(lambda: np.linalg.solve(a, b), "solve", a, b, tolerance=limit)
            self.check(lambda: np.linalg.solve(a, v), "solve", a, v, tolerance=limit)
            self.check(lambda: np.linalg.inv(a), "inv", a, tolerance=limit)
            self.check(lambda: np.linalg.det(a), "det", a, tolerance=limit)
            spd = (np.swapaxes(a, -1, -2) @ a + np.eye(n)).astype(dtype)
            self.check(lambda: np.linalg.cholesky(spd), "cholesky", spd, tolerance=limit)
            self.check(lambda: tuple(np.linalg.qr(r)), "qr", r, tolerance=limit)
            if n:
                values, vectors = self.probe("eigh", spd)
                np.testing.assert_allclose(values, np.linalg.eigh(spd)[0], rtol=limit, atol=limit)
                np.testing.assert_allclose(vectors * values[..., None, :] @ np.swapaxes(vectors, -1, -2), spd, rtol=limit, atol=limit * 100)
            if n and m:
                u, s, vh = self.probe("svd", r)
                np.testing.assert_allclose(s, np.linalg.svd(r)[1], rtol=limit, atol=limit)
                np.testing.assert_allclose(u * s[..., None, :] @ vh, r, rtol=limit, atol=limit)
                k = min(n, m)
                np.testing.assert_allclose(np.swapaxes(u, -1, -2) @ u, np.broadcast_to(np.eye(k), (*batch, k, k)), atol=limit)
        singular = np.ones((3, 3))
        self.check(lambda: np.linalg.inv(singular), "inv", singular)
        self.check(lambda: np.linalg.cholesky(-singular), "cholesky", -singular)
        u, s, vh = self.probe("svd", np.outer([1.0, 2, 3], [4.0, 5]))  # rank 1
        np.testing.assert_allclose(u.T @ u, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(s[1], 0, atol=1e-12)

    def test_random(self):
        uniform, normal, integers, permutation = self.probe("random", 7)
        again = self.probe("random", 7)
        for first, second in zip((uniform, normal, integers, permutation), again):
            np.testing.assert_array_equal(first, second)
        self.assertFalse(np.array_equal(uniform, self.probe("random", 8)[0]))
        self.assertTrue(0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.03)
        self.assertTrue(abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1)
        self.assertEqual(sorted(set(integers)), list(range(-3, 4)))
        self.assertEqual(sorted(permutation), list(range(100)))

    def test_xoshiro(self):
        """The documented generator, in Python."""
        mask, state, words = (1 << 64) - 1, 7, []
        for _ in range(4):
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
            words.append(z ^ z >> 31)
        rotate = lambda x, n: (x << n | x >> (64 - n)) & mask
        first = (rotate((words[0] + words[3]) & mask, 23) + words[0]) & mask
        self.assertEqual(self.probe("random", 7)[0][0], (first >> 11) * 2.0 ** -53)


if __name__ == "__main__":
    unittest.main()
