"""Convolutions and pooling windows."""

import math

import numpy as np

from fuzz.registry import op, op_each


def window(d, rank, sizes, dilate=True, max_kernel=3):
    """Returns kernel, strides and dilations for which the dilated kernel fits into the padded image."""
    kernel = [d.int(1, min(max_kernel, n)) for n in sizes]
    strides = [d.int(1, 3) for _ in range(rank)]
    dilations = [d.int(1, 2) if dilate and d.chance(0.5) else 1 for _ in range(rank)]
    dilations = [1 if (k - 1) * q + 1 > n else q for k, q, n in zip(kernel, dilations, sizes)]
    return kernel, strides, dilations


def padding(d, kernel, dilations):
    """Returns the attribute auto_pad or pads. Pads are smaller than the kernel, because engines treat larger pads
    differently."""
    auto = d.choice([None, None, None, "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if auto not in (None, "NOTSET"):
        return {"auto_pad": auto}
    pads = [d.int(0, (k - 1) * q) for k, q in zip(kernel * 2, dilations * 2)] if d.chance(0.7) else None
    return {"auto_pad": auto, "pads": pads}


def stated(d, name, numbers):
    """Returns {name: numbers}. If all numbers are 1, which is the default, sometimes returns {name: None} instead, so
    that the case omits the attribute."""
    return {name: None if all(n == 1 for n in numbers) and d.chance(0.5) else numbers}


def image(d, low=1, high=3):
    rank = d.choice([1, 2, 2, 2, 3])
    return rank, [d.int(3, 20 if d.big else 9 if rank < 3 else 6) for _ in range(rank)]


def conv_inputs(d, dtype, sizes, kernel, depthwise=0.3):
    group = d.choice([1, 1, 2, 3])
    per_in, per_out = d.size(3), d.size(3)
    if d.chance(depthwise):
        group, per_in = d.int(2, 40 if d.big else 8), 1
    x = d.tensor(dtype, [d.int(1, 2), group * per_in, *sizes])
    w = d.tensor(dtype, [group * per_out, per_in, *kernel])
    return x, w, group


def conv_attrs(d, group, kernel, strides, dilations):
    return {"group": group if group != 1 or d.chance(0.5) else None, "kernel_shape": d.maybe(kernel),
            **stated(d, "strides", strides), **stated(d, "dilations", dilations), **padding(d, kernel, dilations)}


@op("Conv", weight=5, since=(1, 11, 22))
def conv(d):
    dtype = d.dtype("T", without=("double",))
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes)
    x, w, group = conv_inputs(d, dtype, sizes, kernel)
    bias = d.maybe(d.tensor(dtype, [w.shape[0]]))
    return d.case([x, w, bias], conv_attrs(d, group, kernel, strides, dilations), const=0.4, scale=20)


@op("ConvTranspose", weight=4, since=(1, 11, 22))
def conv_transpose(d):
    dtype = d.dtype("T", without=("double",))
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes)
    group = d.choice([1, 1, 2, 3])
    x = d.tensor(dtype, [d.int(1, 2), group * d.size(3), *sizes])
    w = d.tensor(dtype, [x.shape[1], d.size(3), *kernel])
    attrs = conv_attrs(d, group, kernel, strides, dilations)
    if d.chance(0.4):  # output_padding must stay below the stride or dilation
        attrs["output_padding"] = [d.int(0, max(s, q) - 1) for s, q in zip(strides, dilations)]
    elif d.chance(0.3):
        attrs["output_shape"] = [s * (n - 1) + (k - 1) * q + 1 - d.int(0, 1)
                                 for s, n, k, q in zip(strides, sizes, kernel, dilations)]
    bias = d.maybe(d.tensor(dtype, [group * w.shape[1]]))
    return d.case([x, w, bias], attrs, const=0.4, scale=20)


@op("AveragePool", weight=4, since=(7, 10, 11, 19, 22))
def average_pool(d):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes, dilate=d.since >= 19, max_kernel=4)
    attrs = {"kernel_shape": kernel, **stated(d, "strides", strides), **padding(d, kernel, [1] * rank),
             "count_include_pad": d.maybe(d.int(0, 1))}
    if d.since >= 10:
        attrs["ceil_mode"] = d.maybe(d.int(0, 1))
    if d.since >= 19:
        attrs |= stated(d, "dilations", dilations)
    x = d.tensor(d.dtype("T", without=("double",)), [d.int(1, 2), d.size(4), *sizes])
    return d.case([x], attrs)


@op("MaxPool", weight=4, since=(1, 8, 10, 11, 12, 22))
def max_pool(d):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes, dilate=d.since >= 10, max_kernel=4)
    attrs = {"kernel_shape": kernel, **stated(d, "strides", strides), **padding(d, kernel, [1] * rank)}
    if d.since >= 10:
        attrs |= {"ceil_mode": d.maybe(d.int(0, 1)), **stated(d, "dilations", dilations)}
    outputs = d.int(1, 2) if d.since >= 8 else 1
    if outputs == 2:
        attrs["storage_order"] = d.maybe(d.int(0, 1))
    x = d.tensor(d.dtype("T"), [d.int(1, 2), d.size(4), *sizes], wide=True)
    return d.case([x], attrs, outputs=outputs)


@op("LpPool", weight=2, since=(2, 11, 18, 22))
def lp_pool(d):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes, dilate=d.since >= 18)
    attrs = {"kernel_shape": kernel, **stated(d, "strides", strides), **padding(d, kernel, [1] * rank),
             "p": d.maybe(d.int(1, 3))}
    if d.since >= 18:
        attrs |= {"ceil_mode": d.maybe(d.int(0, 1)), **stated(d, "dilations", dilations)}
    x = d.tensor(d.dtype("T", without=("double",)), [d.int(1, 2), d.size(4), *sizes])
    return d.case([x], attrs)


@op_each(["GlobalAveragePool", "GlobalMaxPool"], since=(1, 22))
def global_pool(d):
    _, sizes = image(d)
    return d.case([d.tensor(d.dtype("T", without=("double",)), [d.int(1, 2), d.size(4), *sizes])])


@op("GlobalLpPool", since=(2,), last=21)
def global_lp_pool(d):
    _, sizes = image(d)
    x = d.tensor(d.dtype("T", without=("double",)), [d.int(1, 2), d.size(4), *sizes])
    return d.case([x], {"p": d.maybe(d.int(1, 3))})


@op("MaxUnpool", weight=1.5)
def max_unpool(d):
    """Draws indices that MaxPool can return. Each index is in a different window of the larger image."""
    rank, small = d.int(1, 2), []
    small = [d.int(1, 4) for _ in range(rank)]
    kernel = [d.int(1, 3) for _ in range(rank)]
    batch = [d.int(1, 2), d.int(1, 3)]
    large = [n * k for n, k in zip(small, kernel)]
    place = _window_places(d, batch, small, kernel, large)
    x = d.tensor(d.dtype("T1", without=("double", "float16")), [*batch, *small])
    output_shape = d.maybe(d.ints(batch + large), 0.4)
    return d.case([x, place, output_shape], {"kernel_shape": kernel, "strides": kernel})


def _window_places(d, batch, small, kernel, large):
    grid = np.indices([*batch, *small])
    offset = [d.rng.integers(0, k, [*batch, *small]) for k in kernel]
    spots = [g * k + o for g, k, o in zip(grid[2:], kernel, offset)]
    flat = grid[0] * batch[1] + grid[1]
    for size, spot in zip(large, spots):
        flat = flat * size + spot
    return flat.astype(np.int64)


@op("Col2Im", weight=1.5)
def col2im(d):
    rank = d.choice([1, 2, 2, 3])
    sizes = [d.int(3, 6) for _ in range(rank)]
    kernel, strides, dilations = window(d, rank, sizes)
    pads = [d.int(0, (k - 1) * q) for k, q in zip(kernel * 2, dilations * 2)] if d.chance(0.5) else None
    total = pads or [0] * 2 * rank
    steps = [(n + total[i] + total[i + rank] - q * (k - 1) - 1) // s + 1
             for i, (n, k, s, q) in enumerate(zip(sizes, kernel, strides, dilations))]
    x = d.tensor(d.dtype("T"), [d.int(1, 2), d.int(1, 2) * math.prod(kernel), math.prod(steps)])
    attrs = {**stated(d, "strides", strides), **stated(d, "dilations", dilations), "pads": pads}
    return d.case([x, d.ints(sizes), d.ints(kernel)], attrs, scale=10)


@op("DeformConv", weight=2)
def deform_conv(d):
    dtype = d.dtype("T", without=("float16",))
    sizes = [d.int(3, 7), d.int(3, 7)]
    kernel, strides, dilations = window(d, 2, sizes)
    pads = [d.int(0, (k - 1) * q) for k, q in zip(kernel * 2, dilations * 2)]
    out = [(n + pads[i] + pads[i + 2] - q * (k - 1) - 1) // s + 1
           for i, (n, k, s, q) in enumerate(zip(sizes, kernel, strides, dilations))]
    group, offset_group = d.choice([1, 1, 2]), d.choice([1, 1, 2])
    channels = 2 * d.int(1, 2)
    batch = d.int(1, 2)
    x = d.tensor(dtype, [batch, channels, *sizes])
    w = d.tensor(dtype, [group * d.int(1, 2), channels // group, *kernel])
    offset = d.tensor(dtype, [batch, offset_group * math.prod(kernel) * 2, *out])
    bias = d.maybe(d.tensor(dtype, [w.shape[0]]))
    mask = d.maybe(d.tensor(dtype, [batch, offset_group * math.prod(kernel), *out]))
    attrs = {"group": group if group > 1 else None, "offset_group": offset_group if offset_group > 1 else None,
             "kernel_shape": d.maybe(kernel), "pads": pads,
             **stated(d, "strides", strides), **stated(d, "dilations", dilations)}
    # onnxruntime computes interpolation weights in float, even if the tensors are double.
    return d.case([x, w, offset, bias, mask], attrs, scale=20, rtol=1e-4, atol=1e-5)
