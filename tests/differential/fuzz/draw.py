"""The source of randomness a generator draws from; the same operator and seed give the same case."""

import numpy as np
from onnx import helper

from . import fill, kernels, values
from .case import Case, Check, Const, Fed
from .registry import ML


BIG_EVERY = 8  # one case in so many has an axis long enough for vectorized and tiled kernels


class Draw:
    def __init__(self, op, seed):
        self.op = op
        self.seed = seed
        self.rng = np.random.default_rng([op.salt, seed])
        self.big = seed % BIG_EVERY == BIG_EVERY - 1
        self._draw_version()

    def _draw_version(self):
        """Picks one definition of the operator, the newest most often, and an opset that uses it."""
        in_onnx = self.op.domain == ""
        last = self.op.last if in_onnx else 99
        starts = [v for v in self.op.since if v <= last]
        if in_onnx:  # definitions that no opset supported by onnxruntime uses
            starts = [v for v, after in zip(starts, [*starts[1:], 99]) if after > kernels.MIN_OPSET]
        index = len(starts) - 1 if self.chance(0.4) else self.int(0, len(starts) - 1)
        self.since = starts[index]
        end = starts[index + 1] - 1 if index + 1 < len(starts) else last
        self.domain_version = self.since
        self.opset = self.int(13, kernels.MAX_OPSET)
        if in_onnx:
            low = min(max(self.since, kernels.MIN_OPSET), end)
            self.opset = low if self.chance(0.5) else self.int(low, max(low, min(end, kernels.MAX_OPSET)))

    # Plain choices.

    def chance(self, p):
        return bool(self.rng.random() < p)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def uniform(self, low, high):
        """A float that survives the trip through a 32-bit attribute unchanged."""
        return float(np.float32(self.rng.uniform(low, high)))

    def choice(self, options):
        return options[self.int(0, len(options) - 1)]

    def maybe(self, value, p=0.5):
        """The value, or None for leaving it out."""
        return value if self.chance(p) else None

    def permutation(self, n):
        return [int(i) for i in self.rng.permutation(n)]

    def subset(self, options, at_least=0):
        """Some of the options, in order."""
        size = self.int(at_least, len(options))
        picked = sorted(self.rng.permutation(len(options))[:size])
        return [options[i] for i in picked]

    # Shapes.

    def dim(self, high=7, zero=0.0):
        return 0 if self.chance(zero) else self.int(1, high)

    def size(self, high):
        """1..high, or several times that in a big case."""
        return self.int(1, high * 6 if self.big else high)

    def shape(self, low=0, high=4, dim=6, zero=0.03):
        """A shape of rank low..high; now and then one of its dimensions is 0. A big case has one long dimension."""
        shape = [self.int(1, dim) for _ in range(self.int(low, high))]
        if shape and self.big:
            shape[self.int(0, len(shape) - 1)] = self.int(16, 70)
        if shape and self.chance(zero):
            shape[self.int(0, len(shape) - 1)] = 0
        return shape

    def axis(self, rank):
        """An axis in -rank..rank-1."""
        return self.int(-rank, rank - 1)

    def sign_axis(self, axis, rank):
        """The same axis, perhaps counted from the end."""
        return axis - rank if self.chance(0.4) else axis

    def axes(self, rank, at_least=0):
        """Distinct axes in any order, some of them negative."""
        picked = self.permutation(rank)[: self.int(min(at_least, rank), rank)]
        return [self.sign_axis(a, rank) for a in picked]

    def broadcast(self, count, shape=None, low=0, high=4):
        """`count` shapes that broadcast together, each with dimensions dropped or set to 1."""
        full = self.shape(low, high) if shape is None else list(shape)
        shapes = [self._shrink(full) for _ in range(count)]
        shapes[self.int(0, count - 1)] = full
        return shapes

    def _shrink(self, full):
        if self.chance(0.35):
            return list(full)
        start = self.int(0, len(full))
        return [1 if self.chance(0.3) else d for d in full[start:]]

    # Types and tensors.

    def types(self, param="T", only=None, without=()):
        found = kernels.types(self.op.domain, self.op.name, self._type_opset(), param)
        return [t for t in found if t in values.NUMPY and t not in without and (only is None or t in only)]

    def dtype(self, param="T", only=None, without=(), prefer="float"):
        """One of the types the operator takes at this opset; `prefer` comes up more often."""
        found = self.types(param, only, without)
        if not found:
            return prefer
        return prefer if prefer in found and self.chance(0.35) else self.choice(found)

    def combo(self):
        """The combination of types of one kernel, for operators that support only some combinations."""
        return self.choice(kernels.combos(self.op.domain, self.op.name, self._type_opset()))

    def _type_opset(self):
        return self.opset if self.op.domain == "" else self.domain_version

    def tensor(self, dtype, shape, **how):
        """Random contents; see fill.py for low, high, spread, special and wide."""
        return fill.tensor(self, dtype, shape, **how)

    def scalar(self, dtype, value):
        return np.array(value, dtype=values.NUMPY[dtype])

    def ints(self, data, dtype="int64"):
        return np.array(data, dtype=values.NUMPY[dtype])

    # Cases.

    def case(self, inputs, attrs=None, outputs=1, const=0.25, nodes=None, attr_protos=(), **check):
        """A case of one node. `outputs` is a count, or a list with None for an output left out."""
        names, fed, constants = self._place(inputs, const)
        wanted = list(range(outputs)) if isinstance(outputs, int) else outputs
        out_names = ["" if o is None else self._name("y", i) for i, o in enumerate(wanted)]
        attrs = {k: v for k, v in (attrs or {}).items() if v is not None}
        node = helper.make_node(self.op.name, _trim(names), _trim(out_names), domain=self.op.domain, **attrs)
        node.attribute.extend(attr_protos)
        args = [_unwrap(v) for v in inputs]
        return self.graph([node], fed, constants, [n for n in out_names if n], args, attrs, **check)

    def graph(self, nodes, fed, constants, outputs, args=(), attrs=None, functions=(), **check):
        """A case of several nodes; values are named by the caller."""
        dims = {n: self._declared_dims(v) for n, v in fed.items() if isinstance(v, np.ndarray)}
        return Case(self.op, self.seed, self.opset, nodes, fed, constants, outputs, Check(**check),
                    list(args), attrs or {}, {n: d for n, d in dims.items() if d is not None},
                    self.domain_version, functions=list(functions))

    def _name(self, stem, index):
        return f"{stem}{index}"

    def _place(self, inputs, const):
        """Names the inputs and decides which are fed and which are initializers."""
        names, fed, constants = [], {}, {}
        odd = self.chance(0.05)  # names as frameworks write them
        for i, value in enumerate(inputs):
            name = "" if value is None else (f"in/{i}:0" if odd else f"x{i}")
            names.append(name)
            if value is None:
                continue
            bare = _unwrap(value)
            tensor = isinstance(bare, np.ndarray)
            constant = isinstance(value, Const) or (
                not isinstance(value, Fed) and tensor and self.chance(const))
            (constants if constant else fed)[name] = bare
        return names, fed, constants

    def _declared_dims(self, array):
        """The shape a model states for an input: the true one, or one with some dimensions unknown."""
        if self.chance(0.7) or not array.shape:
            return None
        return [f"d{self.int(0, 9)}_{i}" if self.chance(0.6) else d for i, d in enumerate(array.shape)]


def _unwrap(value):
    value = value.value if isinstance(value, (Const, Fed)) else value
    return np.asarray(value) if isinstance(value, np.generic) else value  # numpy turns 0-d arrays into scalars


def _trim(names):
    """Trailing omitted names are simply not written."""
    names = list(names)
    while names and not names[-1]:
        names.pop()
    return names


def draw_case(op, seed):
    case = op.generate(Draw(op, seed))
    if op.domain == ML:
        assert case.domain_version in op.since
    return case
