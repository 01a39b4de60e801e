"""Operators with sliding windows: convolutions and pooling."""

import itertools
import math

import numpy as np

from . import arguments, model


def positions(shape):
    return itertools.product(*[range(n) for n in shape])


def listed(case, name, rank, default=1):
    return list(case.attrs.get(name) or [default] * rank)


def geometry(case, sizes, kernel):
    """Returns strides, dilations, pads and output sizes, computed by the formulas of the specification."""
    rank = len(kernel)
    strides, dilations = listed(case, "strides", rank), listed(case, "dilations", rank)
    pads, auto = listed(case, "pads", 2 * rank, 0), case.attrs.get("auto_pad", "NOTSET")
    out = []
    for i, (n, k, s, q) in enumerate(zip(sizes, kernel, strides, dilations)):
        reach = (k - 1) * q + 1
        if auto.startswith("SAME"):
            out.append(-(-n // s))
            total = max(0, (out[-1] - 1) * s + reach - n)
            small, large = total // 2, total - total // 2
            pads[i], pads[i + rank] = (small, large) if auto == "SAME_UPPER" else (large, small)
            continue
        if auto == "VALID":
            pads[i] = pads[i + rank] = 0
        out.append(_steps(case, n, pads[i], pads[i + rank], reach, s))
    return strides, dilations, pads, out


def _steps(case, n, low, high, reach, stride):
    room = n + low + high - reach
    if not case.attrs.get("ceil_mode"):
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= n + low else count  # a window must not start in the padding at the end


def convolve(case, x, w, group):
    """Returns the convolution of x and w without bias. x and w must be float64."""
    kernel, sizes = w.shape[2:], x.shape[2:]
    strides, dilations, pads, out = geometry(case, sizes, kernel)
    result = np.zeros((x.shape[0], w.shape[0], *out))
    per_in, per_out = w.shape[1], w.shape[0] // group
    for tap in positions(kernel):
        for at in positions(out):
            source = tuple(a * s + t * q - p for a, s, t, q, p in zip(at, strides, tap, dilations, pads))
            if not all(0 <= i < n for i, n in zip(source, sizes)):
                continue
            for g in range(group):
                ins, outs = slice(g * per_in, (g + 1) * per_in), slice(g * per_out, (g + 1) * per_out)
                result[(slice(None), outs, *at)] += x[(slice(None), ins, *source)] @ w[(outs, slice(None), *tap)].T
    return result


def with_bias(y, bias):
    return y if bias is None else y + bias.reshape([1, -1] + [1] * (y.ndim - 2))


@model("Conv")
def conv(case):
    x, w, bias = arguments(case, 3)
    y = convolve(case, x.astype(np.float64), w.astype(np.float64), case.attrs.get("group", 1))
    return [with_bias(y, bias).astype(x.dtype)]


def shifted(values, zero):
    return values.astype(np.float64) - (0 if zero is None else np.asarray(zero, np.float64))


@model("ConvInteger")
def conv_integer(case):
    x, w, x_zero, w_zero = arguments(case, 4)
    return [convolve(case, shifted(x, x_zero), shifted(w, w_zero), case.attrs.get("group", 1)).astype(np.int32)]


def saturate(values, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(values), info.min, info.max).astype(dtype)


@model("QLinearConv", "com.microsoft.QLinearConv")
def qlinear_conv(case):
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias = arguments(case, 9)
    last = case.attrs.get("channels_last")
    x = np.moveaxis(x, -1, 1) if last else x
    w_zero = np.asarray(w_zero).reshape([-1] + [1] * (w.ndim - 1))
    sums = with_bias(convolve(case, shifted(x, x_zero), shifted(w, w_zero), case.attrs.get("group", 1)), bias)
    factor = np.asarray(x_scale * w_scale / y_scale, np.float64).reshape([1, -1] + [1] * (w.ndim - 2))
    y = saturate(sums * factor + float(y_zero), y_zero.dtype)
    return [np.moveaxis(y, 1, -1) if last else y]


@model("ConvTranspose")
def conv_transpose(case):
    x, w, bias = arguments(case, 3)
    kernel, sizes, group = w.shape[2:], x.shape[2:], case.attrs.get("group", 1)
    strides, dilations, pads, out = transpose_geometry(case, sizes, kernel)
    y = np.zeros((x.shape[0], w.shape[1] * group, *out))
    per_in, per_out = x.shape[1] // group, w.shape[1]
    for tap in positions(kernel):
        for at in positions(sizes):
            target = tuple(a * s + t * q - p for a, s, t, q, p in zip(at, strides, tap, dilations, pads))
            if not all(0 <= i < n for i, n in zip(target, out)):
                continue
            for g in range(group):
                ins = slice(g * per_in, (g + 1) * per_in)
                y[(slice(None), slice(g * per_out, (g + 1) * per_out), *target)] += (
                    x[(slice(None), ins, *at)].astype(np.float64) @ w[(ins, slice(None), *tap)].astype(np.float64))
    return [with_bias(y, bias).astype(x.dtype)]


def transpose_geometry(case, sizes, kernel):
    rank = len(kernel)
    strides, dilations = listed(case, "strides", rank), listed(case, "dilations", rank)
    extra, auto = listed(case, "output_padding", rank, 0), case.attrs.get("auto_pad", "NOTSET")
    pads = [0] * 2 * rank if auto == "VALID" else listed(case, "pads", 2 * rank, 0)
    full = [s * (n - 1) + e + (k - 1) * q + 1 for s, n, e, k, q in zip(strides, sizes, extra, kernel, dilations)]
    shape = case.attrs.get("output_shape")
    if not shape and not auto.startswith("SAME"):
        return strides, dilations, pads, [f - pads[i] - pads[i + rank] for i, f in enumerate(full)]
    shape = list(shape) if shape else [n * s for n, s in zip(sizes, strides)]
    # If the output is larger than `full`, the additional elements are at the end, as in TensorFlow.
    totals = [max(0, f - o) for f, o in zip(full, shape)]
    low = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in totals]
    return strides, dilations, low, shape


def cells(at, kernel, strides, dilations, pads, sizes):
    """Returns the positions of the window that lie in the image, and the number of positions that lie in the image or
    its padding."""
    inside, counted, rank = [], 0, len(kernel)
    for tap in positions(kernel):
        place = [a * s + t * q - pads[i] for i, (a, s, t, q) in enumerate(zip(at, strides, tap, dilations))]
        counted += all(-pads[i] <= p < n + pads[i + rank] for i, (p, n) in enumerate(zip(place, sizes)))
        if all(0 <= p < n for p, n in zip(place, sizes)):
            inside.append(tuple(place))
    return inside, counted


def pool(case, reduce):
    """Calls reduce(values, places, counted) for each window and stacks the results. `places` and `counted` are the
    results of `cells`. `values` [N, C, len(places)] are the elements at `places`."""
    x = case.args[0].astype(np.float64)
    kernel, sizes = case.attrs["kernel_shape"], x.shape[2:]
    strides, dilations, pads, out = geometry(case, sizes, kernel)
    found = []
    for at in positions(out):
        inside, counted = cells(at, kernel, strides, dilations, pads, sizes)
        values = np.stack([x[(slice(None), slice(None), *p)] for p in inside], axis=-1)
        found.append(reduce(values, inside, counted))
    return np.stack(found, axis=-1).reshape(*x.shape[:2], *out)


@model("MaxPool")
def max_pool(case):
    x = case.args[0]
    y = pool(case, lambda values, places, counted: values.max(axis=-1)).astype(x.dtype)
    sizes, column_major = x.shape[2:], case.attrs.get("storage_order")

    def flat(place):
        return np.ravel_multi_index(place[::-1], sizes[::-1]) if column_major else np.ravel_multi_index(place, sizes)

    def index(values, places, counted):
        return np.array([flat(p) for p in places])[values.argmax(axis=-1)]

    if len(case.outputs) == 1:
        return [y]
    planes = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(sizes)) * math.prod(sizes)
    return [y, (pool(case, index) + planes).astype(np.int64)]


@model("AveragePool")
def average_pool(case):
    def mean(values, places, counted):
        return values.sum(axis=-1) / (counted if case.attrs.get("count_include_pad") else len(places))
    return [pool(case, mean).astype(case.args[0].dtype)]


@model("LpPool")
def lp_pool(case):
    p = case.attrs.get("p", 2)
    return [pool(case, lambda v, places, counted: (np.abs(v) ** p).sum(axis=-1) ** (1 / p)).astype(case.args[0].dtype)]


@model("GlobalMaxPool", "GlobalLpPool")
def global_pool(case):
    x = case.args[0]
    axes, p = tuple(range(2, x.ndim)), case.attrs.get("p", 2)
    if case.op.name == "GlobalMaxPool":
        return [x.max(axis=axes, keepdims=True)]
    return [((np.abs(x.astype(np.float64)) ** p).sum(axis=axes, keepdims=True) ** (1 / p)).astype(x.dtype)]


@model("Col2Im")
def col2im(case):
    x, sizes, kernel = case.args
    strides, dilations, pads, steps = geometry(case, sizes, kernel)
    y = np.zeros((x.shape[0], x.shape[1] // math.prod(kernel), *sizes))
    blocks = x.astype(np.float64).reshape(*y.shape[:2], *kernel, *steps)
    for tap in positions(kernel):
        for at in positions(steps):
            place = tuple(a * s + t * q - p for a, s, t, q, p in zip(at, strides, tap, dilations, pads))
            if all(0 <= i < n for i, n in zip(place, sizes)):
                y[(slice(None), slice(None), *place)] += blocks[(slice(None), slice(None), *tap, *at)]
    return [y.astype(x.dtype)]
