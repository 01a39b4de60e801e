"""Computes the expected results of Loop and Scan with numpy. Only the body of a loop is run by onnx.reference."""

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from . import model


def evaluator(case, body, outer):
    """Returns a function that runs the body as a separate model. The values that the body captures from the outer graph
    become inputs of this model."""
    extra = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), None) for n, v in outer.items()]
    graph = helper.make_graph(body.node, "body", [*body.input, *extra], body.output)
    run = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)])).run
    names = [i.name for i in body.input]
    return lambda *values: run(None, {**dict(zip(names, values)), **outer})


def parts(case):
    """Returns the node's attributes, a function that runs its body, and the values of its inputs."""
    node = case.nodes[0]
    values = {**case.fed, **case.constants}
    attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    used = {name for n in attrs["body"].node for name in n.input} - {i.name for i in attrs["body"].input}
    outer = {n: v for n, v in values.items() if n in used}
    return attrs, evaluator(case, attrs["body"], outer), [values.get(n) for n in node.input]


@model("Loop")
def loop(case):
    attrs, body, (trips, going, state) = parts(case)
    scans = [[] for _ in range(len(case.outputs) - 1)]
    limit = np.iinfo(np.int64).max if trips is None else int(trips.reshape(-1)[0])
    going, step = True if going is None else bool(going.reshape(-1)[0]), 0
    while going and step < limit:
        more, state, *rows = body(np.array(step, np.int64), np.array(going), state)
        going, step = bool(np.asarray(more).reshape(-1)[0]), step + 1
        for scan, row in zip(scans, rows):
            scan.append(np.asarray(row))
    if step == 0 and scans:
        return None  # the loop has no iterations, so that only shape inference determines the shapes of scan outputs
    return [np.asarray(state), *[np.stack(s) for s in scans]]


@model("Scan")
def scan(case):
    attrs, body, inputs = parts(case)
    if case.opset < 9:
        return scan_batches(case, attrs, body, *inputs)
    state, xs = inputs
    flag = lambda name: (attrs.get(name) or [0])[0]  # noqa: E731
    rows = list(np.moveaxis(xs, flag("scan_input_axes"), 0))
    rows = rows[::-1] if flag("scan_input_directions") else rows
    out = []
    for row in rows:
        state, y = (np.asarray(v) for v in body(state, row))
        out.append(y)
    out = out[::-1] if flag("scan_output_directions") else out
    return [state, np.moveaxis(np.stack(out), 0, flag("scan_output_axes"))]


def scan_batches(case, attrs, body, lengths, states, xs):
    """Computes Scan of opset 8, which has a leading batch axis and a length for each sequence of the batch. Outputs
    beyond a sequence's length are 0."""
    finals, out = [], np.zeros_like(xs)
    for b in range(len(xs)):
        length = xs.shape[1] if lengths is None else int(lengths[b])
        state, order = states[b], list(range(length))
        for at, t in enumerate(order[::-1] if (attrs.get("directions") or [0])[0] else order):
            state, out[b, at] = (np.asarray(v) for v in body(state, xs[b, t]))
        finals.append(state)
    return [np.stack(finals), out]
