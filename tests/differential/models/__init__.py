"""Numpy models of operators in double precision, which decide which engine is right when onnxruntime and another engine
differ.

A model follows the specification. If an operator has no specification (mostly in com.microsoft), its model follows
onnxruntime. A model returns the outputs of the case's node in order. It returns None for a case that it does not
implement; onnx.reference then runs the case."""

import importlib
import pathlib

MODELS = {}


def model(*keys):
    """Registers a function `evaluate(case) -> outputs` for operators, which have the names of case ids."""

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
    """Returns those of the possible outputs that the node has a name for."""
    return [value for name, value in zip(case.nodes[0].output, outputs) if name]


def arguments(case, count):
    """Returns the node's inputs, padded with None to `count`."""
    return [*case.args, *[None] * count][:count]
