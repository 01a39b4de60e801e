"""Compares two engines' results and describes the first difference."""

import numpy as np

from . import values

# Pairs (rtol, atol). The tolerances of float16 and bfloat16 are large because one engine may round after every step,
# while the other computes all steps in float.
TOLERANCE = {
    "float": (1e-3, 1e-5), "double": (1e-6, 1e-9), "float16": (5e-3, 2e-3), "bfloat16": (2e-2, 2e-2),
    "float8e4m3fn": (0.13, 2e-2), "float8e4m3fnuz": (0.13, 2e-2), "float8e5m2": (0.26, 2e-2),
    "float8e5m2fnuz": (0.26, 2e-2), "float8e8m0": (0, 0), "float4e2m1": (0, 0),
}
A_FEW = 0.05  # the fraction of elements that may differ by 1 if off_by_one is True


def tolerance(dtype, check):
    rtol, atol = TOLERANCE.get(dtype, (0.0, 0.0))
    if dtype in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz") and not check.off_by_one:
        return 0.0, 0.0
    rtol = rtol if check.rtol is None else max(check.rtol, rtol)
    atol = atol if check.atol is None else max(check.atol, atol)
    return rtol, atol * max(1.0, check.scale)


def outputs_differ(expected, actual, check):
    """Returns None if the outputs agree. Otherwise returns a message about the first difference."""
    if check.canon:
        expected, actual = check.canon(expected), check.canon(actual)
    if len(expected) != len(actual):
        return f"{len(actual)} outputs, expected {len(expected)}"
    for i, (want, got) in enumerate(zip(expected, actual)):
        message = differ(want, got, check, i in check.shape_only)
        if message:
            return f"output {i}: {message}"
    return None


def differ(want, got, check, shape_only=False):
    if want is None or got is None:
        return None if want is got else f"got {_kind(got)}, expected {_kind(want)}"
    if isinstance(want, dict):
        return _dicts_differ(want, got, check)
    if isinstance(want, list):
        return _lists_differ(want, got, check, shape_only)
    if isinstance(got, (list, dict)):
        return f"got {_kind(got)}, expected a tensor"
    return _tensors_differ(np.asarray(want), np.asarray(got), check, shape_only)


def _kind(value):
    return "nothing" if value is None else type(value).__name__


def _lists_differ(want, got, check, shape_only):
    if not isinstance(got, list):
        return f"got {_kind(got)}, expected a sequence"
    if len(want) != len(got):
        return f"sequence of {len(got)}, expected {len(want)}"
    for i, (a, b) in enumerate(zip(want, got)):
        message = differ(a, b, check, shape_only)
        if message:
            return f"element {i}: {message}"
    return None


def _dicts_differ(want, got, check):
    if not isinstance(got, dict) or set(want) != set(got):
        return f"map keys {list(got) if isinstance(got, dict) else got}, expected {list(want)}"
    for key, a in want.items():
        # Maps contain Python numbers without an element type.
        message = differ(np.asarray(a), np.asarray(got[key]).astype(np.asarray(a).dtype), check)
        if message:
            return f"key {key!r}: {message}"
    return None


def _tensors_differ(want, got, check, shape_only):
    dtype, other = values.name_of(want), values.name_of(got)
    if dtype != other:
        return f"type {other}, expected {dtype}"
    if want.shape != got.shape:
        return f"shape {list(got.shape)}, expected {list(want.shape)}"
    if shape_only or want.size == 0:
        return None
    if dtype in ("string", "bool"):
        bad = _texts(want) != _texts(got) if dtype == "string" else want != got
    elif dtype in values.INTS or dtype in values.TINY_INTS:
        bad = _ints_differ(want, got, check)
    else:
        bad = _floats_differ(want, got, *tolerance(dtype, check))
    return _worst(want, got, bad) if np.any(bad) else None


def _texts(array):
    return np.vectorize(lambda s: s.decode() if isinstance(s, bytes) else str(s), otypes=[object])(array)


def _ints_differ(want, got, check):
    if not check.off_by_one:
        return want != got
    gap = np.abs(want.astype(np.int64) - got.astype(np.int64))
    share = A_FEW if check.off_by_one is True else check.off_by_one
    if np.count_nonzero(gap == 1) > max(2, share * gap.size):
        return gap > 0
    return gap > 1


def _floats_differ(want, got, rtol, atol):
    a, b = want.astype(np.float64), got.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        close = (a == b) | (np.abs(a - b) <= atol + rtol * np.abs(a))
    close &= np.isfinite(a) | (a == b)
    return ~(close | (np.isnan(a) & np.isnan(b)))


def _worst(want, got, bad):
    """Returns a message with the first wrong elements and the number of wrong elements."""
    places = np.argwhere(bad)
    shown = "; ".join(f"[{','.join(map(str, p))}] got {got[tuple(p)]!s}, expected {want[tuple(p)]!s}"
                      for p in places[:3])
    return f"{len(places)} of {bad.size} differ: {shown}"
