"""com.microsoft: quantised operators. A model dequantises the inputs, computes in double and quantises the result."""

import numpy as np

from . import arguments, model
from .window import pool, saturate, shifted


def real(x, scale, zero):
    return shifted(x, zero) * np.asarray(scale, np.float64)


def stored(y, scale, zero, dtype):
    return saturate(y / float(scale) + (0 if zero is None else float(zero)), dtype)


@model("com.microsoft.QLinearAdd", "com.microsoft.QLinearMul")
def qlinear_binary(case):
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = arguments(case, 8)
    left, right = real(a, a_scale, a_zero), real(b, b_scale, b_zero)
    y = left + right if case.op.name == "QLinearAdd" else left * right
    return [stored(y, scale, zero, a.dtype)]


@model("com.microsoft.QLinearSigmoid", "com.microsoft.QLinearLeakyRelu")
def qlinear_unary(case):
    x, x_scale, x_zero, scale, zero = arguments(case, 5)
    v = real(x, x_scale, x_zero)
    y = 1 / (1 + np.exp(-v)) if case.op.name == "QLinearSigmoid" else np.where(v < 0, case.attrs.get("alpha", 0.01) * v, v)
    return [stored(y, scale, zero, x.dtype)]


@model("com.microsoft.QLinearSoftmax")
def qlinear_softmax(case):
    x, x_scale, x_zero, scale, zero = case.args
    v, axis = real(x, x_scale, x_zero), case.attrs["axis"] % x.ndim
    axes = (axis,) if case.attrs["opset"] >= 13 else tuple(range(axis, x.ndim))
    e = np.exp(v - v.max(axis=axes, keepdims=True))
    return [stored(e / e.sum(axis=axes, keepdims=True), scale, zero, x.dtype)]


@model("com.microsoft.QLinearGlobalAveragePool")
def qlinear_global_average_pool(case):
    x, x_scale, x_zero, scale, zero = case.args
    axes = tuple(range(1, x.ndim - 1)) if case.attrs.get("channels_last") else tuple(range(2, x.ndim))
    return [stored(real(x, x_scale, x_zero).mean(axis=axes, keepdims=True), scale, zero, x.dtype)]


class _Plain:
    """A copy of the case with the single input x, which `pool` accepts. Here x is the dequantised input."""

    def __init__(self, case, x):
        self.attrs, self.args, self.outputs = case.attrs, [x], case.outputs


@model("com.microsoft.QLinearAveragePool")
def qlinear_average_pool(case):
    x, x_scale, x_zero, scale, zero = arguments(case, 5)
    last = case.attrs.get("channels_last")
    v = real(x, x_scale, x_zero)
    include = case.attrs.get("count_include_pad")
    y = pool(_Plain(case, np.moveaxis(v, -1, 1) if last else v),
             lambda values, places, counted: values.sum(axis=-1) / (counted if include else len(places)))
    return [stored(np.moveaxis(y, 1, -1) if last else y, scale, zero, x.dtype)]


@model("com.microsoft.QLinearConcat")
def qlinear_concat(case):
    scale, zero, *parts = case.args
    pieces = [real(*parts[i:i + 3]) for i in range(0, len(parts), 3)]
    return [stored(np.concatenate(pieces, axis=case.attrs["axis"]), scale, zero, zero.dtype)]


@model("com.microsoft.QLinearWhere")
def qlinear_where(case):
    condition, x, x_scale, x_zero, y, y_scale, y_zero, scale, zero = case.args
    return [stored(np.where(condition, real(x, x_scale, x_zero), real(y, y_scale, y_zero)), scale, zero, zero.dtype)]


@model("com.microsoft.QGemm")
def qgemm(case):
    a, a_scale, a_zero, b, b_scale, b_zero, c, scale, zero = arguments(case, 9)
    flip = lambda m, t: m.T if case.attrs.get(t) else m  # noqa: E731
    b = flip(b, "transB")
    sums = flip(shifted(a, a_zero), "transA") @ shifted(b, b_zero) + (0 if c is None else c)
    y = case.attrs.get("alpha", 1.0) * sums * float(a_scale) * np.asarray(b_scale, np.float64)
    return [y.astype(np.float32) if scale is None else stored(y, scale, zero, a.dtype)]


@model("com.microsoft.MatMulIntegerToFloat")
def matmul_integer_to_float(case):
    a, b, a_scale, b_scale, a_zero, b_zero, bias = arguments(case, 7)
    y = np.matmul(real(a, a_scale, a_zero), real(b, b_scale, b_zero)) + (0 if bias is None else bias)
    return [y.astype(np.float32)]


def dynamic_parameters(x):
    """Returns the scale and zero point that DynamicQuantizeLinear computes for a tensor."""
    low, high = min(0.0, float(x.min(initial=0))), max(0.0, float(x.max(initial=0)))
    scale = np.float32((high - low) / 255) or np.float32(1)
    return scale, np.uint8(np.clip(np.rint(-low / scale), 0, 255))


@model("com.microsoft.DynamicQuantizeMatMul")
def dynamic_quantize_matmul(case):
    a, b, b_scale, b_zero, bias = arguments(case, 5)
    scale, zero = dynamic_parameters(a)
    rounded = real(saturate(a / scale + float(zero), np.uint8), scale, zero)
    return [(np.matmul(rounded, real(b, b_scale, b_zero)) + (0 if bias is None else bias)).astype(np.float32)]


def unpacked(packed, bits):
    """Unpacks numbers of `bits` bits from bytes. The first number is in the low bits."""
    per = 8 // bits
    parts = [(packed >> (bits * i)) & (2 ** bits - 1) for i in range(per)]
    return np.stack(parts, axis=-1).reshape(*packed.shape[:-1], -1)


@model("com.microsoft.MatMulNBits")
def matmul_nbits(case):
    a, packed, scales, zeros, _, bias = arguments(case, 6)
    bits, k, n = case.attrs.get("bits", 4), case.attrs["K"], case.attrs["N"]
    blocks = packed.shape[1]
    weights = unpacked(packed, bits).astype(np.float64)
    zero = 2 ** (bits - 1) if zeros is None else unpacked(zeros.reshape(n, -1), bits)[:, :blocks, None].astype(np.float64)
    weights = ((weights - zero) * scales.reshape(n, blocks, 1).astype(np.float64)).reshape(n, -1)[:, :k]
    y = a.astype(np.float64) @ weights.T + (0 if bias is None else bias)
    return [y.astype(a.dtype)]
