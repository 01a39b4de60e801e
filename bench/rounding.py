"""What rounding to bf16 does to a network by itself: the measure of what an engine may differ by that computes in it."""

import json
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import feeds

KEPT = "rounding.json"  # in the zoo's folder: name -> [time of the network's file, error]


def to_bf16(values):
    """f32 values rounded to the nearest bf16, ties to even; NaN and infinities as they are."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(values), rounded, values)


def round_weights(source, target):
    """Writes the model with the weights of its products (constants of two dims and more) rounded."""
    model = onnx.load(source)
    constants = [a.t for node in model.graph.node if node.op_type == "Constant" for a in node.attribute if a.name == "value"]
    for tensor in (*model.graph.initializer, *constants):
        if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) > 1:
            tensor.CopyFrom(numpy_helper.from_array(to_bf16(numpy_helper.to_array(tensor)), tensor.name))
    onnx.save(model, target)


def rounded_job(job, folder):
    """The same job with weights and inputs rounded; what an engine keeps for later goes to the folder too."""
    model, inputs = folder / "rounded.onnx", folder / "rounded.npz"
    round_weights(job["model"], model)
    given = feeds.load(job["inputs_file"])
    feeds.store(inputs, {name: to_bf16(value) if value.dtype == np.float32 else value for name, value in given.items()})
    return {**job, "model": str(model), "inputs_file": str(inputs), "cache": str(folder)}


def error_of(job, name, cache, compare):
    """The network's error, found once and kept. compare(job): how far the job's results are from the exact ones."""
    path, stamp = pathlib.Path(cache) / KEPT, pathlib.Path(job["model"]).stat().st_mtime_ns
    kept = json.loads(path.read_text()) if path.exists() else {}
    if kept.get(name, [None])[0] != stamp:
        with tempfile.TemporaryDirectory(prefix="bench") as folder:
            kept[name] = [stamp, compare(rounded_job(job, pathlib.Path(folder)))]
        path.write_text(json.dumps(kept, indent=1) + "\n")
    return kept[name][1]
