#!/usr/bin/env python3
"""Replaces the batch size 1 of an ONNX model by an open dim. Usage: open_batch.py IN.onnx OUT.onnx"""

import sys

import onnx
from onnx import numpy_helper


def _constants(graph):
    """Returns all constant tensors by name."""
    found = {each.name: each for each in graph.initializer}
    found.update({node.output[0]: node.attribute[0].t for node in graph.node if node.op_type == "Constant"})
    return found


def open_batch(model):
    graph = model.graph
    del graph.value_info[:]
    for value in [*graph.input, *graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    constants = _constants(graph)
    for node in graph.node:
        target = constants.get(node.input[1]) if node.op_type == "Reshape" else None
        dims = numpy_helper.to_array(target).copy() if target is not None else []
        if len(dims) and dims[0] == 1:
            dims[0] = 0  # 0 means that Reshape copies the size of this dim from its input
            target.CopyFrom(numpy_helper.from_array(dims, target.name))


if __name__ == "__main__":
    loaded = onnx.load(sys.argv[1])
    open_batch(loaded)
    onnx.save(loaded, sys.argv[2])
