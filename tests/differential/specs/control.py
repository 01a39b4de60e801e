"""Operators with nested graphs: If, Loop and Scan."""

from onnx import helper

from fuzz.registry import op
from fuzz.values import enum


def info(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, enum(dtype), shape)


def node(kind, inputs, outputs, **attrs):
    return helper.make_node(kind, inputs, outputs, **attrs)


def branch(d, name, dtype, outputs):
    """Returns a branch that reads values of the outer graph. Two operators in a row compute each output."""
    nodes = []
    for i in range(outputs):
        kind = d.choice(["Add", "Sub", "Mul"])
        nodes.append(node(kind, ["x1", "x2"], [f"{name}_t{i}"]))
        nodes.append(node(d.choice(["Neg", "Abs", "Identity"]), [f"{name}_t{i}"], [f"{name}_o{i}"]))
    return helper.make_graph(nodes, name, [], [info(f"{name}_o{i}", dtype) for i in range(outputs)])


@op("If", weight=2)
def if_(d):
    dtype = d.choice(["float", "int32", "int64", "double"])
    outputs = d.int(1, 2)
    then_graph, else_graph = branch(d, "then", dtype, outputs), branch(d, "else", dtype, outputs)
    if d.chance(0.3):  # a nested If reads values of the outermost graph
        inner = node("If", ["x0"], [f"else_n{i}" for i in range(outputs)], then_branch=branch(d, "in_then", dtype, outputs),
                     else_branch=branch(d, "in_else", dtype, outputs))
        else_graph = helper.make_graph([inner], "else", [], [info(f"else_n{i}", dtype) for i in range(outputs)])
    shape = d.shape()
    condition = d.scalar("bool", d.chance(0.5))
    names = [f"y{i}" for i in range(outputs)]
    main = node("If", ["x0"], names, then_branch=then_graph, else_branch=else_graph)
    values = {"x0": condition if d.chance(0.5) else condition.reshape([1]), "x1": d.tensor(dtype, shape),
              "x2": d.tensor(dtype, d.broadcast(2, shape)[0])}
    constants = {k: values.pop(k) for k in list(values) if d.chance(0.2)}
    return d.graph([main], values, constants, names, args=[condition], attrs={})


def loop_body(d, dtype, scans, stops):
    """Returns a body that computes `state_out = state op outer`. Each scan output is a function of the state. With
    `stops`, the body may end the loop early."""
    nodes = [node(d.choice(["Add", "Sub", "Mul"]), ["state", "outer"], ["state_out"])]
    for i in range(scans):
        nodes.append(node(d.choice(["Neg", "Abs", "Identity"]), ["state_out" if i == 0 else "state"], [f"scan{i}"]))
    if stops:
        nodes.append(node("Less", ["iteration", "limit"], ["going"]))
    else:
        nodes.append(node("Identity", ["condition"], ["going"]))
    inputs = [info("iteration", "int64", []), info("condition", "bool", []), info("state", dtype)]
    outputs = [info("going", "bool"), info("state_out", dtype), *[info(f"scan{i}", dtype) for i in range(scans)]]
    return helper.make_graph(nodes, "body", inputs, outputs)


@op("Loop", weight=3)
def loop(d):
    dtype = d.choice(["float", "int32", "int64", "double"])
    scans = d.int(0, 2)
    stops = d.opset >= 9 and d.chance(0.4)
    body = loop_body(d, dtype, scans, stops)
    trips = d.scalar("int64", d.int(0, 5))
    bounded, conditional = d.chance(0.85), d.chance(0.6)
    if not bounded and not stops:
        bounded = True
    values = {"state0": d.tensor(dtype, d.shape(0, 3), low=-2, high=2)}
    values["outer"] = d.tensor(dtype, [], low=-2, high=2)
    if bounded:
        values["trips"] = trips
    if conditional:
        values["first"] = d.scalar("bool", d.chance(0.9))
    if stops:
        values["limit"] = d.scalar("int64", d.int(0, 4))
    names = ["final", *[f"y{i}" for i in range(scans)]]
    main = node("Loop", ["trips" if bounded else "", "first" if conditional else "", "state0"], names, body=body)
    constants = {k: values.pop(k) for k in list(values) if d.chance(0.25)}
    return d.graph([main], values, constants, names, args=[trips], attrs={"bounded": bounded, "stops": stops}, scale=100)


@op("Scan", weight=3, since=(8, 9, 11, 16, 19, 21, 23, 24, 25))
def scan(d):
    dtype = d.choice(["float", "int32", "double"])
    step = d.shape(0, 2, zero=0)
    length = d.int(1, 5)
    body = scan_body(d, dtype, step)
    return scan_8(d, dtype, step, length, body) if d.since < 9 else scan_9(d, dtype, step, length, body)


def scan_body(d, dtype, step):
    nodes = [node(d.choice(["Add", "Sub", "Mul"]), ["state", "slice"], ["state_out"]),
             node(d.choice(["Neg", "Identity", "Abs"]), ["state_out"], ["scanned"])]
    inputs = [info("state", dtype, step), info("slice", dtype, step)]
    return helper.make_graph(nodes, "body", inputs, [info("state_out", dtype, step), info("scanned", dtype, step)])


def scan_8(d, dtype, step, length, body):
    """Returns a case of Scan version 8. Its inputs have a leading batch axis, and its attribute for the directions is
    called `directions`."""
    batch = d.int(1, 3)
    values = {"state0": d.tensor(dtype, [batch, *step], low=-2, high=2),
              "xs": d.tensor(dtype, [batch, length, *step], low=-2, high=2)}
    lengths = d.maybe(d.tensor("int64", [batch], low=1, high=length), 0.4)
    attrs = {"num_scan_inputs": 1, "directions": d.maybe([d.int(0, 1)])}
    inputs = ["", "state0", "xs"]
    if lengths is not None:
        inputs[0], values["lengths"] = "lengths", lengths
    main = node("Scan", inputs, ["final", "ys"], body=body, **{k: v for k, v in attrs.items() if v is not None})
    return d.graph([main], values, {}, ["final", "ys"], args=[values["state0"], values["xs"]], attrs=attrs, scale=100)


def scan_9(d, dtype, step, length, body):
    in_axis, out_axis = d.int(0, len(step)), d.int(0, len(step))
    shape = list(step)
    shape.insert(in_axis, length)
    rank = len(shape)
    signed = d.since >= 11
    attrs = {"num_scan_inputs": 1, "scan_input_directions": d.maybe([d.int(0, 1)]),
             "scan_output_directions": d.maybe([d.int(0, 1)]),
             "scan_input_axes": [d.sign_axis(in_axis, rank) if signed else in_axis] if in_axis or d.chance(0.3) else None,
             "scan_output_axes": [d.sign_axis(out_axis, rank) if signed else out_axis] if out_axis or d.chance(0.3) else None}
    values = {"state0": d.tensor(dtype, step, low=-2, high=2), "xs": d.tensor(dtype, shape, low=-2, high=2)}
    main = node("Scan", ["state0", "xs"], ["final", "ys"], body=body, **{k: v for k, v in attrs.items() if v is not None})
    args = [values["state0"], values["xs"]]
    constants = {k: values.pop(k) for k in list(values) if d.chance(0.2)}
    return d.graph([main], values, constants, ["final", "ys"], args=args, attrs=attrs, scale=100)
