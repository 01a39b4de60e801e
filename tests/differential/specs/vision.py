"""Operators for resampling, regions of interest and boxes."""

import numpy as np

from fuzz.registry import op

COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]


def resize_modes(d):
    mode = d.choice(["nearest", "linear", "cubic"])
    coordinates = list(COORDINATES)
    coordinates += ["tf_half_pixel_for_nn"] if d.since == 11 else []
    coordinates += ["half_pixel_symmetric"] if d.since >= 19 else []
    if d.chance(0.15):
        coordinates = ["tf_crop_and_resize"]
    attrs = {"mode": mode if mode != "nearest" or d.chance(0.5) else None,
             "coordinate_transformation_mode": d.maybe(d.choice(coordinates), 0.85)}
    if mode == "nearest":
        attrs["nearest_mode"] = d.maybe(d.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]), 0.8)
    if mode == "cubic":
        attrs |= {"cubic_coeff_a": d.maybe(d.choice([-0.5, -0.75])), "exclude_outside": d.maybe(d.int(0, 1))}
    if attrs["coordinate_transformation_mode"] == "tf_crop_and_resize":
        attrs["extrapolation_value"] = d.maybe(float(d.int(-2, 2)))  # an integer, so that integer types can represent it
    if mode != "nearest" and d.since >= 18:
        attrs["antialias"] = d.maybe(d.int(0, 1), 0.4)
    return mode, attrs


def resize_shape(d, mode):
    """Returns a shape whose rank onnxruntime supports. Mode nearest supports any rank. Mode cubic supports
    [N, C, H, W]. Mode linear supports [H, W], [N, C, H, W] and [N, C, D, H, W]."""
    if mode == "nearest":
        return d.shape(1, 5, dim=5, zero=0)
    if mode == "cubic":
        return [d.int(1, 2), d.int(1, 3), d.int(2, 6), d.int(2, 6)]
    return d.choice([[d.int(1, 2), d.int(1, 3), d.int(2, 6), d.int(2, 6)], [d.int(2, 6), d.int(2, 6)],
                     [1, d.int(1, 2), d.int(2, 4), d.int(2, 4), d.int(2, 4)]])


def resized_axes(shape, mode):
    """Returns the axes whose size may change: all axes in mode nearest, and otherwise only H and W or D, H and W."""
    if mode == "nearest":
        return list(range(len(shape)))
    return list(range(max(0, len(shape) - (3 if len(shape) == 5 else 2)), len(shape)))


def resize_type(d, mode):
    if mode == "nearest":
        return d.dtype("T1")
    return d.choice(["float", "float", "float16"] + (["uint8", "int8"] if mode == "linear" else []))


def factor(d):
    return d.choice([0.5, 1.5, 2.0, 3.0, 0.6, 1.0, 2.3, 1.25])


@op("Resize", weight=10, since=(10, 11, 13, 18, 19))
def resize(d):
    if d.since == 10:
        return resize_10(d)
    mode, attrs = resize_modes(d)
    shape = resize_shape(d, mode)
    moved = resized_axes(shape, mode)
    dtype = resize_type(d, mode)
    x = d.tensor(dtype, shape, low=-9 if dtype != "uint8" else 0, high=99 if dtype == "uint8" else 9)
    factors = [factor(d) if i in moved else 1.0 for i in range(len(shape))]
    target = [max(1, int(n * f)) for n, f in zip(shape, factors)]
    named = d.since >= 18 and d.chance(0.3)
    axes = moved if named else list(range(len(shape)))
    if named:
        attrs["axes"] = [d.sign_axis(a, len(shape)) for a in axes]
    by_scale = d.chance(0.5)
    if not by_scale and d.since >= 18:
        attrs["keep_aspect_ratio_policy"] = d.maybe(d.choice(["stretch", "not_larger", "not_smaller"]), 0.4)
    roi = resize_roi(d, axes, moved) if attrs["coordinate_transformation_mode"] == "tf_crop_and_resize" else None
    if d.since < 13 and roi is None:
        roi = np.zeros(0, np.float32)
    scales = np.array([factors[a] for a in axes], np.float32)
    sizes = d.ints([target[a] for a in axes])
    if d.since < 13 and not by_scale:
        scales = np.zeros(0, np.float32)
    inputs = [x, roi, scales if by_scale or d.since < 13 else None, None if by_scale else sizes]
    # Interpolated integers are truncated. A result that is almost an integer may be truncated to that integer or to the
    # one below.
    return d.case(inputs, attrs, const=0.5, off_by_one=1.0 if mode != "nearest" else 0)


def resize_roi(d, axes, moved):
    """Returns the roi input: the starts of all axes, followed by the ends of all axes. An axis whose size does not
    change starts at 0 and ends at 1."""
    starts = [d.uniform(-0.1, 0.4) if a in moved else 0.0 for a in axes]
    ends = [d.uniform(0.6, 1.1) if a in moved else 1.0 for a in axes]
    return np.array(starts + ends, np.float32)


def resize_10(d):
    mode = d.choice(["nearest", "linear"])
    shape = resize_shape(d, mode)
    moved = resized_axes(shape, mode)
    scales = np.array([factor(d) if i in moved else 1.0 for i in range(len(shape))], np.float32)
    x = d.tensor(d.choice(["float", "float16"] if mode == "linear" else d.types("T")), shape)
    return d.case([x, scales], {"mode": mode}, const=0.5)


@op("Upsample", weight=2, since=(7, 9), last=9)
def upsample(d):
    mode = d.choice(["nearest", "linear"])
    shape = resize_shape(d, mode)
    moved = resized_axes(shape, mode)
    scales = [d.choice([1.0, 2.0, 3.0, 1.5]) if i in moved else 1.0 for i in range(len(shape))]
    x = d.tensor(d.choice(["float", "float16"] if mode == "linear" else d.types("T")), shape)
    if d.since < 9:
        return d.case([x], {"mode": mode, "scales": scales})
    return d.case([x, np.array(scales, np.float32)], {"mode": mode}, const=0.5)


@op("GridSample", weight=3)
def grid_sample(d):
    flat = d.since < 20 or d.chance(0.7)
    names = ["bilinear", "nearest", "bicubic"] if d.since < 20 else ["linear", "nearest"] + (["cubic"] if flat else [])
    sizes, out = ([d.int(2, 6) for _ in range(2 if flat else 3)] for _ in range(2))
    batch = d.int(1, 2)
    attrs = {"mode": d.maybe(d.choice(names), 0.85), "align_corners": d.maybe(d.int(0, 1)),
             "padding_mode": d.maybe(d.choice(["zeros", "border", "reflection"]), 0.8)}
    x = d.tensor(d.dtype("T1", only=("float", "double", "float16")), [batch, d.int(1, 3), *sizes])
    grid = d.tensor(d.choice(d.types("T2", only=("float", "double"))), [batch, *out, len(sizes)], low=-1.3, high=1.3)
    if x.dtype != grid.dtype:
        grid = grid.astype(x.dtype)
    # onnxruntime computes interpolation weights in float, even if the tensors are double.
    return d.case([x, grid], attrs, scale=20, rtol=1e-4, atol=1e-5)


@op("AffineGrid")
def affine_grid(d):
    flat = d.chance(0.6)
    batch = d.int(1, 3)
    theta = d.tensor(d.dtype("T1", only=("float", "double")), [batch, 2, 3] if flat else [batch, 3, 4])
    size = [batch, d.int(1, 3)] + [d.int(1, 5) for _ in range(2 if flat else 3)]
    return d.case([theta, d.ints(size)], {"align_corners": d.maybe(d.int(0, 1))})


def boxes(d, dtype, count, height, width, rows=None):
    """Returns boxes as corners x1, y1, x2, y2 in pixels. Some boxes extend beyond the image."""
    x1, y1 = (d.rng.uniform(-1, n * 0.6, count) for n in (width, height))
    x2, y2 = (a + d.rng.uniform(0.5, n, count) for a, n in ((x1, width), (y1, height)))
    return np.stack([x1, y1, x2, y2], axis=-1).astype(d.tensor(dtype, []).dtype)


@op("RoiAlign", weight=2, since=(10, 16), last=21)
def roi_align(d):
    dtype = d.dtype("T1", only=("float", "double"))
    batch, height, width, count = d.int(1, 2), d.int(3, 8), d.int(3, 8), d.int(1, 3)
    attrs = {"mode": d.maybe(d.choice(["avg", "max"]), 0.7), "output_height": d.maybe(d.int(1, 3)),
             "output_width": d.maybe(d.int(1, 3)), "sampling_ratio": d.maybe(d.int(0, 3)),
             "spatial_scale": d.maybe(d.choice([0.5, 1.0]))}
    if d.since >= 16:
        attrs["coordinate_transformation_mode"] = d.maybe(d.choice(["half_pixel", "output_half_pixel"]))
    x = d.tensor(dtype, [batch, d.int(1, 3), height, width])
    picks = d.tensor("int64", [count], low=0, high=batch - 1)
    return d.case([x, boxes(d, dtype, count, height, width), picks], attrs)


@op("MaxRoiPool", since=(1,), last=21)
def max_roi_pool(d):
    batch, height, width, count = d.int(1, 2), d.int(3, 8), d.int(3, 8), d.int(1, 3)
    corners = np.round(np.clip(boxes(d, "float", count, height, width), 0, None))
    picks = d.tensor("float", [count, 1], low=0, high=0) + np.round(d.rng.uniform(0, batch - 1, [count, 1]))
    rois = np.concatenate([picks, corners], axis=1).astype(np.float32)
    attrs = {"pooled_shape": [d.int(1, 3), d.int(1, 3)], "spatial_scale": d.maybe(d.choice([0.5, 1.0]))}
    return d.case([d.tensor("float", [batch, d.int(1, 3), height, width]), rois], attrs)


@op("NonMaxSuppression", weight=3)
def non_max_suppression(d):
    batch, classes, count = d.int(1, 2), d.int(1, 3), d.int(1, 9)
    corners = np.stack([boxes(d, "float", count, 4, 4) for _ in range(batch)])
    center = d.chance(0.3)
    if center:
        low, high = corners[..., :2], corners[..., 2:]
        corners = np.concatenate([(low + high) / 2, high - low], axis=-1).astype(np.float32)
    elif d.chance(0.3):  # any two opposite corners define a box
        corners = corners[..., [2, 3, 0, 1]]
    # The scores are distinct, because the order of boxes with equal scores is not defined.
    total = batch * classes * count
    scores = (d.rng.permutation(total).reshape(batch, classes, count) / total).astype(np.float32)
    inputs = [np.ascontiguousarray(corners), scores, d.maybe(d.ints([d.int(0, 5)]), 0.85),
              d.maybe(d.tensor("float", [1], low=0, high=0.9), 0.8), d.maybe(d.tensor("float", [1], low=0, high=0.6))]
    return d.case(inputs, {"center_point_box": 1 if center else d.maybe(0)})
