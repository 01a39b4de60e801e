"""Describes an estimator to convert: its constructor, training data and converter."""

import dataclasses
from collections.abc import Callable

import numpy as np

RTOL, ATOL = 1e-5, 1e-6


@dataclasses.dataclass(frozen=True)
class Case:
    name: str                     # unique: "RandomForestClassifier.text.zipmap"
    make: Callable[[], object]    # the estimator, not fitted yet
    data: str                     # a key of datasets.DATA
    converter: str = "sklearn"    # a key of convert.CONVERTERS
    zipmap: bool | None = None    # the converter's option zipmap; if None, the option is not set
    options: dict = dataclasses.field(default_factory=dict)  # further options of the converter
    f64: bool = False             # whether the inputs and the converted model have double precision
    rtol: float = RTOL
    atol: float = ATOL            # multiplied by max(1, largest magnitude of the result)
    why: str = ""                 # the reason for a larger tolerance

    def __post_init__(self):
        assert (self.rtol, self.atol) == (RTOL, ATOL) or self.why, f"{self.name}: say why the tolerance differs"


def classifier(name, make, data="multi", **rest):
    """Returns four cases. The labels are integers or strings. The probabilities are a tensor or, with ZipMap, a
    sequence of maps."""
    return [Case(f"{name}.{labels}.{'zipmap' if zipmap else 'tensor'}", make, data + suffix, zipmap=zipmap, **rest)
            for labels, suffix in (("int", ""), ("text", "_text")) for zipmap in (False, True)]


def one(name, make, data, **rest):
    return [Case(name, make, data, **rest)]


def compare(case, wanted, got, where=""):
    """Returns None if the results agree, and otherwise a message about the first difference. A list is a sequence, a
    dict is a map, and an array is a tensor."""
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return f"{where}: {len(wanted)} items wanted, got {len(got) if isinstance(got, list) else type(got).__name__}"
        found = (compare(case, w, g, f"{where}[{i}]") for i, (w, g) in enumerate(zip(wanted, got)))
        return next((f for f in found if f), None)
    if isinstance(wanted, dict):
        wanted = {str(key): value for key, value in wanted.items()}
        if not isinstance(got, dict) or set(got) != set(wanted):
            return f"{where}: keys {sorted(wanted)} wanted, got {sorted(got) if isinstance(got, dict) else type(got).__name__}"
        found = (compare(case, wanted[k], got[k], f"{where}[{k!r}]") for k in wanted)
        return next((f for f in found if f), None)
    return compare_tensors(case, np.asarray(wanted), np.asarray(got), where)


def compare_tensors(case, wanted, got, where):
    if wanted.shape != got.shape:
        return f"{where}: shape {list(wanted.shape)} wanted, got {list(got.shape)}"
    if wanted.dtype.kind not in "fc":
        wrong = np.argwhere(wanted.astype(str) != got.astype(str))
    else:
        got = got.astype(np.float64)
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
        wrong = np.argwhere(~np.isclose(got, wanted.astype(np.float64), rtol=case.rtol, atol=case.atol * scale,
                                        equal_nan=True))
    if not len(wrong):
        return None
    at = tuple(wrong[0])
    return f"{where}{list(map(int, at))}: {wanted[at]!r} wanted, got {got[at]!r}; {len(wrong)} of {wanted.size} differ"
