"""com.microsoft: activations and fused arithmetic."""

from functools import partial

import numpy as np

from fuzz.registry import CONTRIB, op, op_each

from .conv_pool import conv_attrs, conv_inputs, image, stated, window
from .matmul import matmul_shapes, well_conditioned

ms = partial(op, domain=CONTRIB)
ms_each = partial(op_each, domain=CONTRIB)


def half(d):
    """Returns float or float16. For float16, onnxruntime casts to float and runs the float kernel."""
    return d.dtype("T", only=("float", "float16"))


@ms("Gelu")
def gelu(d):
    return d.case([d.tensor(half(d), d.shape(1, 4), low=-5, high=5)])


@ms("QuickGelu")
def quick_gelu(d):
    return d.case([d.tensor(half(d), d.shape(1, 4), low=-5, high=5)], {"alpha": d.maybe(d.uniform(0.5, 2))})


@ms("BiasGelu")
def bias_gelu(d):
    dtype, shape = half(d), d.shape(1, 4, zero=0)
    return d.case([d.tensor(dtype, shape, low=-5, high=5), d.tensor(dtype, shape[-1:])])


@ms("FastGelu")
def fast_gelu(d):
    dtype, shape = half(d), d.shape(1, 4, zero=0)
    return d.case([d.tensor(dtype, shape, low=-5, high=5), d.maybe(d.tensor(dtype, shape[-1:]))])


@ms("SampleOp", weight=0.3)
def sample_op(d):
    """SampleOp returns its input. It is onnxruntime's example of a custom operator."""
    return d.case([d.tensor("float", d.shape())])


def fused_activation(d):
    name = d.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"])
    params = {"LeakyRelu": [d.uniform(0.01, 0.5)], "Clip": [-0.5, 0.8], "HardSigmoid": [0.2, 0.5]}.get(name)
    return {"activation": name, "activation_params": params}


@ms("FusedConv", weight=3)
def fused_conv(d):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes)
    x, w, group = conv_inputs(d, "float", sizes, kernel)
    bias = d.maybe(d.tensor("float", [w.shape[0]]))
    attrs = conv_attrs(d, group, kernel, strides, dilations) | fused_activation(d)
    return d.case([x, w, bias], attrs, const=0.4, scale=20)


@ms("FusedGemm", weight=2)
def fused_gemm(d):
    m, k, n = (d.int(1, 9) for _ in range(3))
    ta, tb = d.int(0, 1), d.int(0, 1)
    attrs = {"transA": ta, "transB": tb, "alpha": d.maybe(d.uniform(-2, 2)), "beta": d.maybe(d.uniform(-2, 2)),
             "activation": d.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu"])}
    if attrs["activation"] == "LeakyRelu":
        attrs["activation_alpha"] = d.uniform(0.01, 0.5)
    inputs = [d.tensor("float", [k, m] if ta else [m, k]), d.tensor("float", [n, k] if tb else [k, n]),
              d.maybe(d.tensor("float", d.choice([[m, n], [n], [1, n], [m, 1]])))]
    return d.case(inputs, attrs, scale=10)


def transposed(d, shape, flag):
    return [*shape[:-2], shape[-1], shape[-2]] if flag and len(shape) > 1 else shape


@ms("FusedMatMul", weight=3)
def fused_matmul(d):
    dtype = d.dtype("T", only=("float", "double", "float16"))
    a, b = matmul_shapes(d)
    ta, tb = d.int(0, 1), d.int(0, 1)
    if len(a) == 1:
        ta = 0
    if len(b) == 1:
        tb = 0
    attrs = {"transA": ta or d.maybe(0), "transB": tb or d.maybe(0), "alpha": d.maybe(d.uniform(-2, 2))}
    if len(a) == len(b) >= 3 and a[:-2] == b[:-2] and 0 not in a and d.chance(0.3):  # onnxruntime crashes if a dim is 0
        return batch_transposed(d, dtype, a, b, attrs)
    return d.case([d.tensor(dtype, transposed(d, a, ta)), d.tensor(dtype, transposed(d, b, tb))], attrs, scale=20)


def batch_transposed(d, dtype, a, b, attrs):
    """Draws a case with transBatchA or transBatchB. The matrix [m, k] with the batch dimension b is then [m, b, k]
    instead of [b, m, k]."""
    shapes = []
    for shape, key, flip in ((a, "transBatchA", attrs["transA"]), (b, "transBatchB", attrs["transB"])):
        shape = transposed(d, shape, flip)
        if d.chance(0.5):
            attrs[key] = 1
            shape = [shape[-2], *shape[:-2], shape[-1]]
        shapes.append(shape)
    return d.case([d.tensor(dtype, s) for s in shapes], attrs, scale=20)


@ms("TransposeMatMul")
def transpose_matmul(d):
    a, b = matmul_shapes(d)
    ta, tb = (d.int(0, 1) if len(s) > 1 else 0 for s in (a, b))
    attrs = {"transA": ta, "transB": tb, "alpha": d.maybe(d.uniform(-2, 2))}
    return d.case([d.tensor("float", transposed(d, a, ta)), d.tensor("float", transposed(d, b, tb))], attrs, scale=20)


@ms("Inverse")
def inverse(d):
    dtype = d.dtype("T", only=("float", "double", "float16"))
    x = well_conditioned(d, "float" if dtype == "float16" else dtype, d.shape(0, 2, zero=0), d.int(1, 5))
    return d.case([x.astype(d.tensor(dtype, []).dtype)])


@ms("CDist")
def cdist(d):
    dtype = d.dtype("T", only=("float", "double"))
    width = d.int(1, 9)
    # onnxruntime computes |a|^2 - 2ab + |b|^2, which loses digits if two points nearly coincide.
    inputs = [d.tensor(dtype, [d.int(1, 6), width]), d.tensor(dtype, [d.int(1, 6), width])]
    return d.case(inputs, {"metric": d.choice(["euclidean", "sqeuclidean"])}, scale=100)


@ms("MatMulInteger16")
def matmul_integer16(d):
    a, b = matmul_shapes(d, rank=3)
    return d.case([d.tensor("int16", a, low=-99, high=99), d.tensor("int16", b, low=-99, high=99)])


@ms("Trilu")
def trilu(d):
    x = d.tensor(d.dtype("T", only=("float", "double", "int64")), d.shape(2, 4, zero=0))
    return d.case([x, d.maybe(d.ints(d.int(-5, 5)))], {"upper": d.maybe(d.int(0, 1))})


@ms("Range")
def range_(d):
    dtype = d.dtype("T", without=("float16",))
    start, delta = d.int(-9, 9), d.choice([1, 2, 3, -1])
    limit = start + delta * d.int(0, 9)
    return d.case([d.scalar(dtype, start), d.scalar(dtype, limit), d.scalar(dtype, delta)])


@ms("GatedAdd")
def gated_add(d):
    dtype, shape = half(d), d.shape(1, 4, zero=0)
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, shape), d.tensor(dtype, [*shape[:-1], 1])])


@ms("GatedRMSNorm")
def gated_rms_norm(d):
    dtype, shape = half(d), d.shape(2, 4, zero=0)
    attrs = {"activation": d.maybe(d.choice(["silu", "swish", "sigmoid"])), "epsilon": d.maybe(d.uniform(1e-5, 1e-2))}
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, shape[-1:]), d.tensor(dtype, shape)], attrs, scale=100)


@ms("ScaledSiLU")
def scaled_silu(d):
    return d.case([d.tensor("float", d.shape(1, 4, zero=0))])


@ms("NhwcMaxPool")
def nhwc_max_pool(d):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes)
    attrs = {"kernel_shape": kernel, **stated(d, "strides", strides), **stated(d, "dilations", dilations),
             "pads": d.maybe([d.int(0, k - 1) for k in kernel * 2]), "ceil_mode": d.maybe(d.int(0, 1))}
    x = d.tensor(d.choice(["uint8", "int8"]), [d.int(1, 2), *sizes, d.int(1, 4)], wide=True)
    return d.case([x], attrs)


@ms("MaxpoolWithMask")
def maxpool_with_mask(d):
    sizes = [d.int(3, 7), d.int(3, 7)]
    kernel = [d.int(1, 3), d.int(1, 3)]
    shape = [d.int(1, 2), d.int(1, 3), *sizes]
    attrs = {"kernel_shape": kernel, "strides": d.maybe([d.int(1, 2), d.int(1, 2)]),
             "pads": d.maybe([d.int(0, k - 1) for k in kernel * 2])}
    return d.case([d.tensor("float", shape), d.tensor("int32", shape, low=1, high=1)], attrs)


@ms("CropAndResize")
def crop_and_resize(d):
    batch, count = d.int(1, 2), d.int(1, 3)
    x = d.tensor("float", [batch, d.int(1, 3), d.int(2, 6), d.int(2, 6)])
    low, high = d.tensor("float", [count, 2], low=-0.1, high=0.4), d.tensor("float", [count, 2], low=0.5, high=1.1)
    attrs = {"mode": d.maybe(d.choice(["bilinear", "nearest"])), "extrapolation_value": d.maybe(d.uniform(-1, 1))}
    return d.case([x, np.concatenate([low, high], axis=1), d.tensor("int32", [count], low=0, high=batch - 1),
                   d.ints([d.int(1, 5), d.int(1, 5)], "int32")], attrs, const=0.1)


@ms("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(d):
    rank, sizes = image(d)
    kernel, strides, dilations = window(d, rank, sizes)
    x = d.tensor("float", [d.int(1, 2), d.int(1, 3), *sizes])
    w = d.tensor("float", [x.shape[1], d.int(1, 3), *kernel])
    pads = d.ints([d.int(0, (k - 1) * q) for k, q in zip(kernel * 2, dilations * 2)])
    attrs = {**stated(d, "strides", strides), **stated(d, "dilations", dilations), "kernel_shape": d.maybe(kernel)}
    return d.case([x, w, pads, d.maybe(d.tensor("float", [w.shape[1]]))], attrs, scale=20)
