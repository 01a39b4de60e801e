"""Runs a model in onnxruntime and measures the difference between two sets of outputs."""

import numpy
import onnxruntime

LEVELS = onnxruntime.GraphOptimizationLevel


def session(path, level=LEVELS.ORT_DISABLE_ALL, save_to=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if save_to:
        options.optimized_model_filepath = str(save_to)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def load(path):
    """Returns a session without onnxruntime's optimizer. If the model cannot run without it, the session uses the basic
    level."""
    try:
        return session(path)
    except Exception:  # some operators have no kernel before the optimizer replaces them
        return session(path, LEVELS.ORT_ENABLE_BASIC)


def results(loaded, feeds):
    """Returns the outputs by name."""
    wanted = {i.name for i in loaded.get_inputs()}
    values = loaded.run(None, {name: value for name, value in feeds.items() if name in wanted})
    return dict(zip((o.name for o in loaded.get_outputs()), values))


def _arrays(value):
    """Returns a list of tensors: the tensor itself, the tensors of a sequence, or one tensor with the numbers of a map,
    sorted by key."""
    if isinstance(value, dict):
        return [numpy.asarray([value[key] for key in sorted(value)])]
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in _arrays(item)]
    return [numpy.asarray(value)]


def _error(wanted, got):
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return float("inf")
    if wanted.dtype.kind not in "fciub":
        return 0.0 if numpy.array_equal(wanted, got) else float("inf")
    wide = "c16" if wanted.dtype.kind == "c" else "f8"
    wanted, got = wanted.astype(wide), got.astype(wide)
    finite = numpy.isfinite(wanted)
    if not numpy.array_equal(wanted[~finite], got[~finite], equal_nan=True) or not numpy.isfinite(got[finite]).all():
        return float("inf")
    difference = numpy.abs(wanted[finite] - got[finite]).max(initial=0.0)
    return float(difference / (numpy.abs(wanted[finite]).max(initial=0.0) or 1.0))


def distance(wanted, got):
    """Returns the largest difference, divided by the largest magnitude of the output. Returns inf if shapes, types or
    the positions of NaNs differ."""
    if set(wanted) != set(got):
        return float("inf")
    pairs = [(_arrays(wanted[name]), _arrays(got[name])) for name in wanted]
    if any(len(a) != len(b) for a, b in pairs):
        return float("inf")
    return max((_error(x, y) for a, b in pairs for x, y in zip(a, b)), default=0.0)
