"""Generates random tensors of every element type."""

import numpy as np

from . import values

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40, 1e-30, 3e38, -3e38)
WORDS = ("", "a", "b", "ab", "tern", "Tern", "naïve", "鸥", "a b", " pad ", "12", "-3.5", "nan", "A", "the", "é")


def tensor(draw, dtype, shape, **how):
    """Returns a random tensor. If `low` and `high` are given, values are uniform in this range. Otherwise floats have a
    normal distribution with the standard deviation `spread`. `special` is the probability that an element is NaN,
    infinite, a signed zero, denormal or huge. If `wide`, integers sometimes cover the entire range of their type."""
    shape = tuple(int(s) for s in shape)
    if dtype == "string":
        return strings(draw, shape, **how)
    if dtype == "bool":
        return np.asarray(draw.rng.random(shape) < how.get("p", 0.5))
    if dtype in values.INTS or dtype in values.TINY_INTS:
        return integers(draw, dtype, shape, **how)
    return floats(draw, dtype, shape, **how)


def strings(draw, shape, words=WORDS, **_):
    out = np.empty(shape, dtype=object)
    flat = out.reshape(-1)
    for i in range(flat.size):
        flat[i] = draw.choice(words)
    return flat.reshape(shape)


def int_range(dtype):
    info = values.ml_dtypes.iinfo(values.NUMPY[dtype])
    return int(info.min), int(info.max)


def integers(draw, dtype, shape, low=None, high=None, wide=False, **_):
    smallest, largest = int_range(dtype)
    if dtype in values.TINY_INTS or (wide and draw.chance(0.5)):
        low, high = smallest, largest
    low = max(smallest, -9) if low is None else max(low, smallest)
    high = min(largest, 9) if high is None else min(high, largest)
    kind = np.uint64 if dtype == "uint64" else np.int64
    data = draw.rng.integers(int(np.floor(low)), int(np.ceil(high)), shape, dtype=kind, endpoint=True)
    return np.asarray(data).astype(values.NUMPY[dtype])


def floats(draw, dtype, shape, low=None, high=None, spread=1.0, special=0.0, **_):
    if low is not None or high is not None:
        data = draw.rng.uniform(-9 if low is None else low, 9 if high is None else high, shape)
    else:
        data = draw.rng.normal(0, spread, shape)
    data = np.asarray(data)
    if special and data.size:
        hit = draw.rng.random(shape) < special
        data = np.where(hit, draw.rng.choice(SPECIAL, shape), data)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(data).astype(values.NUMPY[dtype]).reshape(shape)
