"""Resize and its predecessor Upsample, computed one axis at a time."""

import math

import numpy as np

from . import arguments, model

NEAREST = {"round_prefer_floor": lambda v: math.ceil(v - 0.5), "round_prefer_ceil": lambda v: math.floor(v + 0.5),
           "floor": math.floor, "ceil": math.ceil}


def plan(case):
    """Returns a dict from axis to (scale, output size, length, roi start, roi end). If the scales are given, `length`
    is input size * scale, not rounded, and the output size is its floor. Otherwise `length` is the output size."""
    x, roi, scales, sizes = arguments(case, 4)
    axes = [a % x.ndim for a in case.attrs.get("axes") or range(x.ndim)]
    crop = roi if roi is not None and roi.size else np.array([0.0] * len(axes) + [1.0] * len(axes))
    if scales is not None and scales.size:
        factors = [float(s) for s in scales]
        lengths = [x.shape[a] * f for a, f in zip(axes, factors)]
    else:
        factors, lengths = fitted(case, [x.shape[a] for a in axes], [int(s) for s in sizes])
    count = len(axes)
    return {a: (f, int(math.floor(n + 1e-6)), n, float(crop[i]), float(crop[i + count]))
            for i, (a, f, n) in enumerate(zip(axes, factors, lengths))}


def fitted(case, sizes, targets):
    policy = case.attrs.get("keep_aspect_ratio_policy", "stretch")
    factors = [t / n for t, n in zip(targets, sizes)]
    if policy == "stretch":
        return factors, targets
    factor = min(factors) if policy == "not_larger" else max(factors)
    return [factor] * len(sizes), [math.floor(factor * n + 0.5) for n in sizes]


def coordinate(form, o, n, scale, out, length, start, end):
    """Returns the input coordinate of the output element o, for an axis of input size n and output size `out`."""
    if form == "align_corners":
        return 0.0 if length == 1 else o * (n - 1) / (length - 1)
    if form == "asymmetric":
        return o / scale
    if form == "tf_half_pixel_for_nn":
        return (o + 0.5) / scale
    if form == "tf_crop_and_resize":
        if length > 1:
            return start * (n - 1) + o * (end - start) * (n - 1) / (length - 1)
        return 0.5 * (start + end) * (n - 1)
    if form == "pytorch_half_pixel" and length <= 1:
        return 0.0
    shift = n / 2 * (1 - out / (n * scale)) if form == "half_pixel_symmetric" else 0.0
    return shift + (o + 0.5) / scale - 0.5


def kernel(mode, t, a):
    t = abs(t)
    if mode == "linear":
        return max(0.0, 1 - t)
    if t <= 1:
        return ((a + 2) * t - (a + 3)) * t * t + 1
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a if t < 2 else 0.0


def taps(case, mode, at, scale, n):
    """Returns pairs (input index, weight) for the coordinate `at` of an axis of size n. Indices may be out of range;
    the caller replaces them by 0 or n - 1."""
    if mode == "nearest":
        return [(NEAREST[case.attrs.get("nearest_mode", "round_prefer_floor")](at), 1.0)]
    stretch = max(1.0, 1.0 / scale) if case.attrs.get("antialias") else 1.0
    reach = math.ceil((1 if mode == "linear" else 2) * stretch)
    pairs = [(i, kernel(mode, (at - i) / stretch, case.attrs.get("cubic_coeff_a", -0.75)))
             for i in range(math.floor(at) - reach, math.floor(at) + reach + 2)]
    if case.attrs.get("exclude_outside"):
        pairs = [(i, w if 0 <= i < n else 0.0) for i, w in pairs]
    total = sum(w for _, w in pairs)
    return [(i, w / total) for i, w in pairs]


@model("Resize")
def resize(case):
    if case.opset == 10:
        return None
    x = case.args[0]
    mode, form = case.attrs.get("mode", "nearest"), case.attrs.get("coordinate_transformation_mode", "half_pixel")
    y, outside = x.astype(np.float64), []
    for axis, (scale, out, length, start, end) in plan(case).items():
        n = x.shape[axis]
        places = [coordinate(form, o, n, scale, out, length, start, end) for o in range(out)]
        weights = np.zeros((out, n))
        for o, at in enumerate(places):
            for i, w in taps(case, mode, at, scale, n):
                weights[o, min(max(i, 0), n - 1)] += w
        y = np.moveaxis(np.tensordot(weights, y, axes=(1, axis)), 0, axis)
        outside.append((axis, np.array([not 0 <= p <= n - 1 for p in places], bool)))
    if form == "tf_crop_and_resize":
        for axis, beyond in outside:
            y[(slice(None),) * axis + (beyond,)] = case.attrs.get("extrapolation_value", 0.0)
    return [stored(case, y)]


def stored(case, y):
    """Converts the result to the input's type. Integer results are rounded if `antialias` is set, and otherwise
    truncated. onnxruntime does the same. The specification does not define the rounding."""
    kind = case.args[0].dtype
    if kind.kind not in "iu":
        return y.astype(kind)
    y = np.rint(y) if case.attrs.get("antialias") else np.trunc(y)
    return np.clip(y, np.iinfo(kind).min, np.iinfo(kind).max).astype(kind)


@model("Upsample")
def upsample(case):
    """Computes Upsample. The input coordinate of output o is o / scale. Mode nearest reads the element at the
    floor of this coordinate. Mode linear interpolates between that element and the next one."""
    x = case.args[0]
    scales = case.attrs.get("scales") or case.args[1]
    y = x.astype(np.float64)
    for axis, scale in enumerate(scales):
        n, out = x.shape[axis], int(math.floor(x.shape[axis] * float(scale)))
        weights = np.zeros((out, n))
        for o in range(out):
            at = min(o / float(scale), n - 1)
            low = math.floor(at)
            part = at - low if case.attrs.get("mode") == "linear" else 0.0
            weights[o, low] += 1 - part
            weights[o, min(low + 1, n - 1)] += part
        y = np.moveaxis(np.tensordot(weights, y, axes=(1, axis)), 0, axis)
    return [y.astype(x.dtype)]
