#!/usr/bin/env python3
"""Prints for each operator and opset the number of nodes, and the number of exported models that contain such nodes."""

import argparse
import sys
from collections import Counter
from pathlib import Path

import onnx


def graphs(graph):
    """Yields a graph and its nested graphs."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from graphs(inner)


def ops(model):
    """Yields (op, domain, opset) for each node, including nodes of local functions."""
    versions = {o.domain: o.version for o in model.opset_import}
    for body in [*graphs(model.graph), *model.functions]:
        for node in body.node:
            yield node.op_type, node.domain or "ai.onnx", versions.get(node.domain, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="folder that export.py filled")
    options = parser.parse_args()
    occurrences, models = Counter(), Counter()
    for path in sorted(options.models.glob("*/model.onnx")):
        found = Counter(ops(onnx.load(path, load_external_data=False)))
        occurrences += found
        models.update(found.keys())
    print(f"{'op':28}{'domain':20}{'opset':>6}{'count':>9}{'models':>8}")
    for (op, domain, opset), count in sorted(occurrences.items(), key=lambda i: (-models[i[0]], i[0])):
        print(f"{op:28}{domain:20}{opset:6}{count:9}{models[op, domain, opset]:8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
