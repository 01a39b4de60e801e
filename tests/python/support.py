"""Common code of the Python package's tests: small models, made with the package onnx."""

import pathlib

import numpy as np
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples/digits/digits.onnx"

FLOAT = TensorProto.FLOAT


def value(name, dtype=FLOAT, shape=("N", 4)):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=(), opset=21, extra_opsets=()):
    """Returns the bytes of an ONNX model."""
    graph = helper.make_graph(nodes, "test", inputs, outputs, list(initializers))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *extra_opsets], producer_name="test")
    made.ir_version = 10
    return made.SerializeToString()


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def one_op(op, dtype=FLOAT, shape=("N", 4), **attributes):
    """y = op(x)"""
    return model([node(op, "x", "y", **attributes)], [value("x", dtype, shape)], [value("y", dtype, shape)])


def add(dtype=FLOAT, shape=("N", 4)):
    """sum = a + b"""
    return model([node("Add", "a b", "sum")], [value("a", dtype, shape), value("b", dtype, shape)], [value("sum", dtype, shape)])


def endless():
    """A loop that ends only when it is stopped."""
    body = helper.make_graph(
        [node("Identity", "keep", "keep_out"), node("Sin", "state", "state_out")], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("keep", TensorProto.BOOL, []),
         value("state")],
        [helper.make_tensor_value_info("keep_out", TensorProto.BOOL, []), value("state_out")])
    return model([helper.make_node("Loop", ["", "go", "x"], ["y"], body=body)],
                 [value("go", TensorProto.BOOL, []), value("x")], [value("y")])


def running_sum():
    """total = past + x, total is the next past."""
    return model([node("Add", "past x", "total"), node("Identity", "total", "seen")],
                 [value("past", FLOAT, (1, 4)), value("x", FLOAT, (1, 4))], [value("total", FLOAT, (1, 4)), value("seen", FLOAT, (1, 4))])


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)
