"""Models with convolutions and pooling that have large kernels, dilations or strides."""

import numpy as np


def fitting_pads(d, sizes, kernel, dilations, strides, below):
    """Returns pads with which mostly one to four windows fit along each axis. If `below`, each pad is smaller than the
    dilated kernel, as pooling requires."""
    begins, ends = [], []
    for n, k, q, s in zip(sizes, kernel, dilations, strides):
        extent = (k - 1) * q + 1
        most = max(0, extent - 1 if below else 2**31 - 1)
        missing = extent + d.int(0, 3) * s - n
        begin = min(max(0, d.pick([0, missing // 2, missing])), most)
        begins.append(begin)
        ends.append(min(max(0, missing - begin), most))
        if not below and d.chance(0.1):
            ends[-1] = missing - begin  # may be negative, and then crops the input
    return begins + ends


def window(d, kernel, below=False):
    rank = len(kernel)
    sizes = d.dims(rank)
    strides, dilations = d.list(rank), d.list(rank)
    dilations = [q if (k - 1) * q < 2**32 or d.chance(0.2) else 1 for k, q in zip(kernel, dilations)]
    attrs = {"strides": strides, "dilations": dilations}
    if len(strides) == len(dilations) == rank:
        if d.chance(0.15):
            attrs["auto_pad"] = d.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        else:
            attrs["pads"] = fitting_pads(d, sizes, kernel, dilations, strides, below) if d.chance(0.95) else d.list(2 * rank)
    return sizes, attrs


def grouped(d):
    """Returns the number of groups, the input channels per group and the output channels per group."""
    group = d.pick([1, 1, 1, 2, 8])
    return group, d.pick([0, 1, 1, 3, 4, 16]), d.pick([0, 1, 1, 4, 16, 33])


def conv(d):
    rank = d.pick([1, 2, 2, 2, 3])
    group, channels, maps = grouped(d)
    empty = channels * maps == 0
    kernel = [d.pick([1, 2, 3, 3, 5]) for _ in range(rank)]
    if empty and d.chance(0.5):
        kernel = d.list(rank, wild=0)
    sizes, attrs = window(d, kernel)
    x = d.image(group * channels, sizes)
    w = d.floats([group * maps, channels, *kernel])
    bias = [d.floats([group * maps])] if d.chance(0.5) else []
    group = group if d.chance(0.95) else d.number(wild=0.7)
    y = d.node("Conv", [x, w, *bias], group=group, **attrs)
    return d.model(d.after(y, group * maps if 0 < group < 99 else 1, rank))


def conv_transpose(d):
    rank = d.pick([1, 2, 2, 2, 3])
    group, channels, maps = grouped(d)
    kernel = [d.pick([1, 2, 3, 4]) for _ in range(rank)]
    sizes = d.dims(rank)
    strides, dilations = d.list(rank, small=0.8), d.list(rank, small=0.8)
    attrs = {"strides": strides, "dilations": dilations}
    if len(strides) == len(dilations) == rank:
        full = [(n - 1) * s + (k - 1) * q + 1 for n, k, q, s in zip(sizes, kernel, dilations, strides)]
        if d.chance(0.8):
            wanted = [d.int(1, 9) if f > 9 else max(f, 0) for f in full]
            cut = [f - n for f, n in zip(full, wanted)]
            first = [d.pick([0, c // 2, c]) for c in cut]
            attrs["pads"] = first + [c - a for c, a in zip(cut, first)]
            if d.chance(0.3):
                del attrs["pads"]
                attrs["output_shape"] = wanted
        if d.chance(0.15):
            attrs["auto_pad"] = d.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if d.chance(0.2):
            attrs["output_padding"] = d.list(rank)
    x = d.image(group * channels, sizes)
    w = d.floats([group * channels, maps, *kernel])
    y = d.node("ConvTranspose", [x, w], group=group, **attrs)
    return d.model(d.after(y, group * maps, rank))


def pool(d, op):
    rank = d.pick([1, 2, 2, 2, 3])
    kernel = d.list(rank, small=0.5)
    sizes, attrs = window(d, kernel, below=True)
    channels = d.pick([0, 1, 5, 16, 33])
    x = d.image(channels, sizes)
    attrs["kernel_shape"] = kernel
    attrs["ceil_mode"] = d.int(0, 1)
    if op == "AveragePool":
        attrs["count_include_pad"] = d.int(0, 1)
    if op == "LpPool":
        attrs["p"] = d.pick([1, 2, 3, 0, -1, 2**31 - 1])
    outputs = 2 if op == "MaxPool" and d.chance(0.3) else 1
    y = d.node(op, [x], outputs, **attrs)
    return d.model(y if outputs == 2 else d.after(y, channels, len(kernel)))


def qlinear_conv(d):
    rank = d.pick([1, 2, 2, 3])
    group, channels, maps = grouped(d)
    kernel = [d.pick([1, 2, 3]) for _ in range(rank)]
    sizes, attrs = window(d, kernel)
    x = d.node("QuantizeLinear", [d.image(group * channels, sizes), scale := d.constant(np.float32(0.02)), zero := d.constant(np.uint8(7))])
    w = d.constant(d.rng.integers(-100, 100, [group * maps, channels, *kernel]).astype(np.int8))
    y = d.node("QLinearConv", [x, scale, zero, w, scale, d.constant(np.int8(0)), scale, zero], group=group, **attrs)
    return d.model(y)


def max_unpool(d):
    rank = d.pick([1, 2, 3])
    kernel, sizes = d.list(rank), d.dims(rank, most=3)
    dims = [1, d.pick([0, 1, 3]), *sizes]
    places = d.constant(d.rng.choice([0, 1, 2, 5, -1, 2**31, 2**62], dims, p=[0.3, 0.3, 0.2, 0.17, 0.01, 0.01, 0.01]))
    given = [d.ints([1, dims[1], *[d.int(1, 20) for _ in sizes]])] if d.chance(0.6) else []
    attrs = {"kernel_shape": kernel, "strides": d.list(rank) if d.chance(0.7) else None, "pads": d.list(2 * rank) if d.chance(0.2) else None}
    return d.model(d.node("MaxUnpool", [d.input(dims), places, *given], **attrs))


def max_pool(d):
    return pool(d, "MaxPool")


def average_pool(d):
    return pool(d, "AveragePool")


def lp_pool(d):
    return pool(d, "LpPool")


OPS = {"Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool, "AveragePool": average_pool, "LpPool": lp_pool,
       "QLinearConv": qlinear_conv, "MaxUnpool": max_unpool}
