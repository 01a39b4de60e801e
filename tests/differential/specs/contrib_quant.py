"""com.microsoft: quantised operators."""

from functools import partial

import numpy as np

from fuzz.case import Const
from fuzz.registry import CONTRIB, op, op_each

from .conv_pool import image, padding, stated, window
from .matmul import matmul_shapes
from .quant import full, integer_conv, integer_pair, scale_of, zero_point
from .rnn import some_outputs

ms = partial(op, domain=CONTRIB)
ms_each = partial(op_each, domain=CONTRIB)


def eight(d):
    return d.choice(["uint8", "int8"])


def coarse(d):
    """Returns an output scale so large that only some results saturate."""
    return scale_of(d, low=0.05, high=0.5)


@ms_each(["QLinearAdd", "QLinearMul"], weight=2)
def qlinear_binary(d):
    dtype = eight(d)
    left, right = d.broadcast(2, low=1)
    inputs = [full(d, dtype, left), scale_of(d), zero_point(d, dtype),
              full(d, dtype, right), scale_of(d), zero_point(d, dtype), coarse(d), d.maybe(zero_point(d, dtype), 0.8)]
    return d.case(inputs, const=0.6, off_by_one=True)


@ms_each(["QLinearSigmoid", "QLinearLeakyRelu"])
def qlinear_unary(d):
    dtype = eight(d)
    attrs = {"alpha": d.maybe(d.uniform(0.01, 0.5))} if d.op.name == "QLinearLeakyRelu" else {}
    y_scale = scale_of(d, low=1 / 256, high=0.02) if d.op.name == "QLinearSigmoid" else coarse(d)
    # The last zero point is always present, because onnxruntime aborts the process without it.
    inputs = [full(d, dtype, d.shape(1, 4)), scale_of(d), d.maybe(zero_point(d, dtype), 0.8), y_scale, zero_point(d, dtype)]
    return d.case(inputs, attrs, const=0.6, off_by_one=True)


@ms("QLinearSoftmax")
def qlinear_softmax(d):
    dtype = eight(d)
    shape = d.shape(2, 4, zero=0)
    version = d.choice([11, 13])
    axis = d.axis(len(shape)) if version == 13 else d.int(0, len(shape) - 1)
    zero = np.array(0 if dtype == "uint8" else -128, d.tensor(dtype, []).dtype)
    inputs = [full(d, dtype, shape), Const(scale_of(d)), Const(zero_point(d, dtype)),
              Const(d.scalar("float", 1 / 256)), Const(zero)]
    return d.case(inputs, {"axis": axis, "opset": version}, off_by_one=True)


@ms("QLinearAveragePool", weight=2)
def qlinear_average_pool(d):
    dtype = eight(d)
    rank, sizes = image(d)
    kernel, strides, _ = window(d, rank, sizes, dilate=False)
    last = d.chance(0.4)
    attrs = {"kernel_shape": kernel, **stated(d, "strides", strides), **padding(d, kernel, [1] * rank),
             "count_include_pad": d.maybe(d.int(0, 1)), "ceil_mode": d.maybe(d.int(0, 1)),
             "channels_last": 1 if last else d.maybe(0)}
    channels = d.size(5)
    shape = [d.int(1, 2), *sizes, channels] if last else [d.int(1, 2), channels, *sizes]
    inputs = [full(d, dtype, shape), scale_of(d), zero_point(d, dtype), scale_of(d), d.maybe(zero_point(d, dtype))]
    return d.case(inputs, attrs, const=0.6, off_by_one=True)


@ms("QLinearGlobalAveragePool")
def qlinear_global_average_pool(d):
    dtype = eight(d)
    _, sizes = image(d)
    last = d.chance(0.4)
    channels = d.size(9)
    shape = [d.int(1, 2), *sizes, channels] if last else [d.int(1, 2), channels, *sizes]
    inputs = [full(d, dtype, shape), scale_of(d), zero_point(d, dtype), scale_of(d, low=0.01, high=0.05), zero_point(d, dtype)]
    return d.case(inputs, {"channels_last": 1 if last else d.maybe(0)}, const=0.6, off_by_one=True)


@ms("QLinearConcat")
def qlinear_concat(d):
    dtype = eight(d)
    shape = d.shape(1, 4, zero=0)
    axis = d.int(0, len(shape) - 1)
    inputs = [Const(scale_of(d)), Const(zero_point(d, dtype))]
    for _ in range(d.int(1, 3)):
        shape[axis] = d.int(1, 4)
        inputs += [full(d, dtype, shape), Const(scale_of(d)), Const(zero_point(d, dtype))]
    return d.case(inputs, {"axis": d.sign_axis(axis, len(shape))}, off_by_one=True)


@ms("QLinearWhere")
def qlinear_where(d):
    dtype = eight(d)
    c, x, y = d.broadcast(3, low=1)
    inputs = [d.tensor("bool", c), full(d, dtype, x), scale_of(d), zero_point(d, dtype), full(d, dtype, y), scale_of(d),
              zero_point(d, dtype), scale_of(d), zero_point(d, dtype)]
    inputs = [Const(v) if i in (2, 3, 5, 6, 7, 8) else v for i, v in enumerate(inputs)]
    return d.case(inputs, off_by_one=True)


@ms("QLinearConv", weight=2)
def qlinear_conv(d):
    """Unlike ONNX's QLinearConv, the operator of com.microsoft has an attribute channels_last."""
    left, right = "uint8", d.choice(["uint8", "int8"])
    x, w, attrs = integer_conv(d, left, right)
    if d.chance(0.5):
        attrs["channels_last"] = 1
        x = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    bias = d.maybe(d.tensor("int32", [w.shape[0]], low=-2000, high=2000))
    inputs = [x, scale_of(d), zero_point(d, left), w, scale_of(d), zero_point(d, right), scale_of(d, low=0.5, high=4),
              zero_point(d, left), bias]
    return d.case(inputs, attrs, const=0.4, off_by_one=True)


@ms("QGemm", weight=2)
def qgemm(d):
    left, right = integer_pair(d)
    if left == "int8":
        right = "int8"
    m, k, n = (d.size(12) for _ in range(3))
    ta, tb = d.int(0, 1), d.int(0, 1)
    columns = [n] if d.chance(0.4) else ()
    quantised = d.chance(0.6)
    inputs = [full(d, left, [k, m] if ta else [m, k]), scale_of(d), zero_point(d, left),
              full(d, right, [n, k] if tb else [k, n]), scale_of(d, columns), zero_point(d, right, columns),
              d.maybe(d.tensor("int32", d.choice([[n], [1, n], [m, n]]), low=-500, high=500)),
              scale_of(d, low=0.5, high=4) if quantised else None, zero_point(d, left) if quantised else None]
    attrs = {"transA": ta or d.maybe(0), "transB": tb or d.maybe(0), "alpha": d.maybe(1.0)}
    return d.case(inputs, attrs, const=0.4, off_by_one=True, scale=100)


@ms("MatMulIntegerToFloat", weight=2)
def matmul_integer_to_float(d):
    left, right = integer_pair(d)
    if left == "int8":
        right = "int8"
    a, b = matmul_shapes(d, dim=12, rank=3)
    a, b = (a if len(a) > 1 else [1, *a]), (b if len(b) > 1 else [*b, 1])
    columns = [b[-1]] if d.chance(0.4) and len(b) == 2 else ()
    inputs = [full(d, left, a), full(d, right, b), scale_of(d), scale_of(d, columns), d.maybe(zero_point(d, left)),
              d.maybe(zero_point(d, right, columns)), d.maybe(d.tensor("float", [b[-1]]))]
    return d.case(inputs, const=0.4, scale=100)


@ms("DynamicQuantizeMatMul", weight=2)
def dynamic_quantize_matmul(d):
    """The tolerance is large, because a value of A halfway between two quantization steps may round up or down."""
    a, b = matmul_shapes(d, dim=12, rank=3)
    a, b = (a if len(a) > 1 else [1, *a]), (b if len(b) > 1 else [*b, 1])
    right = eight(d)
    columns = [b[-1]] if d.chance(0.4) and len(b) == 2 else ()
    inputs = [d.tensor("float", a), full(d, right, b), scale_of(d, columns, low=0.005, high=0.02),
              d.maybe(zero_point(d, right, columns)), d.maybe(d.tensor("float", [b[-1]]))]
    return d.case(inputs, const=0.4, atol=0.06)


@ms("DynamicQuantizeLSTM", weight=2)
def dynamic_quantize_lstm(d):
    steps, batch, size, hidden = d.int(1, 4), d.int(1, 3), d.int(1, 6), d.int(1, 6)
    direction = d.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    kind = eight(d)
    # With these zero points, some weights are positive and some negative. If all weights were positive, each step
    # of the recurrence would amplify the quantization error.
    zero = lambda: np.full([ways], 0 if kind == "int8" else 128, d.tensor(kind, []).dtype)  # noqa: E731
    weight = lambda rows: Const(full(d, kind, [ways, rows, 4 * hidden]))  # noqa: E731
    scale = lambda: Const(scale_of(d, [ways], low=0.002, high=0.01))  # noqa: E731
    inputs = [d.tensor("float", [steps, batch, size]), weight(size), weight(hidden),
              d.maybe(d.tensor("float", [ways, 8 * hidden], spread=0.5)), None,
              d.maybe(d.tensor("float", [ways, batch, hidden], spread=0.5)),
              d.maybe(d.tensor("float", [ways, batch, hidden], spread=0.5)), None,
              scale(), Const(zero()), scale(), Const(zero())]
    attrs = {"hidden_size": hidden, "direction": direction}
    return d.case(inputs, attrs, outputs=some_outputs(d, 3), atol=0.03)


@ms("MatMulNBits", weight=4)
def matmul_nbits(d):
    dtype = d.choice(["float", "float", "float16"])
    bits = d.choice([4, 4, 4, 8])
    block = d.choice([16, 32, 64])
    k, n = d.choice([16, 32, 48, 64, 96, 40]), d.choice([1, 3, 8, 17, 32])
    blocks = -(-k // block)
    packed = d.tensor("uint8", [n, blocks, block * bits // 8], low=0, high=255)
    scales = d.tensor(dtype, [n * blocks] if d.chance(0.5) else [n, blocks], low=0.01, high=0.1)
    zero = d.maybe(Const(d.tensor("uint8", [n * -(-blocks * bits // 8)], low=0, high=255)))
    # Level 4 (accuracy_level) permits an engine to quantize A to eight bits. The error depends on the engine.
    level = d.maybe(d.choice([0, 1, 4]))
    attrs = {"K": k, "N": n, "bits": bits, "block_size": block, "accuracy_level": level}
    inputs = [d.tensor(dtype, [*d.shape(0, 2, dim=3, zero=0), d.int(1, 4), k]), Const(packed), Const(scales), zero]
    bias = d.maybe(Const(d.tensor(dtype, [n])), 0.3)
    if bias is not None:
        inputs += [None, bias]
    loose = (2 ** bits) * 0.1 * k ** 0.5 * (0.02 if level == 4 else 5e-4)
    return d.case(inputs, attrs, atol=loose, rtol=2e-2 if level == 4 else 2e-3)


@ms("QuantizeLinear")
def quantize_linear(d):
    target = d.choice(["uint8", "int8", "uint16", "int16"])
    inputs = [d.tensor("float", d.shape(0, 4), spread=4), scale_of(d), zero_point(d, target)]
    return d.case(inputs, off_by_one=True)


@ms("DequantizeLinear")
def dequantize_linear(d):
    source = d.choice(["uint8", "int8", "uint16", "int16"])
    return d.case([full(d, source, d.shape(0, 4)), scale_of(d), zero_point(d, source)])
