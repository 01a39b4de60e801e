"""Plain numpy models of operators, in double precision: the judge where onnxruntime and another engine differ.

A model follows the specification, not onnxruntime; where there is no specification (mostly com.microsoft) it
follows onnxruntime. It returns the outputs of the case's node in order, or None for a form that it leaves to
onnx.reference."""

import importlib
import pathlib

MODELS = {}


def model(*keys):
    """Registers `evaluate(case) -> outputs` for operators named as in case ids."""

    def register(evaluate):
        MODELS.update(dict.fromkeys(keys, evaluate))
        return evaluate

    return register


def load():
    """Imports every file of this folder: a file's existence is its registration."""
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(f"models.{path.stem}")
    return MODELS


def wanted(case, outputs):
    """The requested outputs of all possible ones."""
    return [value for name, value in zip(case.nodes[0].output, outputs) if name]


def arguments(case, count):
    """The node's inputs, padded with None to a fixed number."""
    return [*case.args, *[None] * count][:count]
