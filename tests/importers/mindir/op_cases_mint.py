"""The primitives of mindspore.mint, which MindSpore exports but mostly does not run on the CPU. See op_cases.py."""

import mindspore as ms
import numpy as np
from mindspore import ops
from op_cases import bools, case, f, i32, i64, pos, unit

F = "mint.nn.functional"


def by(function):
    """Computes the expected result with a function of mindspore.ops that runs on the CPU."""
    return lambda *arrays: function(*map(ms.Tensor, arrays))


def transposed_conv(x, w, stride, pad, extra):
    """A transposed convolution by its definition. w is [C, M, kernel, kernel]."""
    n, c, h, width = x.shape
    k = w.shape[2]
    full = np.zeros((n, w.shape[1], (h - 1) * stride + k + extra, (width - 1) * stride + k + extra), np.float32)
    for i in range(h):
        for j in range(width):
            full[:, :, i * stride : i * stride + k, j * stride : j * stride + k] += np.einsum("nc,cmkl->nmkl", x[:, :, i, j], w)
    return full[:, :, pad : full.shape[2] - pad, pad : full.shape[3] - pad]


def elementwise():
    for name, inputs in {"asin": unit, "acos": unit, "atan": f, "asinh": f}.items():
        case(f"{name.title()}Ext", "", f"mint.{name}(x)", want=getattr(np, {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}[name]), x=inputs(2, 3))
    case("SeLUExt", "", f"{F}.selu(x)", want=by(ops.selu), x=f(2, 3))
    case("Atan2Ext", "", "mint.atan2(x, y)", want=np.arctan2, x=f(2, 3), y=f(2, 3))
    case("FmodTensor", "", "mint.fmod(x, y)", want=np.fmod, x=f(2, 3), y=pos(2, 3))
    case("RemainderTensorTensor", "", "mint.remainder(x, y)", want=np.mod, x=f(2, 3), y=pos(2, 3))
    case("BitwiseAndTensor", "", "mint.bitwise_and(x, y)", want=np.bitwise_and, x=i32(2, 3), y=i32(2, 3))
    case("BitwiseOrScalar", "", "mint.bitwise_or(x, 6)", want=lambda x: x | 6, x=i32(2, 3))
    case("BitwiseXorTensor", "", "mint.bitwise_xor(x, y)", want=np.bitwise_xor, x=i32(2, 3), y=i32(2, 3))
    case("BitwiseNot", "", "mint.bitwise_not(x)", want=np.bitwise_not, x=i32(2, 3))
    case("Select", "", "mint.where(m, x, y)", want=lambda m, x, y: np.where(m, x, y), m=bools(2, 3), x=f(2, 3), y=f(3))
    case("Lerp", "", "mint.lerp(x, y, 0.25)", want=lambda x, y: x + 0.25 * (y - x), x=f(2, 3), y=f(2, 3))
    case("Swiglu", "", "G.Swiglu()(x, 1)", want=lambda x: x[:, :2] / (1 + np.exp(-x[:, :2])) * x[:, 2:], x=f(3, 4))
    case("AddcmulExt", "", "mint.addcmul(x, y, z, value=2)", want=lambda x, y, z: x + 2 * y * z, x=f(2, 3), y=f(2, 3), z=f(2, 3))
    case("AddcdivExt", "", "mint.addcdiv(x, y, z, value=2)", want=lambda x, y, z: x + 2 * y / z, x=f(2, 3), y=f(2, 3), z=pos(2, 3))


def reductions():
    case("ReduceAny", "", "mint.any(x)", want=np.any, x=bools(2, 3))
    case("ReduceAny", "", "mint.any(x, 1)", want=lambda x: x.any(1), x=bools(4, 3))
    case("Norm", "", "G.Norm()(x, 2.0, (1,), False, None)", want=lambda x: np.sqrt((x * x).sum(1)), x=f(3, 4))
    case("LinalgVectorNorm", "", "mint.linalg.vector_norm(x, 3.0, 1, True)", want=lambda x: (np.abs(x) ** 3).sum(1, keepdims=True) ** (1 / 3), x=f(3, 4))
    case("VarMean", "", "mint.var_mean(x, dim=1, correction=0)", want=lambda x: [x.var(1), x.mean(1)], x=f(3, 4))
    case("StdMean", "", "mint.std_mean(x, dim=0)", want=lambda x: [x.std(0, ddof=1), x.mean(0)], x=f(3, 4))


def shapes():
    case("TExt", "", "mint.t(x)", want=lambda x: x.T, x=f(2, 3))
    case("SelectExtView", "", "mint.select(x, 1, 2)", want=lambda x: x[:, 2], x=f(2, 3, 4))
    case("UnstackExtView", "", "mint.unbind(x, 1)", want=lambda x: [x[:, i] for i in range(3)], x=f(2, 3, 4))
    case("TrilExt", "", "mint.tril(x, -1)", want=lambda x: np.tril(x, -1), x=f(3, 4))
    case("FullLike", "", "mint.full_like(x, 2.5)", want=lambda x: np.full_like(x, 2.5), x=f(2, 3))
    case("Repeat", "", "G.Repeat()(x, (2, 1, 3))", want=lambda x: np.tile(x, (2, 1, 3)), x=f(2, 3))
    for mode, primitive in {"reflect": "Reflection", "replicate": "Replication"}.items():
        numpy_mode = {"reflect": "reflect", "replicate": "edge"}[mode]
        case(f"{primitive}Pad1D", "", f"{F}.pad(x, (1, 2), '{mode}')", want=lambda x, m=numpy_mode: np.pad(x, ((0, 0), (0, 0), (1, 2)), m), x=f(1, 2, 4))
        case(f"{primitive}Pad2D", "", f"{F}.pad(x, (1, 2, 0, 1), '{mode}')", want=lambda x, m=numpy_mode: np.pad(x, ((0, 0), (0, 0), (0, 1), (1, 2)), m), x=f(1, 2, 4, 5))


def indices():
    where = np.array([[0, 2], [3, 1]], np.int64)
    case("OneHotExt", "", f"{F}.one_hot(x, 4)", want=lambda x: np.eye(4, dtype=np.int64)[x], x=i64(3, low=0, high=4))
    case("Scatter", "", "mint.scatter(x, 1, y, u)", want=by(lambda x, y, u: ops.tensor_scatter_elements(x, y, u, 1)), x=f(2, 4), y=where, u=f(2, 2))
    case("ScatterValue", "", "mint.scatter(x, 1, y, 7.0)", want=lambda x, y: np.put_along_axis(z := x.copy(), y, 7.0, 1) or z, x=f(2, 4), y=where)
    case("IndexAddExt", "", "mint.index_add(x, 0, y, u, alpha=2)", want=lambda x, y, u: np.add.at(z := x.copy(), y, 2 * u) or z, x=f(4, 2), y=np.array([3, 0, 3], np.int64), u=f(3, 2))


def images():
    x, w, b = f(1, 4, 7, 6), f(6, 2, 3, 3), f(6)
    case("Conv2DExt", "", f"{F}.conv2d(x, w, b, stride=2, padding=1, groups=2)", want=by(lambda x, w, b: ops.conv2d(x, w, b, stride=2, pad_mode="pad", padding=1, groups=2)), x=x, w=w, b=b)
    case("Convolution", "", f"{F}.conv2d(x, w, padding='same', dilation=2, groups=2)", want=by(lambda x, w: ops.conv2d(x, w, pad_mode="same", dilation=2, groups=2)), x=x, w=w)
    case("Conv1DExt", "", f"{F}.conv1d(x, w, padding=1)", want=by(lambda x, w: ops.conv1d(x, w, pad_mode="pad", padding=1)), x=f(1, 2, 8), w=f(3, 2, 3))
    case("Conv3DExt", "", f"{F}.conv3d(x, w, stride=2)", want=by(lambda x, w: ops.conv3d(x, w, pad_mode="valid", stride=2)), x=f(1, 2, 5, 6, 6), w=f(3, 2, 3, 3, 3))
    case("ConvTranspose2D", "", f"{F}.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)", want=lambda x, w: transposed_conv(x, w, 2, 1, 1), x=f(1, 3, 4, 5), w=f(3, 2, 3, 3))
    case("AvgPool2D", "", f"{F}.avg_pool2d(x, 3, 2, 1, count_include_pad=True)", want=by(lambda x: ops.avg_pool2d(ops.pad(x, [1, 1, 1, 1]), 3, 2)), x=x)
    case("AvgPool1D", "", f"{F}.avg_pool1d(x, 2, 2)", want=lambda x: x.reshape(1, 2, 4, 2).mean(3), x=f(1, 2, 8))
    for size in ((2, 3), 1):
        case("AdaptiveAvgPool2DExt", "", f"{F}.adaptive_avg_pool2d(x, {size})", want=by(lambda x, s=size: ops.adaptive_avg_pool2d(x, s)), x=x)
    case("AdaptiveAvgPool1D", "", f"{F}.adaptive_avg_pool1d(x, 3)", want=lambda x: np.stack([x[..., 0:3].mean(-1), x[..., 2:6].mean(-1), x[..., 5:8].mean(-1)], -1), x=f(1, 2, 8))
    case("UpsampleNearest2D", "", f"{F}.interpolate(x, size=(9, 5), mode='nearest')", want=by(lambda x: ops.interpolate(x, size=(9, 5), mode="nearest")), x=x)
    for align in (True, False):
        case("UpsampleBilinear2D", "", f"{F}.interpolate(x, size=(9, 11), mode='bilinear', align_corners={align})", want=by(lambda x, a=align: ops.interpolate(x, size=(9, 11), mode="bilinear", align_corners=a)), x=x)
    case("UpsampleBilinear2D", "", f"{F}.interpolate(x, size=(1, 1), mode='bilinear', align_corners=False)", want=lambda x: x[:, :, 3:4, 2:4].mean(-1, keepdims=True), x=x)
    case("BatchNormExt", "", f"{F}.batch_norm(x, m, v, s, b)", want=lambda x, m, v, s, b: ((x.T - m[:, None]) / np.sqrt(v[:, None] + 1e-5) * s[:, None] + b[:, None]).T, x=f(5, 3), m=f(3), v=pos(3), s=f(3), b=f(3))


for family in (elementwise, reductions, shapes, indices, images):
    family()
