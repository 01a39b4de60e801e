"""The table of primitives that test_ops.py checks.

A case is (constructor, call, inputs, want). The constructor makes `op`; if it is empty, the call uses functions of mindspore.ops
(`ops`), of mindspore.mint (`mint`) or of the generated primitives (`G`). The call is an expression of op and the inputs. `want`
computes the result with numpy, for primitives that MindSpore does not run on the CPU; otherwise it is None.
"""

import math

import numpy as np

CASES = {}
_random = np.random.default_rng(0)


def f(*shape, low=-2.0, high=2.0):
    return _random.uniform(low, high, shape).astype(np.float32)


def pos(*shape):
    return f(*shape, low=0.1, high=3.0)


def unit(*shape):
    return f(*shape, low=-0.95, high=0.95)


def i32(*shape, low=-5, high=6):
    return _random.integers(low, high, shape).astype(np.int32)


def i64(*shape, low=-5, high=6):
    return _random.integers(low, high, shape).astype(np.int64)


def bools(*shape):
    return _random.integers(0, 2, shape).astype(bool)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def case(primitive, constructor, call, want=None, **inputs):
    CASES.setdefault(primitive, []).append((constructor, call, inputs, want))


def layer_norm(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def scatter_add(x, index, updates):
    y = x.copy()
    for position, update in zip(np.ndindex(*index.shape), updates.flat):
        y[position[0], index[position]] += update
    return y


def patches(x):
    """Blocks of 2 x 2 at distances (2, 1), the position in the block before the channel."""
    return np.concatenate([x[:, :, i : i + 5 : 2, j : j + 4] for i in (0, 1) for j in (0, 1)], 1)


def unary(names, *arrays):
    for name in names.split():
        for array in arrays:
            case(name, f"P.{name}()", "op(x)", x=array)


def binary(names, *pairs):
    for name in names.split():
        for a, b in pairs:
            case(name, f"P.{name}()", "op(x, y)", x=a, y=b)


def elementwise():
    unary("Abs Neg Sign", f(2, 3), i32(4), scalar(1.5))
    unary("Ceil Floor Exp Sin Cos Tan Atan Sinh Cosh Tanh Asinh Erf Erfc Sigmoid ReLU Softplus Softsign HSwish Mish Expm1 Rint Trunc", f(2, 3), f(4, 1, 2))
    unary("Sqrt Reciprocal Log Log1p Rsqrt Inv", pos(2, 3), pos(5))
    unary("Asin ACos Atanh", unit(2, 3))
    unary("Acosh", f(2, 3, low=1.1, high=4))
    unary("ReLU6 HSigmoid SeLU GeLU FastGeLU", f(2, 3) * 4, f(1, 2, 3, 4) * 3)
    unary("Square", f(2, 3), i32(4))
    unary("LogicalNot", bools(2, 3))
    unary("Invert", i32(2, 3))
    odd = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    unary("IsNan IsInf IsFinite", odd)
    case("Elu", "P.Elu(1.0)", "op(x)", x=f(2, 3))
    case("CeLU", "P.CeLU(1.5)", "op(x)", x=f(2, 3))
    case("SoftShrink", "P.SoftShrink(0.3)", "op(x)", x=f(2, 3))
    case("HShrink", "P.HShrink(0.3)", "op(x)", x=f(2, 3))
    case("PReLU", "P.PReLU()", "op(x, w)", x=f(2, 3, 4), w=pos(3))
    case("PReLU", "P.PReLU()", "op(x, w)", x=f(2, 3, 4, 5), w=pos(1))
    for name, want in {"Log2": np.log2, "Log10": np.log10, "Exp2": np.exp2, "Frac": lambda x: x - np.trunc(x), "Sinc": np.sinc}.items():
        case(name, "", f"mint.{name.lower()}(x)", want=want, x=pos(2, 3))
    case("SiLU", "", "ops.silu(x)", x=f(2, 3))
    case("LogSigmoid", "", "G.LogSigmoid()(x)[0]", want=lambda x: -np.log1p(np.exp(-x)), x=f(2, 3))
    case("Round", "", "mint.round(x)", x=np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.4], np.float32))
    case("Round", "", "mint.round(x, decimals=2)", want=lambda x: x.round(2), x=f(3, 4))
    case("NanToNum", "", "ops.nan_to_num(x, 1.0, 2.0, -3.0)", x=odd)
    erf = np.vectorize(math.erf)
    case("GeluExt", "", "mint.nn.functional.gelu(x)", want=lambda x: x * (1 + erf(x / np.sqrt(2))) / 2, x=f(2, 3))
    case("GeluExt", "", "mint.nn.functional.gelu(x, approximate='tanh')", want=lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2, x=f(2, 3))
    case("Logit", "P.Logit(1e-3)", "op(x)", x=f(2, 3, low=0.1, high=0.9))
    case("Threshold", "", "mint.nn.functional.threshold(x, 0.5, 7.0)", want=lambda x: np.where(x > 0.5, x, 7), x=f(2, 3))
    case("Hardtanh", "", "mint.nn.functional.hardtanh(x, -1.0, 0.5)", want=lambda x: x.clip(-1, 0.5), x=f(2, 3))
    case("SoftplusExt", "", "mint.nn.functional.softplus(x, 2.0, 1.0)", x=f(2, 3))
    case("LeakyReLUExt", "", "mint.nn.functional.leaky_relu(x, 0.2)", want=lambda x: np.where(x > 0, x, 0.2 * x), x=f(2, 3))
    case("EluExt", "", "mint.nn.functional.elu(x, 0.7)", want=lambda x: np.where(x > 0, x, 0.7 * np.expm1(x)), x=f(2, 3))
    case("MishExt", "", "mint.nn.functional.mish(x)", want=lambda x: x * np.tanh(np.log1p(np.exp(x))), x=f(2, 3))
    case("GLU", "P.GLU(axis=1)", "op(x)", x=f(2, 4, 3))
    for to in ("float16", "int32", "int8", "uint8", "bool_", "float64", "int64"):
        case("Cast", "P.Cast()", f"op(x, ms.{to})", x=pos(2, 3) * 3)
    case("Cast", "P.Cast()", "op(x, ms.float32)", x=i32(2, 3))


def two_operands():
    pairs = [(f(2, 3), f(2, 3)), (f(2, 3), f(3)), (f(4, 1, 2), f(3, 1))]
    whole = [(i32(2, 3), i32(2, 3)), (i64(4), i64(1))]
    binary("Add Sub Mul Maximum Minimum", *pairs, *whole)
    binary("SquaredDifference", *pairs)
    positive = [(f(2, 3), pos(2, 3)), (f(2, 3), pos(3))]
    binary("Div RealDiv", *positive, (i32(2, 3), i32(2, 3, low=1)))
    binary("Atan2", *positive, (f(3), -pos(3)))
    binary("Hypot", *positive)
    binary("FloorDiv FloorMod Mod TruncateDiv TruncateMod", *positive, (i32(3, 4), i32(3, 4, low=1)), (i32(6), -i32(6, low=1)))
    binary("DivNoNan", (f(2, 3), i32(2, 3).astype(np.float32)))
    binary("MulNoNan", (f(2, 3), i32(2, 3).astype(np.float32)))
    binary("Xdivy Xlogy", (np.array([0, 1, 2], np.float32), pos(3)))
    binary("Equal NotEqual Less LessEqual Greater GreaterEqual", (i32(3, 4, high=0), i32(3, 4, high=0)), (f(2, 3), f(3)))
    binary("LogicalAnd LogicalOr", (bools(2, 3), bools(3)))
    binary("LogicalXor", (bools(2, 3), bools(2, 3)))
    binary("BitwiseAnd BitwiseOr BitwiseXor", (i32(2, 3), i32(2, 3)))
    binary("ApproximateEqual", (f(2, 3), f(2, 3)))
    case("Pow", "P.Pow()", "op(x, y)", x=pos(2, 3), y=f(2, 3))
    case("Pow", "P.Pow()", "op(x, 2.0)", x=f(2, 3))
    case("Muls", "", "x * 2", x=f(2, 3))
    case("AddScalar", "", "mint.add(x, 2, alpha=3)", x=f(2, 3))
    case("AddExt", "", "mint.add(x, y, alpha=3)", x=f(2, 3), y=f(2, 3))
    case("SubExt", "", "mint.sub(x, y, alpha=2)", x=f(2, 3), y=f(2, 3))
    case("SubScalar", "", "mint.sub(x, 2, alpha=2)", x=f(2, 3))
    case("Divs", "", "mint.div(x, 2)", x=f(2, 3))
    case("DivMod", "", "mint.div(x, y, rounding_mode='floor')", x=f(2, 3), y=pos(2, 3))
    case("DivMod", "", "mint.div(x, y, rounding_mode='trunc')", x=f(2, 3), y=pos(2, 3))
    case("RemainderTensorScalar", "", "mint.remainder(x, 1.5)", x=f(2, 3))
    case("FmodScalar", "", "mint.fmod(x, 1.5)", x=f(2, 3))
    case("PowTensorScalar", "", "mint.pow(x, 2)", x=f(2, 3))
    case("PowScalarTensor", "", "mint.pow(2, x)", x=f(2, 3))
    case("LogAddExp", "", "mint.logaddexp(x, y)", want=np.logaddexp, x=f(2, 3), y=f(2, 3))
    case("IsClose", "", "ops.isclose(x, y)", x=np.array([1, 2, 3], np.float32), y=np.array([1, 2.1, 3.00001], np.float32))
    case("ClampScalar", "", "mint.clamp(x, -0.5, 0.7)", x=f(2, 3))
    case("ClampTensor", "", "mint.clamp(x, y, z)", x=f(2, 3), y=-pos(2, 3), z=pos(2, 3))
    case("AddN", "P.AddN()", "op((x, y, z))", x=f(2, 3), y=f(2, 3), z=f(2, 3))
    case("Lerp", "", "ops.lerp(x, y, z)", x=f(2, 3), y=f(2, 3), z=f(2, 3))
    case("Addcmul", "P.Addcmul()", "op(x, y, z, w)", x=f(2, 3), y=f(2, 3), z=f(2, 3), w=f(1))
    case("Addcdiv", "P.Addcdiv()", "op(x, y, z, w)", x=f(2, 3), y=f(2, 3), z=pos(2, 3), w=f(1))
    case("Select", "P.Select()", "op(c, x, y)", c=bools(2, 3), x=f(2, 3), y=f(2, 3))
    case("MaskedFill", "P.MaskedFill()", "op(x, m, 7.0)", x=f(2, 3), m=bools(2, 3))


def reductions():
    for name in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd".split():
        case(name, f"P.{name}()", "op(x, 1)", x=f(2, 3, 4))
        case(name, f"P.{name}(keep_dims=True)", "op(x, (0, 2))", x=f(2, 3, 4))
        case(name, f"P.{name}()", "op(x, ())", x=f(2, 3))
    for name in "ReduceAll ReduceAny".split():
        case(name, f"P.{name}()", "op(x, 1)", x=bools(4, 3))
        case(name, f"P.{name}(keep_dims=True)", "op(x, ())", x=bools(4, 3))
    case("SumExt", "", "mint.sum(x, dim=1)", x=f(2, 3))
    case("SumExt", "", "mint.sum(x)", x=i32(2, 3))
    case("MeanExt", "", "mint.mean(x, dim=(0, 1), keepdim=True)", x=f(2, 3, 4))
    case("ProdExt", "", "mint.prod(x, dim=1)", x=f(2, 3))
    case("Var", "", "mint.var(x, dim=1, correction=1)", want=lambda x: x.var(1, ddof=1), x=f(3, 4))
    case("Std", "", "mint.std(x, dim=1, correction=0, keepdim=True)", want=lambda x: x.std(1, keepdims=True), x=f(3, 4))
    case("ReduceStd", "", "ops.std(x, axis=1, ddof=True)", x=f(3, 4))
    case("LogSumExp", "", "mint.logsumexp(x, dim=1)", want=lambda x: np.log(np.exp(x).sum(1)), x=f(3, 4))
    case("LpNorm", "P.LpNorm(axis=1, p=3)", "op(x)", x=f(3, 4))
    case("L2Normalize", "P.L2Normalize(axis=1)", "op(x)", x=f(3, 4))
    for name in "CumSum CumProd".split():
        case(name, f"P.{name}()", "op(x, 1)", x=f(3, 4))
        case(name, f"P.{name}(exclusive=True, reverse=True)", "op(x, 0)", x=f(3, 4))
    case("CumsumExt", "", "mint.cumsum(x, 1)", want=lambda x: x.cumsum(1), x=f(3, 4))
    case("Softmax", "P.Softmax(axis=1)", "op(x)", x=f(2, 3, 4))
    case("Softmax", "P.Softmax()", "op(x)", x=f(3, 4))
    case("LogSoftmax", "P.LogSoftmax(1)", "op(x)", x=f(2, 3))
    case("LogSoftmaxExt", "", "mint.nn.functional.log_softmax(x, dim=1)", want=lambda x: x - np.log(np.exp(x).sum(1, keepdims=True)), x=f(2, 3))
    case("Trace", "", "ops.trace(x)", x=f(3, 3))
    case("Max", "", "mint.max(x)", x=f(3, 4))
    case("Min", "", "mint.min(x)", x=f(3, 4))
    case("Argmax", "P.Argmax(axis=1)", "op(x)", x=f(3, 4))
    case("Argmax", "P.Argmax(axis=0, output_type=ms.int64)", "op(x)", x=f(3, 4))
    case("Argmin", "P.Argmin(axis=-1)", "op(x)", x=f(3, 4))
    case("ArgMaxExt", "", "mint.argmax(x, dim=1, keepdim=True)", want=lambda x: x.argmax(1, keepdims=True), x=f(3, 4))
    case("ArgMaxExt", "", "mint.argmax(x)", want=lambda x: x.argmax(), x=f(3, 4))
    case("ArgMinExt", "", "mint.argmin(x, dim=0)", want=lambda x: x.argmin(0), x=f(3, 4))
    case("ArgMaxWithValue", "P.ArgMaxWithValue(axis=1)", "op(x)", x=f(3, 4))
    case("ArgMinWithValue", "P.ArgMinWithValue(axis=0, keep_dims=True)", "op(x)", x=f(3, 4))
    case("MaxDim", "", "mint.max(x, 1)", x=f(3, 4))
    case("MinDim", "", "mint.min(x, 0, True)", x=f(3, 4))
    case("TopK", "P.TopK(sorted=True)", "op(x, 2)", x=f(3, 5))
    case("TopkExt", "", "mint.topk(x, 2, dim=0, largest=False)", want=lambda x: [np.sort(x, 0)[:2], np.argsort(x, 0)[:2]], x=f(3, 5))
    case("Sort", "P.Sort(axis=1)", "op(x)", x=f(3, 5))
    case("Sort", "P.Sort(axis=0, descending=True)", "op(x)", x=f(3, 5))
    case("SortExt", "", "mint.sort(x, dim=1)", want=lambda x: [np.sort(x, 1), np.argsort(x, 1)], x=f(3, 5))
    case("ArgSort", "", "mint.argsort(x, dim=1, descending=True)", want=lambda x: np.argsort(-x, 1), x=f(3, 5))


def shapes():
    case("Flatten", "P.Flatten()", "op(x)", x=f(2, 3, 4))
    case("FlattenExt", "", "mint.flatten(x, 1, 2)", x=f(2, 3, 4, 5))
    case("Reshape", "P.Reshape()", "op(x, (3, -1))", x=f(2, 3, 4))
    case("Transpose", "P.Transpose()", "op(x, (2, 0, 1))", x=f(2, 3, 4))
    case("TransposeExtView", "", "mint.transpose(x, 0, -1)", x=f(2, 3, 4))
    case("ExpandDims", "P.ExpandDims()", "op(x, 1)", x=f(2, 3))
    case("Squeeze", "P.Squeeze()", "op(x)", x=f(1, 3, 1))
    case("Squeeze", "P.Squeeze((0,))", "op(x)", x=f(1, 3, 1))
    case("Concat", "P.Concat(1)", "op((x, y))", x=f(2, 3), y=f(2, 2))
    case("Stack", "P.Stack(axis=1)", "op((x, y))", x=f(2, 3), y=f(2, 3))
    case("StackExt", "", "mint.stack((x, y), -1)", want=lambda x, y: np.stack((x, y), -1), x=f(2, 3), y=f(2, 3))
    case("Unstack", "P.Unstack(axis=1)", "op(x)", x=f(2, 3))
    case("Split", "P.Split(1, 2)", "op(x)", x=f(2, 4))
    case("SplitTensorView", "", "mint.split(x, 2, 1)", x=f(2, 5))
    case("SplitWithSizeView", "", "mint.split(x, (1, 3), 1)", x=f(2, 4))
    case("ChunkView", "", "mint.chunk(x, 3, 1)", x=f(2, 7))
    case("Tile", "P.Tile()", "op(x, (2, 3))", x=f(2, 3))
    case("Tile", "P.Tile()", "op(x, (2, 1, 3))", x=f(2, 3))
    case("BroadcastTo", "P.BroadcastTo((4, 2, 3))", "op(x)", x=f(2, 1))
    case("BroadcastTo", "P.BroadcastTo((4, -1, 3))", "op(x)", x=f(2, 3))
    case("ExpandAs", "", "G.ExpandAs()(x, y)", x=f(3), y=f(2, 3))
    for spec in ("x[1:, :2]", "x[0]", "x[:, -1]", "x[..., 1]", "x[:, ::2]", "x[None, :, 1:3]", "x[-1, 1:, None]", "x[:, 3:0:-1]"):
        case("StridedSlice", "", spec, x=f(3, 4, 5))
    case("StridedSlice", "P.StridedSlice(begin_mask=1, end_mask=2)", "op(x, (1, 0, 1), (2, 1, 4), (1, 1, 2))", x=f(3, 4, 5))
    case("StridedSlice", "P.StridedSlice(shrink_axis_mask=2)", "op(x, (0, 1, 0), (2, 2, 4), (1, 1, 1))", x=f(3, 4, 5))
    case("StridedSlice", "P.StridedSlice()", "op(x, (2, 0, 0), (0, 4, 5), (-1, 1, 2))", x=f(3, 4, 5))
    case("Slice", "P.Slice()", "op(x, (0, 1, 0), (2, 3, 4))", x=f(3, 4, 5))
    case("NarrowView", "", "mint.narrow(x, 1, 1, 2)", x=f(3, 4))
    case("ReverseV2", "P.ReverseV2(axis=[0, 1])", "op(x)", x=f(3, 4))
    case("Roll", "", "ops.roll(x, (1, -1), (0, 1))", want=lambda x: np.roll(x, (1, -1), (0, 1)), x=f(3, 4))
    case("Pad", "P.Pad(((1, 2), (0, 3)))", "op(x)", x=f(2, 3))
    case("MirrorPad", "P.MirrorPad('REFLECT')", "op(x, ms.Tensor([[0, 0], [1, 2]]))", x=f(2, 4))
    case("PadV3", "", "ops.pad(x, [1, 2], mode='constant', value=3.0)", x=f(2, 3))
    case("PadV3", "", "ops.pad(x, [1, 1, 2, 0], mode='reflect')", x=f(1, 2, 4, 5))
    case("PadV3", "", "ops.pad(x, [1, 2], mode='replicate')", x=f(2, 3, 4))
    case("ConstantPadND", "", "mint.nn.functional.pad(x, (1, 2), 'constant', 0.5)", want=lambda x: np.pad(x, ((0, 0), (1, 2)), constant_values=0.5), x=f(2, 3))
    case("SpaceToDepth", "P.SpaceToDepth(2)", "op(x)", x=f(1, 3, 4, 6))
    case("DepthToSpace", "P.DepthToSpace(2)", "op(x)", x=f(1, 8, 2, 3))
    case("SpaceToBatchND", "P.SpaceToBatchND([2, 2], [[0, 0], [0, 2]])", "op(x)", x=f(1, 2, 4, 4))
    case("BatchToSpaceND", "P.BatchToSpaceND([2, 2], [[0, 0], [0, 1]])", "op(x)", x=f(4, 2, 2, 2))
    case("ChannelShuffle", "P.ChannelShuffle(group=2)", "op(x)", x=f(1, 4, 2, 2))
    case("Meshgrid", "", "ops.meshgrid(x, y, indexing='xy')", x=f(3), y=f(2))
    case("Meshgrid", "", "ops.meshgrid(x, y, indexing='ij')", x=f(3), y=f(2))
    case("Tril", "P.Tril(diagonal=1)", "op(x)", x=f(3, 4))
    case("Triu", "P.Triu(diagonal=-1)", "op(x)", x=f(3, 4))
    case("Eye", "P.Eye()", "op(3, 4, ms.float32) + x", x=f(3, 4))
    case("FillV2", "P.FillV2()", "op((2, 3), x)", x=scalar(2.5))
    case("Diag", "P.Diag()", "op(x)", x=f(4))
    case("LinSpace", "P.LinSpace()", "op(x, y, 5)", x=scalar(1), y=scalar(3))
    case("RepeatInterleaveInt", "", "mint.repeat_interleave(x, 2, 1)", want=lambda x: x.repeat(2, 1), x=f(2, 3))


def indices():
    rows = np.array([[2, 0], [1, 1]], np.int32)
    case("Gather", "P.Gather()", "op(x, y, 0)", x=f(3, 4), y=rows)
    case("Gather", "P.Gather()", "op(x, y, 1)", x=f(3, 4), y=np.array([3, 0], np.int64))
    case("Gather", "P.Gather(1)", "op(x, y, 1)", x=f(2, 4, 3), y=rows)
    case("GatherD", "P.GatherD()", "op(x, 1, y)", x=f(2, 3), y=rows)
    case("GatherNd", "P.GatherNd()", "op(x, y)", x=f(3, 4, 2), y=rows)
    case("Embedding", "", "mint.nn.functional.embedding(x, w)", want=lambda x, w: w[x], x=rows.astype(np.int64), w=f(5, 3))
    case("EmbeddingLookup", "P.EmbeddingLookup()", "op(w, x, 0)", x=rows, w=f(5, 3))
    case("IndexSelect", "", "mint.index_select(x, 1, y)", want=lambda x, y: x[:, y], x=f(3, 4), y=np.array([3, 0], np.int64))
    case("OneHot", "P.OneHot()", "op(x, 4, ms.Tensor(2.0, ms.float32), ms.Tensor(-1.0, ms.float32))", x=np.array([[0, 3], [1, 7]], np.int32))
    case("OneHot", "P.OneHot(axis=0)", "op(x, 3, ms.Tensor(1, ms.int32), ms.Tensor(0, ms.int32))", x=np.array([0, 2], np.int32))
    where = np.array([[0, 1], [2, 0]], np.int32)
    for name in "Update Add Sub Mul Max Min".split():
        case(f"TensorScatter{name}", f"P.TensorScatter{name}()", "op(x, y, u)", x=f(3, 4), y=where, u=f(2))
    case("ScatterNd", "P.ScatterNd()", "op(y, u, (3, 4))", y=where, u=f(2))
    case("TensorScatterElements", "P.TensorScatterElements(axis=1, reduction='none')", "op(x, y, u)", x=f(2, 4), y=np.array([[0, 2], [3, 1]], np.int32), u=f(2, 2))
    case("TensorScatterElements", "P.TensorScatterElements(axis=0, reduction='add')", "op(x, y, u)", x=f(3, 2), y=np.array([[0, 2], [1, 1]], np.int32), u=f(2, 2))
    case("ScatterAddExt", "", "mint.scatter_add(x, 1, y, u)", want=lambda x, y, u: scatter_add(x, y, u), x=f(2, 4), y=np.array([[0, 2], [3, 1]], np.int64), u=f(2, 2))
    case("UnsortedSegmentSum", "P.UnsortedSegmentSum()", "op(x, y, 4)", x=f(3, 2), y=np.array([0, 2, 0], np.int32))
    case("NonZero", "P.NonZero()", "op(x)", x=np.array([[1, 0, 2], [0, 3, 0]], np.float32))
    case("MaskedSelect", "P.MaskedSelect()", "op(x, m)", x=f(2, 3), m=np.array([[True, False, True], [False, True, True]]))
    case("ReverseSequence", "P.ReverseSequence(seq_dim=1, batch_dim=0)", "op(x, y)", x=f(2, 4, 3), y=np.array([2, 3], np.int32))


def products():
    for ta in (False, True):
        for tb in (False, True):
            a, b = f(4, 2) if ta else f(2, 4), f(3, 4) if tb else f(4, 3)
            case("MatMul", f"P.MatMul({ta}, {tb})", "op(x, y)", x=a, y=b)
    case("BatchMatMul", "P.BatchMatMul(transpose_b=True)", "op(x, y)", x=f(2, 3, 4), y=f(2, 5, 4))
    case("MatMulExt", "", "mint.matmul(x, y)", x=f(2, 3, 4), y=f(4, 5))
    case("BatchMatMulExt", "", "mint.bmm(x, y)", x=f(2, 3, 4), y=f(2, 4, 5))
    case("Dense", "", "mint.nn.functional.linear(x, w, b)", x=f(2, 3, 4), w=f(5, 4), b=f(5))
    case("BiasAdd", "P.BiasAdd()", "op(x, b)", x=f(2, 3, 4, 5), b=f(3))
    case("BiasAdd", "P.BiasAdd()", "op(x, b)", x=f(2, 3), b=f(3))
    case("Addmm", "", "mint.addmm(x, y, z, beta=0.5, alpha=2)", want=lambda x, y, z: 0.5 * x + 2 * y @ z, x=f(2, 4), y=f(2, 3), z=f(3, 4))
    case("Baddbmm", "", "mint.baddbmm(x, y, z, beta=0.5, alpha=2)", want=lambda x, y, z: 0.5 * x + 2 * y @ z, x=f(2, 2, 4), y=f(2, 2, 3), z=f(2, 3, 4))
    case("Outer", "", "mint.outer(x, y)", want=np.outer, x=f(2), y=f(3))
    case("Ger", "P.Ger()", "op(x, y)", x=f(2), y=f(3))
    case("Einsum", "P.Einsum('bij,bjk->bik')", "op((x, y))", want=lambda x, y: x @ y, x=f(2, 3, 4), y=f(2, 4, 5))
    square = f(2, 3, 3) + 4 * np.eye(3, dtype=np.float32)
    case("MatrixInverse", "P.MatrixInverse()", "op(x)", x=square)
    case("MatrixDeterminant", "P.MatrixDeterminant()", "op(x)", x=square)
    case("Cross", "P.Cross(dim=1)", "op(x, y)", x=f(2, 3), y=f(2, 3))


def images():
    for mode in ("'same'", "'valid'", "'pad', 1", "'pad', (1, 0, 2, 1)"):
        case("Conv2D", f"P.Conv2D(4, (3, 3), pad_mode={mode.split(', ', 1)[0]}, pad={mode.split(', ', 1)[1] if ',' in mode else 0})", "op(x, w)", x=f(1, 3, 7, 8), w=f(4, 3, 3, 3))
    case("Conv2D", "P.Conv2D(4, 3, pad_mode='same', stride=2)", "op(x, w)", x=f(2, 3, 8, 7), w=f(4, 3, 3, 3))
    case("Conv2D", "P.Conv2D(4, 3, pad_mode='valid', dilation=2)", "op(x, w)", x=f(1, 3, 8, 7), w=f(4, 3, 3, 3))
    case("Conv2D", "P.Conv2D(6, 3, pad_mode='same', group=3)", "op(x, w)", x=f(1, 3, 5, 5), w=f(6, 1, 3, 3))
    case("Conv3D", "P.Conv3D(2, 3, pad_mode='same')", "op(x, w)", x=f(1, 2, 4, 5, 5), w=f(2, 2, 3, 3, 3))
    case("Conv3D", "P.Conv3D(2, 2, pad_mode='pad', pad=1, stride=2)", "op(x, w)", x=f(1, 2, 4, 5, 5), w=f(2, 2, 2, 2, 2))
    for kernel, stride, mode in ((2, 2, "valid"), (3, 2, "same"), (3, 1, "same"), (2, 3, "valid")):
        for name in "MaxPool AvgPool".split():
            case(name, f"P.{name}({kernel}, {stride}, '{mode}')", "op(x)", x=f(1, 3, 7, 8))
    case("MaxPool3D", "P.MaxPool3D(2, 2, 'valid')", "op(x)", x=f(1, 2, 4, 6, 6))
    case("AvgPool3D", "P.AvgPool3D(2, 2, 'valid')", "op(x)", x=f(1, 2, 4, 6, 6))
    case("AvgPool3D", "P.AvgPool3D(3, 2, 'pad', pad=1, count_include_pad=False)", "op(x)", x=f(1, 2, 5, 6, 6))
    case("MaxPoolWithArgmaxV2", "P.MaxPoolWithArgmaxV2(3, 2, 1)", "op(x)[0]", x=f(1, 2, 6, 7))
    case("AdaptiveAvgPool2D", "P.AdaptiveAvgPool2D((2, 3))", "op(x)", x=f(1, 2, 5, 7))
    case("AdaptiveAvgPool2D", "P.AdaptiveAvgPool2D((2, 2))", "op(x)", x=f(1, 2, 4, 6))
    case("AdaptiveAvgPool3D", "P.AdaptiveAvgPool3D((1, 2, 3))", "op(x)", x=f(1, 2, 3, 5, 7))
    case("AdaptiveMaxPool2D", "", "mint.nn.functional.adaptive_max_pool2d(x, (2, 2))", want=lambda x: x.reshape(1, 2, 2, 2, 2, 3).max((3, 5)), x=f(1, 2, 4, 6))
    for align, half in ((True, False), (False, True), (False, False)):
        flags = f"align_corners={align}, half_pixel_centers={half}"
        case("ResizeBilinearV2", f"P.ResizeBilinearV2({flags})", "op(x, (7, 9))", x=f(1, 2, 4, 5))
        case("ResizeBilinearV2", f"P.ResizeBilinearV2({flags})", "op(x, (2, 3))", x=f(1, 2, 4, 5))
        case("ResizeNearestNeighborV2", f"G.ResizeNearestNeighborV2({flags})", "op(x, (7, 9))", x=f(1, 2, 4, 5))
        case("ResizeNearestNeighborV2", f"G.ResizeNearestNeighborV2({flags})", "op(x, (2, 3))", x=f(1, 2, 5, 7))
    case("ResizeNearestNeighbor", "P.ResizeNearestNeighbor((6, 7))", "op(x)", x=f(1, 2, 3, 4))
    case("ResizeBicubic", "P.ResizeBicubic(align_corners=True)", "op(x, ms.Tensor([6, 8], ms.int32))", x=f(1, 2, 3, 4))
    case("ResizeBicubic", "P.ResizeBicubic()", "op(x, ms.Tensor([6, 8], ms.int32))", x=f(1, 2, 3, 4))
    case("ResizeBicubic", "P.ResizeBicubic(half_pixel_centers=True)", "op(x, ms.Tensor([6, 8], ms.int32))", x=f(1, 2, 3, 4))
    case("ResizeLinear1D", "G.ResizeLinear1D('half_pixel')", "op(x, (9,))", x=f(1, 2, 4))
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            case("GridSampler2D", f"G.GridSampler2D('{mode}', '{padding}', True)", "op(x, g)", x=f(1, 2, 4, 5), g=f(1, 3, 3, 2, low=-1.1, high=1.1))
    case("ExtractImagePatches", "", "ops.auto_generate.ExtractImagePatches([1, 1, 2, 2], [1, 1, 2, 1], [1, 1, 1, 1], 'VALID')(x)", want=patches, x=f(1, 3, 6, 5))


def norms():
    case("BatchNorm", "P.BatchNorm(is_training=False, epsilon=1e-4)", "op(x, s, b, m, v)[0]", x=f(2, 3, 4, 5), s=f(3), b=f(3), m=f(3), v=pos(3))
    case("LayerNorm", "P.LayerNorm(begin_norm_axis=-1, begin_params_axis=-1)", "op(x, s, b)[0]", x=f(2, 3, 4), s=f(4), b=f(4))
    case("LayerNorm", "P.LayerNorm(begin_norm_axis=1, begin_params_axis=1, epsilon=1e-3)", "op(x, s, b)[0]", x=f(2, 3, 4), s=f(3, 4), b=f(3, 4))
    case("LayerNormExt", "", "mint.nn.functional.layer_norm(x, (3, 4), s, b)", want=lambda x, s, b: layer_norm(x, (1, 2), 1e-5) * s + b, x=f(2, 3, 4), s=f(3, 4), b=f(3, 4))
    case("GroupNorm", "", "G.GroupNorm()(x, 2, s, b, 1e-4)[0]", x=f(2, 4, 3, 3), s=f(4), b=f(4))
    case("RmsNorm", "P.RmsNorm(epsilon=1e-5)", "op(x, s)[0]", want=lambda x, s: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s, x=f(2, 3, 4), s=f(4))
    case("LRN", "P.LRN(depth_radius=2, bias=1.5, alpha=0.3, beta=0.6)", "op(x)", x=f(1, 7, 3, 3))


for family in (elementwise, two_operands, reductions, shapes, indices, products, images, norms):
    family()
