"""ONNX's quantisation operators."""

import numpy as np

from fuzz.fill import int_range
from fuzz.registry import op
from fuzz.values import FLOAT8, enum

from .conv_pool import conv_attrs, image, window
from .matmul import matmul_shapes


def scale_of(d, shape=(), low=0.01, high=0.2, dtype="float"):
    return d.tensor(dtype, shape, low=low, high=high)


def zero_point(d, dtype, shape=()):
    """Returns zero points in the middle half of the type's range. For float8 and int32 they must be 0."""
    if dtype in FLOAT8 or dtype == "int32":
        return np.zeros(shape, dtype=d.tensor(dtype, []).dtype)
    low, high = int_range(dtype)
    quarter = (high - low) // 4
    return d.tensor(dtype, shape, low=low + quarter, high=high - quarter)


def full(d, dtype, shape):
    low, high = int_range(dtype)
    return d.tensor(dtype, shape, low=low, high=high)


def granularity(d, shape):
    """Draws a quantization per tensor, per axis or per block. Returns the shape of the scale and the attributes."""
    kinds = ["tensor"] + (["axis"] * 2 if d.since >= 13 and shape else [])
    if d.since >= 21 and shape and 0 not in shape:  # onnxruntime divides by zero on blocks of an empty tensor
        kinds.append("block")
    kind = d.choice(kinds)
    if kind == "tensor":
        return (), {}
    axis = d.int(0, len(shape) - 1)
    attrs = {"axis": d.sign_axis(axis, len(shape)) if axis != 1 or d.chance(0.5) else None}
    if kind == "axis":
        return (shape[axis],), attrs
    block = d.int(1, max(1, shape[axis]))
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    return tuple(blocks), {**attrs, "block_size": block}


@op("QuantizeLinear", weight=4)
def quantize_linear(d):
    shape = d.shape(0, 4, zero=0.03)
    target = d.dtype("T2" if d.since < 23 else "T3", prefer="uint8")
    kind = d.dtype("T1", prefer="float", without=("bfloat16",))
    at, attrs = granularity(d, shape)
    x = d.tensor(kind, shape, spread=4, special=0.02 if d.chance(0.2) else 0)
    if x.dtype.kind == "f":
        x[np.isnan(x)] = 0  # the integer for NaN is not defined
    scale = scale_of(d, at, dtype=kind)
    zero = d.maybe(zero_point(d, target, at), 0.8)
    if zero is None and d.since >= 21 and target != "uint8":
        attrs["output_dtype"] = enum(target)
    elif zero is None and target != "uint8":
        zero = zero_point(d, target, at)
    if target in FLOAT8:
        attrs["saturate"] = d.maybe(d.int(0, 1))
    # If x/scale is halfway between two integers, an engine that computes x*(1/scale) may round differently. Engines
    # that compute in float16 also round the quotient.
    return d.case([x, scale, zero], attrs, off_by_one=0.3 if kind == "float16" else True)


@op("DequantizeLinear", weight=3)
def dequantize_linear(d):
    shape = d.shape(0, 4, zero=0.03)
    source = d.dtype("T" if d.since < 19 else "T1", prefer="uint8")
    kind = "float" if d.since < 19 else d.choice(["float", "float", "float16"])
    at, attrs = granularity(d, shape)
    x = d.tensor(source, shape) if source in FLOAT8 else full(d, source, shape)
    scale = scale_of(d, at, dtype=kind)
    if source == "int32":
        x = d.tensor(source, shape, low=-5000, high=5000)
    return d.case([x, scale, d.maybe(zero_point(d, source, at), 0.7)], attrs)


@op("DynamicQuantizeLinear")
def dynamic_quantize_linear(d):
    x = d.tensor("float", d.shape(0, 4, zero=0), low=d.choice([-9, 0, 1]), high=d.choice([9, 0.5 + 1]))
    return d.case([x], outputs=3, off_by_one=True)


def integer_pair(d):
    return d.choice(["uint8", "int8"]), d.choice(["uint8", "int8"])


@op("MatMulInteger", weight=2)
def matmul_integer(d):
    left, right = integer_pair(d)
    a, b = matmul_shapes(d, dim=d.choice([4, 20]), rank=3)
    per_column = d.chance(0.3) and len(b) > 1
    inputs = [full(d, left, a), full(d, right, b), d.maybe(zero_point(d, left)),
              d.maybe(zero_point(d, right, [b[-1]] if per_column else ()))]
    return d.case(inputs, const=0.4)


@op("QLinearMatMul", weight=3)
def qlinear_matmul(d):
    left, right = integer_pair(d)
    out = left if d.chance(0.8) else d.choice(["uint8", "int8"])
    a, b = matmul_shapes(d, dim=d.choice([4, 20]), rank=3)
    columns = [b[-1]] if d.chance(0.3) and len(b) > 1 else ()
    inputs = [full(d, left, a), scale_of(d), zero_point(d, left),
              full(d, right, b), scale_of(d, columns), zero_point(d, right, columns),
              scale_of(d, low=0.5, high=4), zero_point(d, out)]
    return d.case(inputs, const=0.4, off_by_one=True)


def integer_conv(d, left, right):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes)
    group, per_in, per_out = d.choice([1, 1, 2, 3]), d.size(3), d.size(3)
    if d.chance(0.3):
        group, per_in, per_out = d.choice([4, 8, 16]), 1, 1
    x = full(d, left, [d.int(1, 2), group * per_in, *sizes])
    w = full(d, right, [group * per_out, per_in, *kernel])
    return x, w, conv_attrs(d, group, kernel, strides, dilations)


@op("ConvInteger", weight=2)
def conv_integer(d):
    left, right = integer_pair(d)
    x, w, attrs = integer_conv(d, left, right)
    return d.case([x, w, d.maybe(zero_point(d, left)), d.maybe(zero_point(d, right))], attrs, const=0.4)


@op("QLinearConv", weight=4)
def qlinear_conv(d):
    left, right = integer_pair(d)
    out = left
    x, w, attrs = integer_conv(d, left, right)
    channels = [w.shape[0]] if d.chance(0.5) else ()
    # onnxruntime requires that a signed weight with per-channel scales has equal zero points. They are 0 here.
    weight_zero = np.zeros(channels, dtype=w.dtype) if channels or d.chance(0.3) else zero_point(d, right)
    bias = d.maybe(d.tensor("int32", [w.shape[0]], low=-2000, high=2000))
    inputs = [x, scale_of(d), zero_point(d, left), w, scale_of(d, channels), weight_zero,
              scale_of(d, low=0.5, high=4), zero_point(d, out), bias]
    return d.case(inputs, attrs, const=0.4, off_by_one=True)
