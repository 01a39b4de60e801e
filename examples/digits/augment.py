"""Random distortions of a batch of digits, as one resampling of the pixels."""

import math

import torch
import torch.nn.functional as F

# Limits of each distortion; lengths are fractions of the image's half width (14 pixels).
ROTATE = math.radians(12)
SCALE = 0.12
SHEAR = 0.15
SHIFT = 2.5 / 14
ELASTIC = 0.05


def _uniform(n, limit, generator):
    return (torch.rand(n, generator=generator) * 2 - 1) * limit


def _affine(n, generator):
    """Matrices f32[n,2,3] mapping output coordinates to input ones."""
    angle = _uniform(n, ROTATE, generator)
    shear = _uniform(n, SHEAR, generator)
    sx, sy = 1 + _uniform(n, SCALE, generator), 1 + _uniform(n, SCALE, generator)
    cos, sin = torch.cos(angle), torch.sin(angle)
    dx, dy = _uniform(n, SHIFT, generator), _uniform(n, SHIFT, generator)
    rows = [cos * sx, (shear * cos - sin) * sy, dx, sin * sx, (shear * sin + cos) * sy, dy]
    return torch.stack(rows, dim=1).view(n, 2, 3)


def _elastic(n, size, generator):
    """Smooth displacements f32[n,size,size,2]: noise on a coarse grid, interpolated so strokes bend, not tear."""
    coarse = torch.randn(n, 2, 6, 6, generator=generator) * ELASTIC
    field = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=True)
    return field.permute(0, 2, 3, 1)


def augment(images, generator):
    """Distorts f32[N,1,S,S]; outside the image is background."""
    n, _, size, _ = images.shape
    grid = F.affine_grid(_affine(n, generator), list(images.shape), align_corners=False)
    return F.grid_sample(images, grid + _elastic(n, size, generator), align_corners=False)
