"""Numpy models of operators, in double precision. If onnxruntime and another engine differ, the model shows which of
them is right.

A model follows the specification. If an operator has no specification (mostly in com.microsoft), its model follows
onnxruntime. A model returns the outputs of the case's node in order. It returns None for a case that it does not
implement; onnx.reference then runs the case."""

import importlib
import pathlib

MODELS = {}


def model(*keys):
    """Registers a function `evaluate(case) -> outputs` for the operators `keys`, such as "com.microsoft.Gelu"."""

    def register(evaluate):
        MODELS.update(dict.fromkeys(keys, evaluate))
        return evaluate

    return register


def load():
    """Imports every file of this folder, which registers its models."""
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(f"models.{path.stem}")
    return MODELS


def wanted(case, outputs):
    """Returns the elements of `outputs` that the node does not omit."""
    return [value for name, value in zip(case.nodes[0].output, outputs) if name]


def arguments(case, count):
    """Returns the node's inputs, padded with None to `count`."""
    return [*case.args, *[None] * count][:count]
