"""Performs one export: builds the network, exports it, runs onnxruntime, stores the data sets."""

import re
import shutil
import warnings

import numpy
import onnxruntime
import torch
import transformers

import network
from families import FAMILIES

torch.set_num_threads(1)
transformers.logging.set_verbosity_error()
warnings.filterwarnings("ignore")

# The optimisation levels of onnxruntime, in order of preference. Level "none" is needed because some optimisations
# change results. For example, onnxruntime fuses a BatchNormalization in training mode into a Conv.
OPTIMISATION = {
    "default": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
    "none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
}
LARGE_DIFFERENCE = 1e-3  # if torch and onnxruntime differ by more than this, the index entry has a "note"


class OnnxruntimeError(Exception):
    pass


def _axes(family, dynamic):
    """Returns for each input a dict from axis to the name of the dynamic dimension."""
    return [{axis: dim for axis, dim in enumerate(spec.dims) if dim in dynamic} for spec in family.inputs]


def _export_torchscript(net, path, dynamic):
    names = [i.name for i in net.family.inputs]
    axes = {name: found for name, found in zip(names, _axes(net.family, dynamic)) if found}
    # Dynamic axes of outputs are not named, because the exporter infers them.
    torch.onnx.export(net, network.inputs(net.family, 0), path, dynamo=False, input_names=names,
                      output_names=net.output_names, dynamic_axes=axes or None)


def _export_dynamo(net, path, dynamic):
    names = [i.name for i in net.family.inputs]
    shapes = (tuple(found or None for found in _axes(net.family, dynamic)),) if dynamic else None
    torch.onnx.export(net, network.inputs(net.family, 0), path, dynamo=True, input_names=names,
                      output_names=net.output_names, dynamic_shapes=shapes, external_data=False, verbose=False)


EXPORT = {"torchscript": _export_torchscript, "dynamo": _export_dynamo}


def _session(path, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = OPTIMISATION[level]
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise OnnxruntimeError(f"load: {error}") from error


def _run(session, tensors, family):
    """Runs the model. Returns the arrays that it reads, in the order of the graph's inputs, and the results. The
    exporter may have removed unused inputs, so that there may be fewer arrays than `tensors`."""
    arrays = {i.name: t.numpy() for i, t in zip(family.inputs, tensors)}
    feeds = {i.name: arrays[i.name] for i in session.get_inputs()}
    try:
        return list(feeds.values()), session.run(None, feeds)
    except Exception as error:
        raise OnnxruntimeError(f"run: {error}") from error


def _difference(net, tensors, results):
    """Returns the largest absolute difference between `results` and the results of torch, or None if shapes differ."""
    with torch.no_grad():
        wanted = [t.numpy() for t in net(*tensors)]
    if [w.shape for w in wanted] != [r.shape for r in results]:
        return None
    return max((float(numpy.abs(w - r).max()) for w, r in zip(wanted, results) if w.size), default=0.0)


def _save(folder, arrays, results):
    folder.mkdir(exist_ok=True)
    for kind, values in (("input", arrays), ("output", results)):
        for number, value in enumerate(values):
            numpy.save(folder / f"{kind}_{number}.npy", value)


def _data_set(net, session, number, folder):
    tensors = network.inputs(net.family, number)
    arrays, results = _run(session, tensors, net.family)
    _save(folder, arrays, results)
    return _difference(net, tensors, results)


def _attempt(family, exporter, dynamic, attention, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    net = network.build(family, attention)
    path = str(folder / "model.onnx")
    with torch.no_grad():
        EXPORT[exporter](net, path, dynamic)
    outcome = {"status": "exported", "dynamic": list(dynamic), "attention": attention}
    return {**outcome, **_store(net, path, folder, bool(dynamic))}


def _store(net, path, folder, dynamic):
    """Runs onnxruntime and stores its inputs and results as data sets. Uses the first optimisation level whose results
    agree with torch. If none agrees, uses the default level."""
    for level in ("default", "none", "default"):
        session = _session(path, level)
        differences = [_data_set(net, session, 0, folder)]
        if dynamic:
            differences.append(_data_set(net, session, 1, folder / "data_1"))
        outcome = _describe(differences, level)
        if "note" not in outcome:
            break
    return outcome


def _describe(differences, level):
    outcome = {"torch_diff": differences, "optimisation": level}
    if any(d is None for d in differences):
        outcome["note"] = "onnxruntime and torch differ in shape"
    elif not all(d <= LARGE_DIFFERENCE for d in differences):
        outcome["note"] = "onnxruntime and torch differ in values"
    return outcome


def _attempts(family, shape):
    """Returns pairs (dynamic dimensions, attention implementation) in the order in which they are tried. For dynamic
    shapes, the order is: all dimensions, only the batch, all dimensions with eager attention, only the batch with eager
    attention."""
    everything = tuple(family.symbols())
    wishes = [()] if shape == "static" else list(dict.fromkeys([everything, ("batch",)]))
    return [(dynamic, attention) for attention in network.ATTENTION for dynamic in wishes]


def _restricted(family, dynamic):
    """Returns a copy of the family in which each dimension that is not dynamic has the same size in both data sets."""
    fixed = {d: (family.size(d, 0),) * 2 for d in family.symbols() if d not in dynamic}
    return type(family)(**{**vars(family), "sizes": {**family.sizes, **fixed}})


def _class(error):
    return "onnxruntime failed" if isinstance(error, OnnxruntimeError) else "exporter failed"


def export(name, exporter, shape, out):
    """Tries the exports of _attempts until the results of onnxruntime agree with torch. Stores that export. If none
    agrees, stores the first export that onnxruntime can run. Returns the outcome for the index."""
    family, folder = FAMILIES[name], out / f"{name}.{exporter}.{shape}"
    failure, noted = None, None
    for dynamic, attention in _attempts(family, shape):
        try:
            outcome = _attempt(_restricted(family, dynamic), exporter, dynamic, attention, folder)
            if "note" not in outcome:
                return outcome
            noted = noted or (outcome, dynamic, attention)
        except Exception as error:
            failure = failure or {"status": _class(error), "reason": _reason(error)}
    if noted:
        return _attempt(_restricted(family, noted[1]), exporter, *noted[1:], folder)
    shutil.rmtree(folder, ignore_errors=True)
    return failure


def _reason(error):
    """Returns the message of the innermost exception in one line. That exception is more specific than the exporter's
    own exception, which wraps it."""
    root = error
    while root.__cause__ is not None and not isinstance(error, OnnxruntimeError):
        root = root.__cause__
    return re.sub(r"\s+", " ", f"{type(root).__name__}: {root}").strip()[:300]
