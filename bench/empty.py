"""The overhead of calling an engine: peers are called from Python, Tern from C++."""

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
    """A Relu of one number."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "empty", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def calls(plan):
    """Engine -> ms of one call of a trivial model, for engines that run it."""
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        save(pathlib.Path(folder) / ENTRY["file"])
        short = dataclasses.replace(plan, cache=pathlib.Path(folder), rounds=ROUNDS, seconds=SECONDS, single=False)
        return {name: found["ms"] for name, found in measure(ENTRY, short).items() if figures.ok(found)}
