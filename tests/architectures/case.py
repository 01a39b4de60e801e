"""Runs tern on one model with one data set and compares the results."""

import re
import subprocess
import tempfile
from pathlib import Path

import numpy
import onnx

# Two engines compute sums in different orders, so that their float32 results differ by about 1e-5 in these tiny
# networks. The tolerance is larger than this difference and far smaller than the error of a wrong operator.
RTOL, ATOL = 1e-3, 1e-4

# tern lists unsupported operators, one per line: "  GridSample x2 at 'node', ..."
_MISSING = re.compile(r"^\s+([\w.]+) x\d+ at |unsupported: operator ([\w.]+)", re.MULTILINE)


def data_sets(folder):
    return [folder, *sorted(folder.glob("data_*"))]


def _numbered(folder, kind):
    files = folder.glob(f"{kind}_*.npy")
    return sorted(files, key=lambda f: int(f.stem.split("_")[1]))


def _signature(model):
    graph = onnx.load(model, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    return [i.name for i in graph.input if i.name not in constants], [o.name for o in graph.output]


def _file_name(output):
    return output.replace("/", "_").replace(":", "_") + ".npy"


def _errors(wanted, got):
    """Returns the largest absolute error and the largest relative error. To compute a relative error, the absolute
    error is divided by the wanted value, or by ATOL if that is larger."""
    difference = numpy.abs(wanted.astype("f8") - got.astype("f8"))
    if not difference.size:
        return 0.0, 0.0
    return float(numpy.nanmax(difference)), float(numpy.nanmax(difference / numpy.maximum(numpy.abs(wanted), ATOL)))


def compare(name, wanted, got):
    """Returns None if the results agree, and otherwise a description of the difference."""
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return {"message": f"{name}: expected {wanted.dtype}{list(wanted.shape)}, got {got.dtype}{list(got.shape)}"}
    if numpy.allclose(got, wanted, rtol=RTOL, atol=ATOL, equal_nan=True):
        return None
    if not numpy.array_equal(numpy.isfinite(wanted), numpy.isfinite(got)):
        return {"message": f"{name}: infinities or NaNs differ"}
    absolute, relative = _errors(wanted, got)
    return {"message": f"{name}: max abs {absolute:.3g}, max rel {relative:.3g}", "abs": absolute, "rel": relative}


def _command(tern, model, data, names, out):
    feeds = [f"{name}={file}" for name, file in zip(names, _numbered(data, "input"), strict=True)]
    return [tern, "run", str(model), *(w for feed in feeds for w in ("--input", feed)), "--output-dir", str(out)]


def _refusal(process):
    """Returns the outcome "unsupported" if tern reports an unsupported operator, and "failed" for any other error."""
    text = process.stderr
    ops = sorted({listed or single for listed, single in _MISSING.findall(text)})
    message = f"lacks {', '.join(ops)}" if ops else re.sub(r"\s+", " ", text).strip()[:400]
    outcome = "unsupported" if process.returncode == 2 and "unsupported:" in text else "failed"
    return {"outcome": outcome, "message": message or f"exit status {process.returncode}", "ops": ops}


def _compare_all(outputs, data, out):
    for name, file in zip(outputs, _numbered(data, "output"), strict=True):
        result = out / _file_name(name)
        if not result.exists():
            return {"outcome": "mismatched", "message": f"{name}: no {result.name} written"}
        problem = compare(name, numpy.load(file), numpy.load(result))
        if problem:
            return {"outcome": "mismatched", **problem}
    return {"outcome": "matched"}


def run(tern, model, data, limit):
    names, outputs = _signature(model)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        try:
            command = _command(tern, model, data, names, out)
            process = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit)
        except subprocess.TimeoutExpired:
            return {"outcome": "failed", "message": f"time limit of {limit} s"}
        return _refusal(process) if process.returncode else _compare_all(outputs, data, out)
