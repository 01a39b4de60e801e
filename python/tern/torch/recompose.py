"""Rewrites of graphs of aten ops. Each rewrite undoes a decomposition, so that the ONNX model has the form that Tern's passes expect."""

import operator

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

aten = torch.ops.aten


def recompose(graph):
    """Rewrites the graph in place."""
    for node in list(graph.nodes):
        rewrite = _REWRITES.get(node.target) if node.op == "call_function" else None
        if rewrite:
            rewrite(graph, node)
    graph.eliminate_dead_code()


def _replace(graph, node, target, *args):
    """Replaces `node` by a call with the same value."""
    with graph.inserting_before(node):
        made = _call(graph, node.meta["val"], target, *args)
    node.replace_all_uses_with(made)
    graph.erase_node(node)


def _call(graph, value, target, *args):
    made = graph.call_function(target, args)
    made.meta["val"] = value
    return made


def _same(a, b):
    return len(a) == len(b) and all(statically_known_true(x == y) for x, y in zip(a, b))


def _shape(node):
    return list(node.meta["val"].shape)


def _is_view(node):
    return node.op == "call_function" and node.target in (aten.view.default, aten.reshape.default, aten._unsafe_view.default)


def _matmul(graph, node):
    """view(mm(view(x), w)) is matmul(x, w), and view(addmm(bias, view(x), w)) is matmul(x, w) + bias. `x` has more than two axes."""
    bias, (rows, weight) = (node.args[0], node.args[1:3]) if node.target is aten.addmm.default else (None, node.args[:2])
    if node.kwargs or not _is_view(rows) or (bias is not None and len(_shape(bias)) != 1):
        return
    x = rows.args[0]
    shape = _shape(x)[:-1] + _shape(weight)[1:]
    if not _same(_shape(x)[-1:], _shape(weight)[:1]) or not all(_is_view(user) and _same(_shape(user), shape) for user in node.users):
        return
    for user in list(node.users):
        with graph.inserting_before(user):
            product = _call(graph, user.meta["val"], aten.matmul.default, x, weight)
        if bias is None:
            user.replace_all_uses_with(product)
            graph.erase_node(user)
        else:
            _replace(graph, user, aten.add.Tensor, product, bias)


def _items(node):
    """Returns the users if each takes one result of the node, else None."""
    users = list(node.users)
    return users if all(user.target is operator.getitem for user in users) else None


def _layer_norm(graph, node):
    """native_layer_norm(...)[0] is layer_norm(...) if no node reads the mean and the deviation."""
    users = _items(node)
    if users and all(user.args[1] == 0 for user in users):
        for user in users:
            _replace(graph, user, aten.layer_norm.default, *node.args)


def _split(graph, node):
    """split(x, sizes, axis)[i] is a slice of x."""
    x, size, axis = node.args[0], node.args[1], node.args[2] if len(node.args) > 2 else node.kwargs.get("dim", 0)
    users = _items(node)
    sizes = [size] * len(node.meta["val"]) if isinstance(size, int) else size
    if users is None or not isinstance(sizes, (list, tuple)) or not all(isinstance(s, int) for s in sizes):
        return
    for user in users:
        at = user.args[1]
        _replace(graph, user, aten.slice.Tensor, x, axis, sum(sizes[:at]), sum(sizes[:at + 1]))


def _unbind(graph, node):
    """unbind(x, axis)[i] is select(x, axis, i)."""
    axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
    for user in _items(node) or []:
        _replace(graph, user, aten.select.int, node.args[0], axis, user.args[1])


_REWRITES = {
    aten.addmm.default: _matmul, aten.mm.default: _matmul, aten.native_layer_norm.default: _layer_norm,
    aten.split.Tensor: _split, aten.split_with_sizes.default: _split, aten.unbind.int: _unbind,
}
