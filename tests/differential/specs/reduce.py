"""Reductions, cumulative sums and sorting along axes."""

import numpy as np

from fuzz.registry import op, op_each
from fuzz.values import FLOATS, INTS

REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
              "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"]
ROOTED = ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp")


def axes_are_input(d):
    return d.since >= (13 if d.op.name == "ReduceSum" else 18)


def reduced_values(d, dtype, shape):
    if d.op.name == "ReduceLogSum":
        return d.tensor(dtype, shape, low=1, high=5)
    if d.op.name == "ReduceProd":
        return d.tensor(dtype, shape, low=-2, high=2)
    special = 0.03 if d.op.name in ("ReduceMax", "ReduceMin") and d.chance(0.2) else 0
    return d.tensor(dtype, shape, special=special)


@op_each(REDUCTIONS, weight=1.5)
def reduce(d):
    # Means, roots and logarithms are drawn for floats only, because the rounding of integer results is undefined.
    dtype = d.dtype("T", without=INTS if d.op.name in ROOTED else ())
    shape = d.shape(0 if d.chance(0.1) else 1, 5, zero=0.04)
    x = reduced_values(d, dtype, shape)
    axes = d.maybe(d.axes(len(shape), at_least=1), 0.75) if shape else None
    attrs = {"keepdims": d.maybe(d.int(0, 1), 0.7)}
    scale = 10.0 * max(1, x.size) if dtype in FLOATS else 1
    if not axes_are_input(d):
        return d.case([x], {**attrs, "axes": axes}, scale=scale)
    attrs["noop_with_empty_axes"] = d.maybe(d.int(0, 1), 0.4)
    if axes is None and d.chance(0.3):
        axes = []
    return d.case([x, None if axes is None else d.ints(axes)], attrs, const=0.4, scale=scale)


@op_each(["ArgMax", "ArgMin"])
def arg(d):
    dtype = d.dtype("T")
    shape = d.shape(1, 4)
    attrs = {"axis": d.maybe(d.axis(len(shape)), 0.8), "keepdims": d.maybe(d.int(0, 1))}
    if d.since >= 12:
        attrs["select_last_index"] = d.maybe(d.int(0, 1))
    shape[attrs["axis"] or 0] = max(1, shape[attrs["axis"] or 0])  # the maximum of no elements is undefined
    x = d.tensor(dtype, shape, low=-3, high=3)
    return d.case([np.round(x) if d.chance(0.5) else x], attrs)  # rounding makes equal values


@op_each(["CumSum", "CumProd"])
def cumulate(d):
    dtype = d.dtype("T")
    shape = d.shape(1, 4)
    x = d.tensor(dtype, shape, low=-2 if not dtype.startswith("u") else 0, high=2)
    axis = d.axis(len(shape))
    axis = d.ints([axis] if d.chance(0.2) else axis, d.choice(["int32", "int64"]))
    attrs = {"exclusive": d.maybe(d.int(0, 1)), "reverse": d.maybe(d.int(0, 1))}
    return d.case([x, axis], attrs, scale=10)


def unsorted_topk(axis):
    """Returns a function that sorts the values and indices of each slice by index. With sorted=0, TopK may return them
    in any order."""
    def canon(outputs):
        values, indices = outputs
        order = np.argsort(indices, axis=axis, kind="stable")
        return [np.take_along_axis(values, order, axis), np.take_along_axis(indices, order, axis)]
    return canon


@op("TopK", weight=2)
def top_k(d):
    dtype = d.dtype("T")
    shape = d.shape(1, 4, dim=9, zero=0)
    axis = d.axis(len(shape))
    k = d.int(0 if d.chance(0.05) else 1, shape[axis])
    x = d.tensor(dtype, shape, low=-20, high=20)
    if d.chance(0.4):
        x = np.round(x / 5).astype(x.dtype)  # makes equal values; TopK must return the lower index first
    attrs = {"axis": axis if axis != -1 or d.chance(0.5) else None}
    if d.since < 10:
        return d.case([x], {**attrs, "k": max(k, 1)}, outputs=2)
    if d.since < 11:
        return d.case([x, d.ints([k])], attrs, outputs=2)
    attrs |= {"largest": d.maybe(d.int(0, 1)), "sorted": d.maybe(d.int(0, 1), 0.3)}
    # With sorted=0, TopK may return any of several equal values. All values are therefore distinct.
    if attrs["sorted"] == 0 and x.size > 100:  # eight bits may not suffice for distinct values
        attrs["sorted"] = 1
    if attrs["sorted"] == 0:
        x = d.rng.permutation(max(x.size, 1))[: x.size].reshape(shape).astype(x.dtype)
        return d.case([x, d.ints([k])], attrs, outputs=2, canon=unsorted_topk(axis))
    return d.case([x, d.ints([k])], attrs, outputs=2)
