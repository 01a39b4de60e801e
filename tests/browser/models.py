"""Models for the page: a deep one, and one whose names try to break out of it."""

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
    """`count` nodes: blocks of a residual connection around three steps, that no rule makes disappear altogether."""
    nodes, last = [], "x"
    for i in range(count // 4):
        nodes.append(helper.make_node("MatMul", [last, "w"], [f"p{i}"], name=f"block{i}/project"))
        nodes.append(helper.make_node("Sin", [f"p{i}"], [f"s{i}"], name=f"block{i}/wave"))
        nodes.append(helper.make_node("Softmax", [f"s{i}"], [f"f{i}"], name=f"block{i}/share", axis=-1))
        nodes.append(helper.make_node("Mul", [last, f"f{i}"], [f"y{i}"], name=f"block{i}/gate"))
        last = f"y{i}"
    return model(nodes, [value("x", ["N", 8])], [value(last, ["N", 8])], [("w", np.eye(8, dtype=np.float32))])


def hostile():
    """Names of nodes and values that would end a script, close a quote or load a picture."""
    nodes = [helper.make_node("Sin", ["x"], [HOSTILE], name=HOSTILE),
             helper.make_node("Cos", [HOSTILE], [QUOTED], name=QUOTED),
             helper.make_node("Identity", [QUOTED], ["through"], name="idle"),
             helper.make_node("Tan", ["through"], [FOREIGN], name=FOREIGN)]
    return model(nodes, [value("x", [2, 3])], [value(FOREIGN, [2, 3])])


def nested():
    """An If whose branches do different things."""
    def branch(op):
        return helper.make_graph([helper.make_node(op, ["x"], [op], name=f"in/{op}")], op, [], [value(op, [2, 3])])

    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch("Sin"), else_branch=branch("Cos"))
    return model([node], [value("x", [2, 3]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])], [value("y", [2, 3])])


def idle():
    return model([helper.make_node("Identity", ["x"], ["y"])], [value("x", [2, 3])], [value("y", [2, 3])])
