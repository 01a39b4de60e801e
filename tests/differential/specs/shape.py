"""Operators that rearrange or describe a tensor without computing on its elements."""

import numpy as np

from fuzz.registry import op
from fuzz.values import EXOTIC, enum, tensor_proto


def any_tensor(d, shape, param="T"):
    return d.tensor(d.dtype(param), shape)


@op("Identity")
def identity(d):
    return d.case([any_tensor(d, d.shape(), "T" if d.since < 14 else "V")])


def split_dims(d, total):
    """Returns random factors whose product is `total`."""
    dims, rest = [], total
    while rest > 1 and d.chance(0.8):
        factors = [f for f in range(1, rest + 1) if rest % f == 0]
        dims.append(d.choice(factors))
        rest //= dims[-1]
    return dims + [rest] if rest > 1 or not dims else dims


@op("Reshape", weight=2, since=(5, 13, 14, 19, 21, 23, 24, 25))
def reshape(d):
    shape = d.shape(0, 5, zero=0.05)
    total = int(np.prod(shape))
    attrs, target = {}, split_dims(d, total) if total else list(reversed(shape))
    if d.since >= 14:
        attrs["allowzero"] = d.maybe(1 if total == 0 else d.int(0, 1), 0.4 if total else 0.6)
    if total and target and d.chance(0.4):
        target[d.int(0, len(target) - 1)] = -1
    elif total and d.chance(0.3) and not attrs.get("allowzero"):
        target = [0 if i < len(shape) and n == shape[i] else n for i, n in enumerate(target)]
    if total == 1 and d.chance(0.2):
        target = []
    return d.case([any_tensor(d, shape), d.ints(target)], attrs, const=0.5)


@op("Flatten")
def flatten(d):
    shape = d.shape(0, 5, zero=0.05)
    low = 0 if d.since < 11 else -len(shape)
    return d.case([any_tensor(d, shape)], {"axis": d.maybe(d.int(low, len(shape)), 0.8)})


@op("Squeeze")
def squeeze(d):
    shape = [1 if d.chance(0.5) else n for n in d.shape(0, 5)]
    ones = d.subset([i for i, n in enumerate(shape) if n == 1])
    axes = [d.sign_axis(i, len(shape)) if d.since >= 11 else i for i in ones]
    axes = axes if axes and d.chance(0.8) else None
    x = any_tensor(d, shape)
    if d.since < 13:
        return d.case([x], {"axes": axes})
    return d.case([x, None if axes is None else d.ints(axes)], const=0.5)


@op("Unsqueeze")
def unsqueeze(d):
    shape = d.shape(0, 4)
    added = d.int(1, 3)
    rank = len(shape) + added
    axes = d.permutation(rank)[:added]
    axes = [d.sign_axis(i, rank) for i in axes] if d.since >= 11 else sorted(axes)
    x = any_tensor(d, shape)
    if d.since < 13:
        return d.case([x], {"axes": axes})
    return d.case([x, d.ints(axes)], const=0.5)


@op("Transpose", weight=1.5)
def transpose(d):
    shape = d.shape(0, 6, dim=5)
    return d.case([any_tensor(d, shape)], {"perm": d.maybe(d.permutation(len(shape)), 0.8) if shape else None})


@op("Concat")
def concat(d):
    shape = d.shape(1, 4)
    axis = d.int(0, len(shape) - 1)
    dtype = d.dtype("T")
    parts = []
    for _ in range(d.int(1, 4)):
        shape[axis] = d.dim(5, zero=0.05)
        parts.append(d.tensor(dtype, shape))
    return d.case(parts, {"axis": d.sign_axis(axis, len(shape)) if d.since >= 11 else axis})


def cut(d, total, parts):
    """Returns `parts` non-negative lengths whose sum is `total`."""
    marks = sorted(d.int(0, total) for _ in range(parts - 1))
    return [b - a for a, b in zip([0, *marks], [*marks, total])]


@op("Split", weight=1.5, since=(2, 11, 13, 18))
def split(d):
    shape = d.shape(1, 4, dim=9, zero=0)
    axis = d.int(0, len(shape) - 1)
    parts = d.int(1, 4)
    attrs = {"axis": d.maybe(d.sign_axis(axis, len(shape)) if d.since >= 11 else axis, 0.9 if axis else 0.5)}
    if attrs["axis"] is None:
        axis = 0
    explicit = d.chance(0.6)
    if not explicit and (d.since < 18 or d.chance(0.5)):
        shape[axis] = parts * d.int(1, 3)
    lengths = cut(d, shape[axis], parts)
    x = any_tensor(d, shape)
    if d.since < 13:
        return d.case([x], {**attrs, "split": lengths if explicit else None}, outputs=parts)
    if d.since >= 18 and not explicit:
        attrs["num_outputs"] = parts
    return d.case([x, d.ints(lengths) if explicit else None], attrs, outputs=parts, const=0.5)


def slice_bounds(d, size):
    """Returns start, end and step for one axis. Start and end may be out of range or negative, and the step may be
    negative."""
    step = d.choice([1, 1, 1, 2, 3, -1, -2])
    far = d.choice([0, 0, 3, 1 << 40])
    start, end = d.int(-size - far, size + far), d.int(-size - far, size + far)
    if d.chance(0.5) and (start <= end) != (step > 0):
        start, end = end, start
    return start, end, step


@op("Slice", weight=3)
def slice_(d):
    shape = d.shape(1, 5, zero=0.04)
    axes = d.axes(len(shape), at_least=1)
    x = any_tensor(d, shape)
    bounds = [slice_bounds(d, shape[a]) for a in axes]
    starts, ends, steps = ([b[i] for b in bounds] for i in range(3))
    if d.since < 10:
        attrs = {"starts": starts, "ends": ends, "axes": [a % len(shape) for a in axes]}
        return d.case([x], attrs)
    kind = d.choice(["int32", "int64"])
    limit = np.iinfo(kind).max
    starts, ends = ([max(-limit, min(limit, v)) for v in vs] for vs in (starts, ends))
    full = sorted(a % len(shape) for a in axes) == list(range(len(axes))) == [a % len(shape) for a in axes]
    has_axes = not full or d.chance(0.6)
    inputs = [d.ints(starts, kind), d.ints(ends, kind), d.ints(axes, kind) if has_axes else None]
    has_steps = d.chance(0.8)
    return d.case([x, *inputs, d.ints(steps, kind) if has_steps else None], const=0.5)


def pad_amounts(d, shape, mode):
    """Returns valid pads. A pad must be less than the dim in mode reflect, and at most the dim in mode wrap."""
    limit = {"reflect": lambda n: max(n - 1, 0), "wrap": lambda n: n}.get(mode, lambda n: 4)
    low = [0 if d.chance(0.4) else d.int(0, min(4, limit(n))) for n in shape]
    high = [0 if d.chance(0.4) else d.int(0, min(4, limit(n))) for n in shape]
    if mode == "constant" and d.chance(0.2):  # negative pads crop
        axis = d.int(0, len(shape) - 1)
        low[axis] = -d.int(0, max(0, shape[axis] - 1))
    return low + high


@op("Pad", weight=3, since=(2, 11, 13, 18, 19, 21, 23, 24, 25))
def pad(d):
    mode = d.choice(["constant", "constant", "reflect", "edge"] + (["wrap"] if d.since >= 19 else []))
    shape = d.shape(1, 4, zero=0.03 if mode == "constant" else 0)
    dtype = d.dtype("T")
    x = d.tensor(dtype, shape)
    attrs = {"mode": mode if mode != "constant" or d.chance(0.5) else None}
    if d.since < 11:
        attrs |= {"pads": pad_amounts(d, shape, mode), "value": d.maybe(d.uniform(-3, 3))}
        return d.case([x], attrs)
    value = d.maybe(d.tensor(dtype, [])) if mode == "constant" else None
    axes = d.axes(len(shape), at_least=1) if d.since >= 18 and d.chance(0.4) else None
    picked = shape if axes is None else [shape[a] for a in axes]
    axes = None if axes is None else d.ints(axes, d.choice(["int32", "int64"]))
    return d.case([x, d.ints(pad_amounts(d, picked, mode)), value, axes], attrs, const=0.4)


@op("Tile", since=(6, 13))
def tile(d):
    shape = d.shape(1, 4, dim=4)
    repeats = [0 if d.chance(0.02) else d.int(1, 3) for _ in shape]
    return d.case([any_tensor(d, shape), d.ints(repeats)], const=0.5)


@op("Expand")
def expand(d):
    shape, target = d.broadcast(2)
    return d.case([any_tensor(d, shape), d.ints(target)], const=0.5)


@op("Shape")
def shape_(d):
    shape = d.shape(0, 5, zero=0.1)
    attrs = {}
    if d.since >= 15:
        attrs = {"start": d.maybe(d.int(-7, 7)), "end": d.maybe(d.int(-7, 7))}
    return d.case([any_tensor(d, shape)], attrs)


@op("Size")
def size(d):
    return d.case([any_tensor(d, d.shape(0, 5, zero=0.1))])


@op("ConstantOfShape")
def constant_of_shape(d):
    dtype = d.dtype("T2")
    value = d.maybe(tensor_proto(d.tensor(dtype, [1])), 0.8)
    return d.case([d.ints(d.shape(0, 4, zero=0.1))], {"value": value})


@op("Constant")
def constant(d):
    forms = ["value"]
    if d.since >= 12:
        forms += ["value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"]
    form = d.choice(forms)
    made = {"value": lambda: tensor_proto(d.tensor(d.dtype("T", without=EXOTIC), d.shape())),
            "value_float": lambda: d.uniform(-3, 3), "value_floats": lambda: [d.uniform(-3, 3) for _ in range(d.int(1, 4))],
            "value_int": lambda: d.int(-9, 9), "value_ints": lambda: [d.int(-9, 9) for _ in range(d.int(1, 4))],
            "value_string": lambda: "tern", "value_strings": lambda: ["a", "", "tern"]}
    return d.case([], {form: made[form]()})


@op("Range")
def range_(d):
    dtype = d.dtype("T")
    start, delta = d.int(-9, 9), d.choice([1, 2, 3, -1, -2])
    limit = start + delta * d.int(-1, 9) + d.choice([0, 0, 1])
    if dtype in ("float", "double"):
        start, limit, delta = start * 0.5, limit * 0.5, delta * 0.25
    return d.case([d.scalar(dtype, v) for v in (start, limit, delta)])


@op("EyeLike")
def eye_like(d):
    dtype = d.maybe(d.choice(d.types("T2", without=("float16",))), 0.6)
    attrs = {"k": d.maybe(d.int(-4, 4)), "dtype": enum(dtype) if dtype else None}
    return d.case([d.tensor(d.dtype("T1"), d.shape(2, 2))], attrs)


@op("Trilu")
def trilu(d):
    x = any_tensor(d, d.shape(2, 4, zero=0.06))
    return d.case([x, d.maybe(d.ints(d.int(-5, 5)))], {"upper": d.maybe(d.int(0, 1), 0.7)})


@op("DepthToSpace")
def depth_to_space(d):
    block = d.int(1, 3)
    x = any_tensor(d, [d.int(1, 2), block * block * d.int(1, 3), d.int(1, 4), d.int(1, 4)])
    mode = d.maybe(d.choice(["DCR", "CRD"])) if d.since >= 11 else None
    return d.case([x], {"blocksize": block, "mode": mode})


@op("SpaceToDepth")
def space_to_depth(d):
    block = d.int(1, 3)
    x = any_tensor(d, [d.int(1, 2), d.int(1, 3), block * d.int(1, 3), block * d.int(1, 3)])
    return d.case([x], {"blocksize": block})


@op("ReverseSequence")
def reverse_sequence(d):
    shape = d.shape(2, 4, zero=0)
    time = d.int(0, 1)
    lengths = d.tensor("int64", [shape[1 - time]], low=1, high=shape[time])
    default = d.chance(0.3) and time == 0
    attrs = {} if default else {"time_axis": time, "batch_axis": 1 - time}
    return d.case([any_tensor(d, shape), lengths], attrs)


@op("CenterCropPad")
def center_crop_pad(d):
    shape = d.shape(1, 4, zero=0)
    axes = d.maybe(d.axes(len(shape), at_least=1))
    count = len(shape) if axes is None else len(axes)
    target = d.ints([d.int(1, 8) for _ in range(count)])
    return d.case([d.tensor(d.dtype("T", without=("bfloat16", "string")), shape), target], {"axes": axes})


@op("NonZero")
def non_zero(d):
    return d.case([d.tensor(d.dtype("T"), d.shape(0, 4, zero=0.06), low=-1, high=1)])


@op("Compress")
def compress(d):
    shape = d.shape(1, 4, zero=0)
    axis = d.maybe(d.axis(len(shape)) if d.since >= 11 else d.int(0, len(shape) - 1), 0.7)
    length = int(np.prod(shape)) if axis is None else shape[axis]
    condition = d.tensor("bool", [d.int(1, length)])  # elements beyond the end of the condition are dropped
    return d.case([any_tensor(d, shape), condition], {"axis": axis})


@op("Unique", weight=1.5)
def unique(d):
    dtype = d.dtype("T")
    shape = d.shape(1, 3, zero=0.02)
    x = np.round(d.tensor(dtype, shape, low=-3, high=3)) if dtype != "string" else d.tensor(dtype, shape)
    attrs = {"axis": d.maybe(d.axis(len(shape))), "sorted": d.maybe(d.int(0, 1))}
    return d.case([x], attrs, outputs=d.int(1, 4))


@op("OneHot")
def one_hot(d):
    types = d.combo()
    kind, depth_kind, dtype = types["T1"][0], types["T2"][0], types["T3"][0]
    depth = d.int(1, 6)
    indices = d.tensor(kind, d.shape(1, 3), low=-depth if d.since >= 11 else 0, high=depth + 1)
    indices = np.floor(indices).astype(indices.dtype)
    depth_value = d.scalar(depth_kind, depth)
    attrs = {"axis": d.maybe(d.int(-1 - indices.ndim, indices.ndim))}
    return d.case([indices, depth_value.reshape([1]) if d.chance(0.5) else depth_value, d.tensor(dtype, [2])], attrs)
