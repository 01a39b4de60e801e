"""Random numbers, shapes, types and tensors for the generators. The same operator and seed yield the same case."""

import numpy as np
from onnx import helper

from . import fill, kernels, values
from .case import Case, Check, Const, Fed
from .registry import ML


BIG_EVERY = 8  # one of 8 cases has an axis that is long enough for vectorized and tiled kernels


class Draw:
    def __init__(self, op, seed):
        self.op = op
        self.seed = seed
        self.rng = np.random.default_rng([op.salt, seed])
        self.big = seed % BIG_EVERY == BIG_EVERY - 1
        self._draw_version()

    def _draw_version(self):
        """Picks a version of the operator, most often the newest, and an opset in which this version is valid."""
        in_onnx = self.op.domain == ""
        last = self.op.last if in_onnx else 99
        starts = [v for v in self.op.since if v <= last]
        if in_onnx:  # omits versions that only opsets below MIN_OPSET use
            starts = [v for v, after in zip(starts, [*starts[1:], 99]) if after > kernels.MIN_OPSET]
        index = len(starts) - 1 if self.chance(0.4) else self.int(0, len(starts) - 1)
        self.since = starts[index]
        end = starts[index + 1] - 1 if index + 1 < len(starts) else last
        self.domain_version = self.since
        self.opset = self.int(13, kernels.MAX_OPSET)
        if in_onnx:
            low = min(max(self.since, kernels.MIN_OPSET), end)
            self.opset = low if self.chance(0.5) else self.int(low, max(low, min(end, kernels.MAX_OPSET)))

    # Numbers and choices.

    def chance(self, p):
        return bool(self.rng.random() < p)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def uniform(self, low, high):
        """Returns a number that a 32-bit float represents exactly, because attributes are 32-bit floats."""
        return float(np.float32(self.rng.uniform(low, high)))

    def choice(self, options):
        return options[self.int(0, len(options) - 1)]

    def maybe(self, value, p=0.5):
        """Returns the value with probability p. Otherwise returns None, and the case omits the attribute or input."""
        return value if self.chance(p) else None

    def permutation(self, n):
        return [int(i) for i in self.rng.permutation(n)]

    def subset(self, options, at_least=0):
        """Returns some of the options, in their order."""
        size = self.int(at_least, len(options))
        picked = sorted(self.rng.permutation(len(options))[:size])
        return [options[i] for i in picked]

    # Shapes.

    def dim(self, high=7, zero=0.0):
        return 0 if self.chance(zero) else self.int(1, high)

    def size(self, high):
        """Returns a size from 1 to high, or from 1 to 6 * high in a big case."""
        return self.int(1, high * 6 if self.big else high)

    def shape(self, low=0, high=4, dim=6, zero=0.03):
        """Returns a shape of rank low..high with dimensions 1..dim. With probability `zero`, one dimension is 0. In a
        big case, one dimension is 16 to 70."""
        shape = [self.int(1, dim) for _ in range(self.int(low, high))]
        if shape and self.big:
            shape[self.int(0, len(shape) - 1)] = self.int(16, 70)
        if shape and self.chance(zero):
            shape[self.int(0, len(shape) - 1)] = 0
        return shape

    def axis(self, rank):
        """Returns an axis in -rank..rank-1."""
        return self.int(-rank, rank - 1)

    def sign_axis(self, axis, rank):
        """Returns axis or, with probability 0.4, the equivalent axis - rank."""
        return axis - rank if self.chance(0.4) else axis

    def axes(self, rank, at_least=0):
        """Returns distinct axes in any order, some of them negative."""
        picked = self.permutation(rank)[: self.int(min(at_least, rank), rank)]
        return [self.sign_axis(a, rank) for a in picked]

    def broadcast(self, count, shape=None, low=0, high=4):
        """Returns `count` shapes that broadcast to the full shape `shape`, or to a random one if `shape` is None. At
        least one result is the full shape. The others may omit leading dimensions and have dimensions of 1."""
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
        """Returns one of the types that the operator supports at this opset, most often `prefer`."""
        found = self.types(param, only, without)
        if not found:
            return prefer
        return prefer if prefer in found and self.chance(0.35) else self.choice(found)

    def combo(self):
        """Returns a dict from type parameter to types for one of the operator's kernels. It is for operators that
        support only some combinations of types."""
        return self.choice(kernels.combos(self.op.domain, self.op.name, self._type_opset()))

    def _type_opset(self):
        return self.opset if self.op.domain == "" else self.domain_version

    def tensor(self, dtype, shape, **how):
        """Returns a random tensor. fill.py describes low, high, spread, special and wide."""
        return fill.tensor(self, dtype, shape, **how)

    def scalar(self, dtype, value):
        return np.array(value, dtype=values.NUMPY[dtype])

    def ints(self, data, dtype="int64"):
        return np.array(data, dtype=values.NUMPY[dtype])

    # Cases.

    def case(self, inputs, attrs=None, outputs=1, const=0.25, nodes=None, attr_protos=(), **check):
        """Returns a case of one node. `outputs` is the number of outputs, or a list with an entry per output, which is
        None if the node omits this output."""
        names, fed, constants = self._place(inputs, const)
        wanted = list(range(outputs)) if isinstance(outputs, int) else outputs
        out_names = ["" if o is None else self._name("y", i) for i, o in enumerate(wanted)]
        attrs = {k: v for k, v in (attrs or {}).items() if v is not None}
        node = helper.make_node(self.op.name, _trim(names), _trim(out_names), domain=self.op.domain, **attrs)
        node.attribute.extend(attr_protos)
        args = [_unwrap(v) for v in inputs]
        return self.graph([node], fed, constants, [n for n in out_names if n], args, attrs, **check)

    def graph(self, nodes, fed, constants, outputs, args=(), attrs=None, functions=(), **check):
        """Returns a case of several nodes. The caller names the values."""
        dims = {n: self._declared_dims(v) for n, v in fed.items() if isinstance(v, np.ndarray)}
        return Case(self.op, self.seed, self.opset, nodes, fed, constants, outputs, Check(**check),
                    list(args), attrs or {}, {n: d for n, d in dims.items() if d is not None},
                    self.domain_version, functions=list(functions))

    def _name(self, stem, index):
        return f"{stem}{index}"

    def _place(self, inputs, const):
        """Names the inputs and decides which are fed and which are initializers."""
        names, fed, constants = [], {}, {}
        odd = self.chance(0.05)  # names with / and :, which TensorFlow writes
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
        """Returns None if the model declares the array's own shape. Otherwise returns the shape to declare, in which
        some dimensions are symbols."""
        if self.chance(0.7) or not array.shape:
            return None
        return [f"d{self.int(0, 9)}_{i}" if self.chance(0.6) else d for i, d in enumerate(array.shape)]


def _unwrap(value):
    value = value.value if isinstance(value, (Const, Fed)) else value
    # numpy functions return scalars instead of arrays of rank 0.
    return np.asarray(value) if isinstance(value, np.generic) else value


def _trim(names):
    """Removes empty names at the end, because a node need not list trailing omitted inputs and outputs."""
    names = list(names)
    while names and not names[-1]:
        names.pop()
    return names


def draw_case(op, seed):
    case = op.generate(Draw(op, seed))
    if op.domain == ML:
        assert case.domain_version in op.since
    return case
