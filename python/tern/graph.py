"""tern.Graph: texts, notebook pages and files of graphs."""

import collections
import html as _html
import os
import pathlib
import tempfile

from ._tern import Graph, Node, Value, _ops
from .errors import InvalidArgument
from .records import record

__all__ = ["Graph", "Node", "OpInfo", "Value", "ops"]

OpInfo = record("OpInfo", "name family summary", "An op that nodes may have.")

MAX_ROWS = 200  # nodes that a notebook shows


def ops():
    """Returns a list of `OpInfo`: the ops that nodes of a graph may have.

    >>> [op.summary for op in tern.ops() if op.name == "Gelu"]
    ['y = x * (1 + erf(x / sqrt(2))) / 2']
    """
    return [OpInfo(*row) for row in _ops()]


def summary(graph):
    """Returns the text of repr(graph): inputs, outputs and the number of nodes per op."""
    counts = collections.Counter(node.op for node in graph.nodes)
    lines = [f"tern.Graph '{graph.name}': {len(graph)} nodes, {len(graph.constants)} constants"]
    lines += [f"  input  {value.name}: {value.type}" for value in graph.inputs]
    lines += [f"  output {value.name}: {value.type}" for value in graph.outputs]
    lines += ["  " + ", ".join(f"{op} x{count}" for op, count in counts.most_common())] if counts else []
    return "\n".join(lines)


def html(graph):
    """Returns the page that a notebook shows for a graph: a table of its nodes."""
    rows = []
    for node in graph.nodes[:MAX_ROWS]:
        attributes = ", ".join(f"{name}={value!r}" for name, value in node.attributes.items() if not hasattr(value, "dtype"))
        rows.append([node.op, node.name, _names(node.inputs), _types(node.outputs), attributes])
    hidden = len(graph.nodes) - len(rows)
    note = f"<p>{hidden} more nodes</p>" if hidden > 0 else ""
    return f"<pre>{_html.escape(summary(graph))}</pre>{table(['op', 'node', 'inputs', 'outputs', 'attributes'], rows)}{note}"


def table(header, rows):
    """Returns an HTML table. Cells are texts, which are escaped."""
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag} style='text-align:left'>{_html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    return f"<table>{line(header, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def _names(values):
    return ", ".join("-" if value is None else value.name for value in values)


def _types(values):
    return ", ".join(f"{value.name}: {value.type}" for value in values)


def save(graph, path, external_data, contrib):
    """Implements Graph.save. Writes to a hidden folder beside the target, and moves the files when they are complete."""
    target = pathlib.Path(os.path.realpath(os.fsdecode(path)))
    if target.suffix not in (".onnx", ".tern"):
        raise InvalidArgument(f"'{target.name}': the name must end in .onnx or .tern")
    if external_data and target.suffix != ".onnx":
        raise InvalidArgument(f"external_data is for an .onnx file, got '{target.name}'")
    with tempfile.TemporaryDirectory(prefix=".tern_", dir=target.parent) as folder:
        graph._write(pathlib.Path(folder, target.name), external_data, contrib)
        # The model itself is moved last, because it refers to the other file.
        for name in sorted(os.listdir(folder), key=lambda name: name == target.name):
            os.replace(pathlib.Path(folder, name), target.parent / name)
