"""Lists cases in which onnxruntime 1.31 deviates from the ONNX specification, or the specification does not define the
result.

The evidence for an entry is a numpy model of the specification, or the specification's text. The reason says which
engine is right. In these cases, an engine that follows the specification differs from onnxruntime. If Tern agrees with
onnxruntime, the entry is stale. Remove it, or move it to reference_faults.py if only onnx.reference differs."""

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
    """Returns (size, kernel, stride, dilation) for each spatial axis."""
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
    """Returns a dict from axis to (input size, scale or None, target size or None), for the axes that a Resize names."""
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
    # A policy other than stretch computes the scale itself. That scale may be 1.
    return case.attrs.get("keep_aspect_ratio_policy", "stretch") != "stretch" or any(
        s == 1 or t == n for n, s, t in resize_scales(case).values())


def resize_fraction(case):
    if case.attrs.get("coordinate_transformation_mode") not in ("align_corners", "pytorch_half_pixel", "tf_crop_and_resize"):
        return False
    return any(s is not None and float(n * s) != np.floor(n * s) for n, s, _ in resize_scales(case).values())


def resize_on_edge(case):
    """Returns whether mode nearest samples a point so close to the boundary between two pixels that rounding errors
    decide which pixel it reads."""
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
    """Returns whether the variance over the attribute `axes` is 0 somewhere."""
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
    Known(POOLS, "onnxruntime bug: with auto_pad SAME and a kernel smaller than the stride, it crops the image; the pads should be 0",
          pool_crops),
    Known(["ConvTranspose"], "onnxruntime bug: with auto_pad SAME and a kernel smaller than the stride, the output is smaller "
          "than input * stride", transpose_short),
    Known(["Col2Im"], "onnxruntime bug: if the image does not have two axes, dilations other than 1 write to wrong positions",
          col2im_dilated),
    Known(["Resize"], "onnxruntime shortcut: copies the input if no size changes, even if scales or coordinates would change values",
          lambda c: resize_noop(c) or resize_noop_10(c)),
    Known(["Resize"], "onnxruntime shortcut: does not resample an axis whose scale is 1, although tf_crop_and_resize crops it and "
          "tf_half_pixel_for_nn shifts it", resize_axis_ignored),
    Known(["Resize"], "onnxruntime rounds input size * scale down to an integer before it computes coordinates; ONNX's "
          "tests and reference do not round it", resize_fraction),
    Known(["Resize"], "in mode nearest, a point lies on the boundary of two pixels, so that rounding errors decide which pixel is read",
          resize_on_edge),
    Known(["Resize"], "onnxruntime bug: keep_aspect_ratio_policy skips axes given as negative numbers", resize_negative_axes),
    Known(["Resize"], "onnxruntime shortcut: antialias skips an axis whose size does not change, although its scale is not 1",
          resize_antialias_kept),
    Known(["Resize"], "onnxruntime bug: with antialias, int8 results are clipped to the range of uint8",
          lambda c: c.attrs.get("antialias") and c.dtypes[0] == "int8"),
    Known(["Resize"], "if extrapolation_value is outside the range of the type, onnxruntime wraps it and ONNX's reference clips it",
          lambda c: c.dtypes[0] == "uint8" and c.attrs.get("extrapolation_value", 0) < 0
          and c.attrs.get("coordinate_transformation_mode") == "tf_crop_and_resize"),
    Known(["Attention"], "onnxruntime bug: with a past, one query and several new keys, it applies no causal mask",
          attention_one_query),
    Known(["Attention"], "onnxruntime masks with the lowest float instead of -inf; the output qk_matmul_output (mode 2) contains it",
          lambda c: c.attrs.get("qk_matmul_output_mode") == 2),
    Known(["Gather"], "onnxruntime bug: copies only the first string of a slice of strings", gather_string_slices),
    Known(["Slice"], "for a negative step, onnxruntime treats the end INT_MAX as the beginning of the axis; the specification clamps it",
          slice_back_from_max),
    Known(["Clip"], "onnxruntime bug: without min or max, infinities are clipped to the largest float", clip_unbounded),
    Known([*REDUCTIONS, "ArgMax", "ArgMin"], "onnxruntime bug: the result of reducing an empty tensor has the shape of the input",
          is_empty),
    Known(["Sign"], "for NaN, onnxruntime returns NaN in float and double, but 0 in float16 and bfloat16; the specification does not define it",
          lambda c: c.dtypes[0] in ("float16", "bfloat16") and bool(np.isnan(c.args[0].astype(np.float64)).any())),
    Known(["ReduceMax", "ReduceMin"], "in onnxruntime, the position of a NaN decides whether the result is NaN; the specification does not define it",
          lambda c: has_infinity(c.args[0])),
    Known(["QuantizeLinear"], "onnxruntime bug: converts a value outside the range of int32 to an integer before it saturates the value", quantize_huge),
    Known(["Cast"], "onnxruntime rounds floats in a cast to 4- and 2-bit integers, but truncates them in a cast to wider integers; "
          "the specification does not define it", cast_rounds),
    Known(["Cast"], "onnxruntime shortcut: a cast from a float8 type to the same type does not saturate infinities", cast_to_itself),
    Known(["Cast"], "onnxruntime bug: casts a float8 with the value -0 to true", cast_minus_zero),
    Known(["Cast", "CastLike"], "onnxruntime prints an integral float as 2, NaN as NaN and true as 1; ONNX's reference prints 2.0, "
          "nan and True; the specification does not define it", prints_value),
    Known(["RNN", "GRU", "LSTM"], "onnxruntime bug: Softplus inside a recurrent layer overflows",
          lambda c: "Softplus" in (c.attrs.get("activations") or [])),
    Known(["Loop"], "the scan outputs of a loop without iterations have length 0; the specification does not define their other dims",
          loop_without_trips),
    Known(["ai.onnx.ml.TreeEnsembleRegressor", "ai.onnx.ml.TreeEnsembleClassifier"],
          "onnxruntime bug: does not add base_values to a target that no leaf writes", base_values),
    Known(["ai.onnx.ml.TreeEnsemble"], "onnxruntime bug: reads post_transform 1 as LOGISTIC and 2 as SOFTMAX; in the "
          "specification, 1 is SOFTMAX and 2 is LOGISTIC", lambda c: c.attrs.get("post_transform") in (1, 2)),
    Known(["Bernoulli"], "bug of the ONNX function body that onnxruntime runs: the result is 1 with probability 1 - p",
          lambda c: True),
    Known(["StringSplit"], "an empty string has no parts in onnxruntime, but one empty part in ONNX's reference, which uses "
          "Python's split; the specification does not define it", lambda c: "" in c.args[0].reshape(-1).tolist()),
    Known(["MeanVarianceNormalization"], "onnxruntime computes the square root of a variance that rounding errors can make negative",
          no_spread),
    Known(["com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul"],
          "onnxruntime bug: ignores transA if B is a vector", transposed_by_vector),
    Known(["com.microsoft.QLinearAveragePool"], "onnxruntime bug: count_include_pad also counts the positions beyond the pads, which ceil_mode adds",
          lambda c: c.attrs.get("count_include_pad") and c.attrs.get("ceil_mode")),
    Known(["com.microsoft.QLinearSoftmax"], "onnxruntime bug: the softmax of one element overflows to 0", softmax_of_one),
    Known(["AffineGrid"], "with align_corners, a size of 1 divides by zero; the specification does not define the result",
          lambda c: c.attrs.get("align_corners") and 1 in c.args[1][2:]),
    Known(["Dropout"], "before opset 12, the specification does not define the mask in inference; in onnxruntime it is all false",
          lambda c: c.opset < 12 and len(c.outputs) == 2),
]
