"""Measures the error that rounding weights and inputs to bf16 causes in a network. The tolerance in bf16 depends on this
error (see figures.ROUNDED)."""

import hashlib
import json
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import feeds

KEPT = "rounding.json"  # file in the zoo's folder; maps a network's name to [digest(), error]
METHOD = 1  # version of this method


def to_bf16(values):
    """Rounds f32 values to the nearest bf16, and ties to even. NaN and infinities stay unchanged."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(values), rounded, values)


def round_weights(source, target):
    """Writes the model with rounded weights. Only constants with at least two dims are rounded, because these are the
    operands of matrix products and convolutions."""
    model = onnx.load(source)
    constants = [a.t for node in model.graph.node if node.op_type == "Constant" for a in node.attribute if a.name == "value"]
    for tensor in (*model.graph.initializer, *constants):
        if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) > 1:
            tensor.CopyFrom(numpy_helper.from_array(to_bf16(numpy_helper.to_array(tensor)), tensor.name))
    onnx.save(model, target)


def rounded_job(job, folder):
    """Returns a job with rounded weights and inputs. Writes their files to `folder`, which is also the cache folder of this
    job."""
    model, inputs = folder / "rounded.onnx", folder / "rounded.npz"
    round_weights(job["model"], model)
    given = feeds.load(job["inputs_file"])
    feeds.store(inputs, {name: to_bf16(value) if value.dtype == np.float32 else value for name, value in given.items()})
    return {**job, "model": str(model), "inputs_file": str(inputs), "cache": str(folder)}


def digest(job, engine):
    """Returns a digest of the network, its inputs, and the engine with its version."""
    made = hashlib.sha256(f"{METHOD} {engine}".encode())
    for path in (job["model"], job["inputs_file"]):
        with open(path, "rb") as file:
            made.update(hashlib.file_digest(file, "sha256").digest())
    return made.hexdigest()


def error_of(job, name, engine, cache, compare):
    """Returns the rounding error of a network. The error is computed once per network and engine, and cached. `engine` is the
    name and version of an engine. compare(job) runs a job and returns the error of its outputs relative to the exact
    outputs."""
    path, now = pathlib.Path(cache) / KEPT, digest(job, engine)
    kept = json.loads(path.read_text()) if path.exists() else {}
    if kept.get(name, [None])[0] != now:
        with tempfile.TemporaryDirectory(prefix="bench") as folder:
            kept[name] = [now, compare(rounded_job(job, pathlib.Path(folder)))]
        path.write_text(json.dumps(kept, indent=1) + "\n")
    return kept[name][1]
