"""Operators on shapes, indices and sequences."""

import math

import numpy as np

from . import arguments, model, wanted


@model("Gather")
def gather(case):
    return [np.asarray(np.take(case.args[0], case.args[1], axis=case.attrs.get("axis", 0)))]


@model("GatherElements")
def gather_elements(case):
    x, picks = case.args
    axis = case.attrs.get("axis", 0) % x.ndim
    places = list(np.indices(picks.shape))
    places[axis] = np.where(picks < 0, picks + x.shape[axis], picks)
    return [x[tuple(places)]]


@model("Scatter", "ScatterElements")
def scatter_elements(case):
    x, picks, updates = case.args
    axis, how = case.attrs.get("axis", 0) % x.ndim, case.attrs.get("reduction", "none")
    merge = {"none": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min}[how]
    y = x.copy()
    for place in np.ndindex(*picks.shape):
        target = list(place)
        target[axis] = int(picks[place]) % x.shape[axis]
        y[tuple(target)] = merge(y[tuple(target)], updates[place])
    return [y]


@model("TensorScatter")
def tensor_scatter(case):
    past, update, starts = arguments(case, 3)
    axis = case.attrs.get("axis", -2) % past.ndim
    y = np.moveaxis(past.copy(), axis, 1)
    for b, rows in enumerate(np.moveaxis(update, axis, 1)):
        for i, row in enumerate(rows):
            y[b, ((0 if starts is None else int(starts[b])) + i) % y.shape[1]] = row
    return [np.moveaxis(y, 1, axis)]


def clamped(start, end, step, n):
    """Returns the range of a Slice. A start or end out of range is clamped as the specification requires. Python's
    slices clamp differently."""
    start, end = (int(v) + n if v < 0 else int(v) for v in (start, end))
    if step > 0:
        return range(min(max(start, 0), n), min(max(end, 0), n), step)
    return range(min(max(start, 0), n - 1), min(max(end, -1), n - 1), step)


@model("Slice")
def slice_(case):
    x = case.args[0]
    if case.opset < 10:
        starts, ends, axes, steps = (case.attrs.get(n) for n in ("starts", "ends", "axes", "steps"))
    else:
        _, starts, ends, axes, steps = arguments(case, 5)
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    y = x
    for start, end, axis, step in zip(starts, ends, axes, steps):
        picks = clamped(start, end, int(step), x.shape[axis]) if x.shape[axis] else range(0)
        y = np.take(y, np.array(picks, np.int64), axis=int(axis))
    return [y]


@model("Shape")
def shape(case):
    dims = case.args[0].shape
    rank = len(dims)
    low, high = (case.attrs.get(k, d) for k, d in (("start", 0), ("end", rank)))
    low, high = (min(max(v + rank if v < 0 else v, 0), rank) for v in (low, high))
    return [np.array(dims[low:high], np.int64)]


@model("Unsqueeze")
def unsqueeze(case):
    x = case.args[0]
    axes = case.attrs.get("axes") if case.opset < 13 else case.args[1].tolist()
    rank = x.ndim + len(axes)
    new, rest = {a % rank for a in axes}, iter(x.shape)
    return [x.reshape([1 if i in new else next(rest) for i in range(rank)])]


@model("OneHot")
def one_hot(case):
    indices, depth, values = case.args
    depth = int(depth.reshape(-1)[0])
    axis = case.attrs.get("axis", -1) % (indices.ndim + 1)
    picks = indices.astype(np.int64)
    hot = np.where(picks < 0, picks + depth, picks)[..., None] == np.arange(depth)
    return [np.moveaxis(np.where(hot, values[1], values[0]), -1, axis)]


@model("Unique")
def unique(case):
    x, axis = case.args[0], case.attrs.get("axis")
    rows = [(v,) for v in x.reshape(-1).tolist()] if axis is None else [
        tuple(np.asarray(r, x.dtype).reshape(-1).tolist()) for r in np.moveaxis(x, axis, 0)]
    seen = {}
    for i, row in enumerate(rows):
        seen.setdefault(row, []).append(i)
    keys = list(seen) if case.attrs.get("sorted") == 0 else sorted(seen)
    first = [seen[k][0] for k in keys]
    flat = np.take(x.reshape(-1), first) if axis is None else np.take(x, first, axis=axis)
    rank = {k: i for i, k in enumerate(keys)}
    ints = ([rank[r] for r in rows], [len(seen[k]) for k in keys])
    return wanted(case, [flat, np.array(first, np.int64), *[np.array(v, np.int64) for v in ints]])


@model("SequenceInsert")
def sequence_insert(case):
    sequence, tensor, place = arguments(case, 3)
    items = list(sequence.items)
    items.insert(len(items) if place is None else int(place), tensor)
    return [items]


@model("ReduceSumSquare")
def reduce_sum_square(case):
    x = case.args[0]
    if x.dtype != np.int32:
        return None
    axes = case.attrs.get("axes") if case.opset < 18 else (case.args[1:] or [None])[0]
    if (axes is None or not len(axes)) and case.attrs.get("noop_with_empty_axes"):
        return None
    axes = tuple(range(x.ndim)) if axes is None or not len(axes) else tuple(int(a) for a in axes)
    return [np.asarray((x.astype(np.int64) ** 2).sum(axis=axes, keepdims=bool(case.attrs.get("keepdims", 1)))).astype(x.dtype)]


@model("AffineGrid")
def affine_grid(case):
    theta, size = case.args
    corners = case.attrs.get("align_corners")
    lines = [np.linspace(-1, 1, n) if corners else (2 * np.arange(n) + 1) / n - 1 for n in size[2:].tolist()]
    points = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones([len(v) for v in lines])], axis=-1)
    grid = np.einsum("...k,bjk->b...j", points, theta.astype(np.float64))
    return [grid.astype(theta.dtype)]


@model("com.microsoft.ExpandDims")
def expand_dims(case):
    return [np.expand_dims(case.args[0], int(case.args[1]))]


@model("com.microsoft.UnfoldTensor")
def unfold_tensor(case):
    x, axis = case.args[0], case.attrs["dim"] % case.args[0].ndim
    size, step = case.attrs["size"], case.attrs["step"]
    starts = range(0, x.shape[axis] - size + 1, step)
    return [np.stack([np.moveaxis(x, axis, -1)[..., s:s + size] for s in starts], axis=axis)]


@model("com.microsoft.Trilu")
def trilu(case):
    x, k = arguments(case, 2)
    cut = np.triu if case.attrs.get("upper", 1) else np.tril
    return [cut(x, 0 if k is None else int(k))]


@model("com.microsoft.GatherND")
def gather_nd(case):
    x, picks = case.args
    return [np.asarray(x[tuple(np.moveaxis(picks, -1, 0))])]


@model("com.microsoft.Range")
def range_(case):
    start, limit, delta = (a.item() for a in case.args)
    count = max(0, math.ceil((limit - start) / delta))
    return [(start + delta * np.arange(count)).astype(case.args[0].dtype)]
