"""Models for the tests of the HTML pages."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HOSTILE = "</script><script>window.broken=1</script>"
QUOTED = "a\"b'c`${d}&lt;<img src=x onerror=window.broken=1>"
FOREIGN = "größe/名前/🐧"


def value(name, dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def model(nodes, inputs, outputs, constants=()):
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants]
    graph = helper.make_graph(nodes, "page", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def deep(count):
    """Returns a model of `count` nodes in blocks of four. The optimizer cannot remove a whole block."""
    nodes, last = [], "x"
    for i in range(count // 4):
        nodes.append(helper.make_node("MatMul", [last, "w"], [f"p{i}"], name=f"block{i}/project"))
        nodes.append(helper.make_node("Sin", [f"p{i}"], [f"s{i}"], name=f"block{i}/wave"))
        nodes.append(helper.make_node("Softmax", [f"s{i}"], [f"f{i}"], name=f"block{i}/share", axis=-1))
        nodes.append(helper.make_node("Mul", [last, f"f{i}"], [f"y{i}"], name=f"block{i}/gate"))
        last = f"y{i}"
    return model(nodes, [value("x", ["N", 8])], [value(last, ["N", 8])], [("w", np.eye(8, dtype=np.float32))])


def hostile():
    """Returns a model with names that contain HTML. If the page did not escape a name, the name would end a script,
    close a quote or load a picture."""
    nodes = [helper.make_node("Sin", ["x"], [HOSTILE], name=HOSTILE),
             helper.make_node("Cos", [HOSTILE], [QUOTED], name=QUOTED),
             helper.make_node("Identity", [QUOTED], ["through"], name="idle"),
             helper.make_node("Tan", ["through"], [FOREIGN], name=FOREIGN)]
    return model(nodes, [value("x", [2, 3])], [value(FOREIGN, [2, 3])])


def nested():
    """Returns an If with Sin in one branch and Cos in the other."""
    def branch(op):
        return helper.make_graph([helper.make_node(op, ["x"], [op], name=f"in/{op}")], op, [], [value(op, [2, 3])])

    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch("Sin"), else_branch=branch("Cos"))
    return model([node], [value("x", [2, 3]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])], [value("y", [2, 3])])


def loop_in_branch():
    """Returns an If with a Loop in one branch and a Cos in the other. Both branches read x of the enclosing graph."""
    bool_type, int_type = TensorProto.BOOL, TensorProto.INT64
    scalar = helper.make_tensor_value_info
    steps = [helper.make_node("Add", ["state", "x"], ["added"], name="loop/add"), helper.make_node("Sin", ["added"], ["next"], name="loop/sin"),
             helper.make_node("Identity", ["keep"], ["go"], name="loop/go")]
    body = helper.make_graph(steps, "steps", [scalar("i", int_type, []), scalar("keep", bool_type, []), value("state", [2, 3])],
                             [scalar("go", bool_type, []), value("next", [2, 3])])
    then = helper.make_graph([helper.make_node("Loop", ["count", "", "x"], ["looped"], name="then/loop", body=body)], "looping", [], [value("looped", [2, 3])])
    other = helper.make_graph([helper.make_node("Cos", ["x"], ["cosine"], name="else/cos")], "plain", [], [value("cosine", [2, 3])])
    nodes = [helper.make_node("If", ["c"], ["y"], name="choice", then_branch=then, else_branch=other), helper.make_node("Tan", ["y"], ["z"], name="last")]
    return model(nodes, [value("x", [2, 3]), scalar("c", bool_type, []), scalar("count", int_type, [])], [value("z", [2, 3])])


def clipped():
    """Returns a model with an Identity, a Conv, a Clip that is fused into the Conv, two equal nodes, and a Shape."""
    nodes = [helper.make_node("Identity", ["x"], ["same"], name="idle"),
             helper.make_node("Conv", ["same", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("Clip", ["c", "low", "high"], ["y"], name="clip"),
             helper.make_node("Sin", ["y"], ["s"], name="wave"), helper.make_node("Sin", ["y"], ["again"], name="wave again"),
             helper.make_node("Shape", ["s"], ["dims"], name="shape"), helper.make_node("Reshape", ["s", "dims"], ["view"], name="view"),
             helper.make_node("Add", ["view", "again"], ["z"], name="sum")]
    weights = [("w", np.ones((8, 3, 3, 3), np.float32)), ("low", np.float32(0)), ("high", np.float32(6))]
    return model(nodes, [value("x", [1, 3, 8, 8])], [value("z", [1, 8, 8, 8])], weights)


def slices():
    """Returns three Slices, which a rule replaces by one Split."""
    nodes = [helper.make_node("Slice", ["x", f"from{i}", f"to{i}", "axis"], [f"s{i}"], name=f"slice{i}") for i in range(3)]
    nodes += [helper.make_node(op, [f"s{i}"], [f"y{i}"], name=f"use{i}") for i, op in enumerate(("Sin", "Cos", "Tan"))]
    bounds = [(f"{word}{i}", np.array([4 * (i + step)])) for i in range(3) for word, step in (("from", 0), ("to", 1))]
    return model(nodes, [value("x", [2, 12])], [value(f"y{i}", [2, 4]) for i in range(3)], [*bounds, ("axis", np.array([1]))])


def leaning(count):
    """Returns a chain of `count` nodes. One more node reads the values of all of them. The long edges to this node move
    the chain far from the centre of the drawing."""
    names = [f"y{i}" for i in range(count)]
    nodes = [helper.make_node("Sin", [before], [after], name=f"step{i}") for i, (before, after) in enumerate(zip(["x", *names], names))]
    nodes.append(helper.make_node("Concat", ["x", *names], ["all"], name="all", axis=0))
    return model(nodes, [value("x", [2, 3])], [value("all", [2 * (count + 1), 3])])


def idle():
    return model([helper.make_node("Identity", ["x"], ["y"])], [value("x", [2, 3])], [value("y", [2, 3])])
