"""Measures the overhead of one call of each engine, because peers are called from Python and Tern from C++."""

import dataclasses
import pathlib
import tempfile

import onnx
from onnx import TensorProto, helper

import figures
from measure import measure

ENTRY = {"file": "empty.onnx", "outputs": ["y"],
         "inputs": [{"name": "x", "dtype": "float32", "dims": [1], "symbols": {}, "kind": "normal", "high": 0}]}
ROUNDS, SECONDS = 3, 0.05


def save(path):
    """Writes a model that consists of a Relu of one number."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "empty", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def calls(plan):
    """Returns the ms of one call of the empty model by engine, for engines that run it."""
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        save(pathlib.Path(folder) / ENTRY["file"])
        short = dataclasses.replace(plan, cache=pathlib.Path(folder), rounds=ROUNDS, seconds=SECONDS, single=False)
        return {name: found["ms"] for name, found in measure(ENTRY, short).items() if figures.ok(found)}
