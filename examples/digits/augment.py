"""Distorts a batch of digits at random. All distortions are combined into one, so that the pixels are resampled once."""

import math

import torch
import torch.nn.functional as F

# The maximum of each distortion, except that ELASTIC is a standard deviation. SHIFT and ELASTIC are fractions
# of half the image's width, which is 14 pixels.
ROTATE = math.radians(12)
SCALE = 0.12
SHEAR = 0.15
SHIFT = 2.5 / 14
ELASTIC = 0.05


def _uniform(n, limit, generator):
    return (torch.rand(n, generator=generator) * 2 - 1) * limit


def _affine(n, generator):
    """Returns matrices f32[n,2,3] that map output coordinates to input coordinates."""
    angle = _uniform(n, ROTATE, generator)
    shear = _uniform(n, SHEAR, generator)
    sx, sy = 1 + _uniform(n, SCALE, generator), 1 + _uniform(n, SCALE, generator)
    cos, sin = torch.cos(angle), torch.sin(angle)
    dx, dy = _uniform(n, SHIFT, generator), _uniform(n, SHIFT, generator)
    rows = [cos * sx, (shear * cos - sin) * sy, dx, sin * sx, (shear * sin + cos) * sy, dy]
    return torch.stack(rows, dim=1).view(n, 2, 3)


def _elastic(n, size, generator):
    """Returns smooth displacements f32[n,size,size,2]. They are interpolated noise, which bends strokes but does not tear them."""
    coarse = torch.randn(n, 2, 6, 6, generator=generator) * ELASTIC
    field = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=True)
    return field.permute(0, 2, 3, 1)


def augment(images, generator):
    """Distorts images f32[N,1,S,S]. Pixels from outside an image count as background."""
    n, _, size, _ = images.shape
    grid = F.affine_grid(_affine(n, generator), list(images.shape), align_corners=False)
    return F.grid_sample(images, grid + _elastic(n, size, generator), align_corners=False)
