"""Counts the nodes of an ONNX model, in the same way for all optimizers."""

from collections import Counter

import onnx
import onnx.inliner


def load(path):
    """Returns the model with its local functions inlined. Otherwise a node in a function would be counted once instead
    of once per call, and some optimizers would not optimize across functions."""
    model = onnx.load(path)
    return onnx.inliner.inline_local_functions(model) if model.functions else model


def bodies(graph):
    """Yields a graph and its nested graphs."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from bodies(inner)


def _name(node):
    return f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type


def ops(model):
    """Returns the number of nodes of each operator, in all graphs and functions. Constant nodes are not counted,
    because they are data like initializers."""
    found = Counter()
    for body in [*bodies(model.graph), *(b for f in model.functions for b in bodies(f))]:
        found.update(_name(n) for n in body.node if n.op_type != "Constant")
    return found


def is_random(model):
    """Returns whether the results of two runs may differ."""
    return any(op.startswith("Random") or op in ("Multinomial", "Bernoulli") for op in ops(model))
