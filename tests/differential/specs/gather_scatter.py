"""Operators that read or write elements by index."""

import numpy as np

from fuzz.registry import op, op_each


def index_kind(d):
    return d.choice(["int32", "int64"])


def indices(d, kind, shape, size, negative=True):
    low = -size if negative and d.chance(0.4) else 0
    return d.tensor(kind, shape, low=low, high=size - 1)


@op("Gather", weight=1.5)
def gather(d):
    shape = d.shape(1, 4, zero=0)
    axis = d.axis(len(shape)) if d.since >= 11 else d.int(0, len(shape) - 1)
    picks = indices(d, index_kind(d), d.shape(0, 3), shape[axis], d.since >= 11)
    return d.case([d.tensor(d.dtype("T"), shape), picks], {"axis": axis if axis or d.chance(0.5) else None})


@op("GatherElements")
def gather_elements(d):
    shape = d.shape(1, 4, zero=0)
    axis = d.axis(len(shape))
    picked = [d.int(1, n) for n in shape]
    picked[axis] = d.int(1, 6)
    picks = indices(d, index_kind(d), picked, shape[axis])
    return d.case([d.tensor(d.dtype("T"), shape), picks], {"axis": axis if axis or d.chance(0.5) else None})


def nd_indices(d, shape, batch, lead):
    """Returns index tuples into shape[batch:], in a tensor whose leading dims are `lead`."""
    depth = d.int(1, len(shape) - batch)
    low = [-n if d.chance(0.3) else 0 for n in shape[batch:batch + depth]]
    columns = [d.rng.integers(a, n, lead) for a, n in zip(low, shape[batch:])]
    return np.stack(columns, axis=-1).astype(np.int64), depth


@op("GatherND", weight=1.5)
def gather_nd(d):
    shape = d.shape(1, 4, zero=0)
    batch = d.int(0, len(shape) - 1) if d.since >= 12 and d.chance(0.4) else 0
    picks, _ = nd_indices(d, shape, batch, shape[:batch] + d.shape(0, 2))
    stated = batch or (d.maybe(0, 0.3) if d.since >= 12 else None)
    return d.case([d.tensor(d.dtype("T"), shape), picks], {"batch_dims": stated})


def reduction(d, dtype, first, second):
    """Returns a reduction that the operator's version supports. Strings and booleans support only "none"."""
    options = ["none"]
    if dtype not in ("string", "bool"):
        options += ["add", "mul"] if d.since >= first else []
        options += ["max", "min"] if d.since >= second else []
    return d.maybe(d.choice(options), 0.7) if d.since >= first else None


@op_each(["Scatter", "ScatterElements"], weight=1.5)
def scatter_elements(d):
    shape = d.shape(1, 4, zero=0)
    axis = d.axis(len(shape)) if d.since >= 11 else d.int(0, len(shape) - 1)
    dtype = d.dtype("T", without=("bfloat16",))
    how = reduction(d, dtype, 16, 18)
    picked = [d.int(1, n) for n in shape]
    kind = index_kind(d)
    if how in (None, "none"):  # all indices must differ, because the order of two writes to one element is undefined
        picks = distinct_along(d, picked, axis, shape[axis])
    else:
        picks = indices(d, kind, picked, shape[axis])
    attrs = {"axis": axis if axis or d.chance(0.5) else None, "reduction": how}
    if d.since >= 11 and d.chance(0.3):
        picks = np.where(d.tensor("bool", picks.shape), picks, picks - shape[axis])
        picks = np.where(picks < -shape[axis], picks + shape[axis], picks)
    data = d.tensor(dtype, shape, low=-3, high=3)
    return d.case([data, picks.astype(kind), d.tensor(dtype, picked, low=-3, high=3)], attrs, scale=50)


def distinct_along(d, shape, axis, size):
    axis %= len(shape)
    lines = int(np.prod(shape)) // shape[axis]
    rows = np.stack([d.rng.permutation(size)[: shape[axis]] for _ in range(lines)])
    moved = [n for i, n in enumerate(shape) if i != axis]
    return np.moveaxis(rows.reshape(*moved, shape[axis]), -1, axis)


@op("ScatterND", weight=1.5)
def scatter_nd(d):
    shape = d.shape(1, 4, zero=0)
    dtype = d.dtype("T", without=("bfloat16",))
    how = reduction(d, dtype, 16, 18)
    if how in (None, "none"):
        picks, depth = distinct_tuples(d, shape)
    else:
        picks, depth = nd_indices(d, shape, 0, d.shape(0, 2, zero=0))
    update = d.tensor(dtype, list(picks.shape[:-1]) + shape[depth:], low=-3, high=3)
    data = d.tensor(dtype, shape, low=-3, high=3)
    return d.case([data, picks, update], {"reduction": how}, scale=50)


def distinct_tuples(d, shape):
    depth = d.int(1, len(shape))
    total = int(np.prod(shape[:depth]))
    flat = d.rng.permutation(total)[: d.int(1, total)]
    return np.stack(np.unravel_index(flat, shape[:depth]), axis=-1).astype(np.int64), depth


@op("TensorScatter")
def tensor_scatter(d):
    rank = d.int(3, 4)
    shape = [d.int(1, 4) for _ in range(rank)]
    axis = d.int(1, rank - 1)
    shape[axis] = d.int(2, 8)
    dtype = d.dtype("T")
    update = list(shape)
    update[axis] = d.int(1, shape[axis])
    mode = d.maybe(d.choice(["linear", "circular"]), 0.7)
    last = shape[axis] - 1 if mode == "circular" else shape[axis] - update[axis]
    written = d.maybe(d.tensor("int64", [shape[0]], low=0, high=last), 0.8)
    attrs = {"mode": mode, "axis": d.sign_axis(axis, rank) if axis != rank - 2 or d.chance(0.6) else None}
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, update), written], attrs)
