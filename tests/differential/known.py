"""Cases in which onnxruntime 1.31 deviates from the ONNX specification, or the specification leaves the result open.

Each entry was decided by a plain numpy model of the specification or by its wording; the reason says
which side is right. An engine that follows the specification differs from onnxruntime here, and one
that copies onnxruntime does not: then the entry is stale and is removed or moved to reference_faults.py."""

import numpy as np

from fuzz.difference import Known
from fuzz.values import FLOAT8, FLOATS, TINY_INTS, enum
from models.resize import coordinate, plan

EVERY_FLOAT = (*FLOATS, *FLOAT8, "float8e8m0")
POOLS = ["MaxPool", "AveragePool", "LpPool", "com.microsoft.QLinearAveragePool"]
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
              "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"]


def same_padding(case):
    return str(case.attrs.get("auto_pad", "")).startswith("SAME")


def ones(case, name, count):
    return case.attrs.get(name) or [1] * count


def windows(case):
    """(size, kernel, stride, dilation) for each spatial axis."""
    sizes = case.args[0].shape[1:-1] if case.attrs.get("channels_last") else case.args[0].shape[2:]
    kernel = case.attrs.get("kernel_shape") or list(case.args[1].shape[2:])
    return list(zip(sizes, kernel, ones(case, "strides", len(sizes)), ones(case, "dilations", len(sizes))))


def pool_dilated(case):
    return same_padding(case) and any(k > 1 and q > 1 for _, k, _, q in windows(case))


def pool_crops(case):
    return same_padding(case) and any((-(-n // s) - 1) * s + k < n for n, k, s, _ in windows(case))


def transpose_short(case):
    if not same_padding(case) or case.attrs.get("output_shape"):
        return False
    extra = case.attrs.get("output_padding") or [0] * len(windows(case))
    return any(s * (n - 1) + o + (k - 1) * q + 1 < n * s for (n, k, s, q), o in zip(windows(case), extra))


def col2im_dilated(case):
    kernel = case.args[2]
    return len(kernel) != 2 and any(k > 1 and q > 1 for k, q in zip(kernel, ones(case, "dilations", len(kernel))))


def resize_scales(case):
    """{axis: (input size, scale or None, target size or None)} for the axes a Resize names."""
    x, _, scales, sizes = [*case.args, None, None, None][:4]
    axes = [a % x.ndim for a in case.attrs.get("axes") or range(x.ndim)]
    pick = lambda v, i: None if v is None or not v.size else v[i]  # noqa: E731
    return {a: (x.shape[a], pick(scales, i), pick(sizes, i)) for i, a in enumerate(axes)}


def axis_kept(n, scale, target):
    return int(np.floor(np.float32(n) * np.float32(scale))) == n if scale is not None else target == n


def resize_noop(case):
    return case.opset > 10 and all(axis_kept(*a) for a in resize_scales(case).values())


def resize_noop_10(case):
    return case.opset == 10 and all(axis_kept(n, s, None) for n, s in zip(case.args[0].shape, case.args[1]))


def resize_axis_ignored(case):
    if case.attrs.get("coordinate_transformation_mode") not in ("tf_crop_and_resize", "tf_half_pixel_for_nn"):
        return False
    # A policy other than stretch computes its own scale, which may be 1 too.
    return case.attrs.get("keep_aspect_ratio_policy", "stretch") != "stretch" or any(
        s == 1 or t == n for n, s, t in resize_scales(case).values())


def resize_fraction(case):
    if case.attrs.get("coordinate_transformation_mode") not in ("align_corners", "pytorch_half_pixel", "tf_crop_and_resize"):
        return False
    return any(s is not None and float(n * s) != np.floor(n * s) for n, s, _ in resize_scales(case).values())


def resize_on_edge(case):
    """A nearest sample within rounding of the boundary between two pixels."""
    if case.attrs.get("mode", "nearest") != "nearest" or case.opset == 10:
        return False
    form = case.attrs.get("coordinate_transformation_mode", "half_pixel")
    half = 0.5 if "round" in case.attrs.get("nearest_mode", "round_prefer_floor") else 0.0
    for axis, (scale, out, length, *roi) in plan(case).items():
        at = np.array([coordinate(form, o, case.args[0].shape[axis], scale, out, length, *roi) for o in range(out)]) - half
        if np.any(np.abs(at - np.round(at)) < 1e-5):
            return True
    return False


def resize_negative_axes(case):
    policy = case.attrs.get("keep_aspect_ratio_policy", "stretch")
    return policy != "stretch" and any(a < 0 for a in case.attrs.get("axes") or [])


def resize_antialias_kept(case):
    return case.attrs.get("antialias") and any(axis_kept(*a) for a in resize_scales(case).values())


def attention_one_query(case):
    q, k = case.args[0], case.args[1]
    past = case.args[4] if len(case.args) > 4 else None
    return case.attrs.get("is_causal") and past is not None and q.shape[-2] == 1 and k.shape[-2] > 1


def has_infinity(array):
    return array.dtype.kind == "f" and not np.isfinite(array).all()


def clip_unbounded(case):
    return has_infinity(case.args[0]) and (len(case.args) < 3 or any(a is None for a in case.args[1:3]))


def quantize_huge(case):
    return bool(np.any(np.abs(case.args[0].astype(np.float64)) > 1e8))


def cast_rounds(case):
    return case.attrs["to"] in map(enum, TINY_INTS) and case.dtypes[0] in EVERY_FLOAT


def cast_to_itself(case):
    return case.dtypes[0] in FLOAT8 and case.attrs["to"] == enum(case.dtypes[0])


def cast_minus_zero(case):
    if case.dtypes[0] not in FLOAT8 or case.attrs["to"] != enum("bool"):
        return False
    x = case.args[0].astype(np.float64)
    return bool(np.any((x == 0) & np.signbit(x)))


def loop_without_trips(case):
    values = {**case.fed, **case.constants}
    return not values.get("trips", np.ones(1)).all() or not values.get("first", np.ones(1)).all()


def prints_value(case):
    return case.dtypes[0] in (*EVERY_FLOAT, "bool") and (case.attrs.get("to") == enum("string") or case.dtypes[-1] == "string")


def base_values(case):
    return any(name.startswith("base_values") for name in case.attrs)


def is_empty(case):
    return case.args[0].size == 0


def no_spread(case):
    """Some slice along the axes has no variance."""
    x = case.args[0].astype(np.float64)
    axes = tuple(case.attrs.get("axes") or (0, 2, 3))
    return bool(np.any(x.var(axis=axes) < 1e-9))


def gather_string_slices(case):
    x, axis = case.args[0], case.attrs.get("axis", 0) % case.args[0].ndim
    return case.dtypes[0] == "string" and int(np.prod(x.shape[axis + 1:])) > 1


def slice_back_from_max(case):
    if case.opset < 10 or len(case.args) < 5 or case.args[4] is None:
        return False
    return bool(np.any((case.args[4] < 0) & np.isin(case.args[2], (2 ** 31 - 1, 2 ** 63 - 1))))


def softmax_of_one(case):
    x, axis = case.args[0], case.attrs["axis"] % case.args[0].ndim
    return (x.shape[axis] if case.attrs["opset"] >= 13 else int(np.prod(x.shape[axis:]))) == 1


def transposed_by_vector(case):
    return case.attrs.get("transA") and case.args[1].ndim == 1


ENTRIES = [
    Known(POOLS, "onnxruntime bug: auto_pad SAME ignores dilations when it computes the pads", pool_dilated),
    Known(POOLS, "onnxruntime bug: auto_pad SAME with a kernel smaller than the stride crops instead of padding by 0",
          pool_crops),
    Known(["ConvTranspose"], "onnxruntime bug: auto_pad SAME gives less than input * stride when the kernel is smaller "
          "than the stride", transpose_short),
    Known(["Col2Im"], "onnxruntime bug: dilations other than 1 scatter to the wrong places unless the image has two axes",
          col2im_dilated),
    Known(["Resize"], "onnxruntime shortcut: copies the input when no size changes, whatever the scales and coordinates",
          lambda c: resize_noop(c) or resize_noop_10(c)),
    Known(["Resize"], "onnxruntime shortcut: copies an axis whose scale is 1, though tf_crop_and_resize has a roi there and "
          "tf_half_pixel_for_nn a shift", resize_axis_ignored),
    Known(["Resize"], "onnxruntime rounds n * scale down to an integer size before it maps coordinates; ONNX's tests and "
          "reference keep the fraction", resize_fraction),
    Known(["Resize"], "a nearest sample on the edge between two: which one depends on the precision of the coordinates",
          resize_on_edge),
    Known(["Resize"], "onnxruntime bug: keep_aspect_ratio_policy skips axes given as negative numbers", resize_negative_axes),
    Known(["Resize"], "onnxruntime shortcut: antialias leaves out an axis that keeps its size, though its scale is not 1",
          resize_antialias_kept),
    Known(["Resize"], "onnxruntime bug: antialias of int8 clips as if it were uint8",
          lambda c: c.attrs.get("antialias") and c.dtypes[0] == "int8"),
    Known(["Resize"], "onnxruntime wraps an extrapolation_value that the type does not hold; ONNX's reference clips it",
          lambda c: c.dtypes[0] == "uint8" and c.attrs.get("extrapolation_value", 0) < 0
          and c.attrs.get("coordinate_transformation_mode") == "tf_crop_and_resize"),
    Known(["Attention"], "onnxruntime bug: no causal mask for a single query with a past, though it has several new keys",
          attention_one_query),
    Known(["Attention"], "onnxruntime masks with the lowest float instead of -inf, which qk_matmul_output mode 2 shows",
          lambda c: c.attrs.get("qk_matmul_output_mode") == 2),
    Known(["Gather"], "onnxruntime bug: of a slice of strings only the first is copied", gather_string_slices),
    Known(["Slice"], "onnxruntime reads an end of INT_MAX with a negative step as the beginning; the specification clamps it",
          slice_back_from_max),
    Known(["Clip"], "onnxruntime bug: a missing bound clips infinities to the largest float", clip_unbounded),
    Known([*REDUCTIONS, "ArgMax", "ArgMin"], "onnxruntime bug: a reduction of an empty tensor keeps the shape of its input",
          is_empty),
    Known(["Sign"], "NaN: onnxruntime gives NaN for float and double but 0 for the 16-bit floats; the specification is silent",
          lambda c: c.dtypes[0] in ("float16", "bfloat16") and bool(np.isnan(c.args[0].astype(np.float64)).any())),
    Known(["ReduceMax", "ReduceMin"], "NaN: whether it wins depends on its place in onnxruntime; the specification is silent",
          lambda c: has_infinity(c.args[0])),
    Known(["QuantizeLinear"], "onnxruntime bug: values beyond 32 bits turn to integers before they saturate", quantize_huge),
    Known(["Cast"], "onnxruntime rounds floats to 4- and 2-bit integers but truncates them to wider ones; the "
          "specification does not say", cast_rounds),
    Known(["Cast"], "onnxruntime shortcut: a cast to the same float8 type does not saturate infinities", cast_to_itself),
    Known(["Cast"], "onnxruntime bug: a float8 of -0 casts to true", cast_minus_zero),
    Known(["Cast", "CastLike"], "an integral float prints as 2 in onnxruntime and as 2.0 in ONNX's reference, NaN as NaN and "
          "as nan, true as 1 and as True; the specification is silent", prints_value),
    Known(["RNN", "GRU", "LSTM"], "onnxruntime bug: Softplus inside a recurrent layer overflows",
          lambda c: "Softplus" in (c.attrs.get("activations") or [])),
    Known(["Loop"], "a loop of no trips has scan outputs of length 0, and the rest of their shape is anyone's guess",
          loop_without_trips),
    Known(["ai.onnx.ml.TreeEnsembleRegressor", "ai.onnx.ml.TreeEnsembleClassifier"],
          "onnxruntime bug: base_values are left out for a target that no leaf writes", base_values),
    Known(["ai.onnx.ml.TreeEnsemble"], "onnxruntime bug: takes post_transform 1 for LOGISTIC and 2 for SOFTMAX; the "
          "specification numbers them the other way round", lambda c: c.attrs.get("post_transform") in (1, 2)),
    Known(["Bernoulli"], "bug of the ONNX function body that onnxruntime runs: it gives 1 with probability 1 - p",
          lambda c: True),
    Known(["StringSplit"], "an empty string has no parts in onnxruntime and one empty part in Python's split, which the "
          "reference uses; the specification is silent", lambda c: "" in c.args[0].reshape(-1).tolist()),
    Known(["MeanVarianceNormalization"], "onnxruntime takes the root of a variance that rounding can make negative",
          no_spread),
    Known(["com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul"],
          "onnxruntime bug: transA is lost when B is a vector", transposed_by_vector),
    Known(["com.microsoft.QLinearAveragePool"], "onnxruntime bug: count_include_pad counts what ceil_mode adds beyond the pads",
          lambda c: c.attrs.get("count_include_pad") and c.attrs.get("ceil_mode")),
    Known(["com.microsoft.QLinearSoftmax"], "onnxruntime bug: a softmax of one element wraps round to 0", softmax_of_one),
    Known(["AffineGrid"], "align_corners of a single point divides by zero; the specification is silent",
          lambda c: c.attrs.get("align_corners") and 1 in c.args[1][2:]),
    Known(["Dropout"], "the mask of inference before opset 12 is unspecified: onnxruntime gives all false",
          lambda c: c.opset < 12 and len(c.outputs) == 2),
]
