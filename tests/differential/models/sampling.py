"""GridSample and RoiAlign."""

import itertools
import math

import numpy as np

from . import model
from .resize import kernel


def reflect(v, n, corners):
    """Reflects the coordinate v into an axis of n pixels. If `corners` (align_corners), it reflects at the centres of
    the first and last pixel: 0 and n - 1. Otherwise it reflects at their outer edges: -0.5 and n - 0.5."""
    low, high = (0, n - 1) if corners else (-0.5, n - 0.5)
    span = high - low
    if span == 0:
        return 0.0
    turns, rest = divmod(abs(v - low), span)
    return low + (rest if turns % 2 == 0 else span - rest)


def neighbour(image, place, padding, corners):
    sizes = image.shape[1:]
    if padding == "zeros":
        inside = all(0 <= p < n for p, n in zip(place, sizes))
        return image[(slice(None), *place)] if inside else np.zeros(image.shape[0])
    if padding == "reflection":
        place = [int(round(reflect(p, n, corners))) for p, n in zip(place, sizes)]
    return image[(slice(None), *[min(max(p, 0), n - 1) for p, n in zip(place, sizes)])]


def sample(image, at, mode, padding, corners):
    """Returns the value of the image at the point `at`. If the padding is "border" or "reflection", linear and nearest
    mode first move the point into the image. Cubic mode does this for each neighbour of the point instead."""
    sizes = image.shape[1:]
    if mode not in ("cubic", "bicubic") and padding != "zeros":
        if padding == "reflection":
            at = [reflect(v, n, corners) for v, n in zip(at, sizes)]
        at = [min(max(v, 0.0), n - 1.0) for v, n in zip(at, sizes)]
    if mode == "nearest":
        return neighbour(image, [int(np.rint(v)) for v in at], padding, corners)
    cubic = mode in ("cubic", "bicubic")
    low = [math.floor(v) for v in at]
    value = np.zeros(image.shape[0])
    for step in itertools.product(range(-1, 3) if cubic else range(2), repeat=len(at)):
        place = [b + s for b, s in zip(low, step)]
        weight = math.prod(kernel("cubic" if cubic else "linear", v - p, -0.75) for v, p in zip(at, place))
        value += weight * neighbour(image, place, padding, corners)
    return value


@model("GridSample", "com.microsoft.GridSample")
def grid_sample(case):
    x, grid = case.args
    corners = case.attrs.get("align_corners", 0)
    mode, padding = case.attrs.get("mode", "linear"), case.attrs.get("padding_mode", "zeros")
    sizes = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for place in itertools.product(*[range(n) for n in (x.shape[0], *grid.shape[1:-1])]):
        point = grid[place].astype(np.float64)[::-1]  # grid is (x, y), and point is (y, x)
        at = [(v + 1) / 2 * (n - 1) if corners else ((v + 1) * n - 1) / 2 for v, n in zip(point, sizes)]
        y[(place[0], slice(None), *place[1:])] = sample(x[place[0]].astype(np.float64), at, mode, padding, corners)
    return [y.astype(x.dtype)]


def bilinear_terms(image, y, x):
    """Returns the four neighbours of a point, each multiplied by its bilinear weight. A point outside the image by at
    most one pixel is moved to the border. For a point further outside, returns [0.0]."""
    height, width = image.shape
    if y < -1 or y > height or x < -1 or x > width:
        return [0.0]
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    v, u = y - top, x - left
    return [(1 - v) * (1 - u) * image[top, left], (1 - v) * u * image[top, right],
            v * (1 - u) * image[bottom, left], v * u * image[bottom, right]]


@model("RoiAlign")
def roi_align(case):
    x, rois, batches = case.args
    a = case.attrs
    height, width, ratio = a.get("output_height", 1), a.get("output_width", 1), a.get("sampling_ratio", 0)
    half = case.opset >= 16 and a.get("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    y = np.zeros((len(rois), x.shape[1], height, width))
    for r, roi in enumerate(rois.astype(np.float64) * a.get("spatial_scale", 1.0) - (0.5 if half else 0.0)):
        size = roi[2:] - roi[:2] if half else np.maximum(roi[2:] - roi[:2], 1.0)
        bin_w, bin_h = size[0] / width, size[1] / height
        grid_h, grid_w = ratio or math.ceil(bin_h), ratio or math.ceil(bin_w)
        for c, p, q in itertools.product(range(x.shape[1]), range(height), range(width)):
            points = [bilinear_terms(x[batches[r], c].astype(np.float64), roi[1] + (p + (i + 0.5) / grid_h) * bin_h,
                                     roi[0] + (q + (j + 0.5) / grid_w) * bin_w) for i in range(grid_h) for j in range(grid_w)]
            if a.get("mode", "avg") == "avg":
                y[r, c, p, q] = sum(map(sum, points)) / max(1, len(points))
            else:  # as in ONNX's own tests, mode max returns the largest weighted neighbour instead of the largest sum
                y[r, c, p, q] = max(map(max, points))
    return [y.astype(x.dtype)]
