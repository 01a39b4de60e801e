"""Translates a graph of aten ops to an ONNX model with the translations that torch.onnx.export uses."""

import contextlib
import functools
import logging
import operator

import torch

from . import attention
from .recompose import recompose

try:
    import onnx_ir
    from torch.onnx._internal.exporter import _constants, _core, _decomp, _dispatching, _fx_passes, _ir_passes, _registration
except ImportError as error:
    _missing = error
else:
    _missing = None


class NotTranslated(Exception):
    """Tern cannot run a graph. The text gives the reason."""


class Program:
    """An ONNX model of a graph.

    module   the graph of aten ops as torch runs it
    model    onnx_ir.Model; its weights have no elements yet
    inputs   for each input of the model, the index of the argument
    weights  for each weight, a pair of its initializer and the index of the argument or the tensor itself
    results  for each result of the graph, a tuple: ("argument", index), ("constant", value) or ("output", index, type);
             `type` is None for a tensor, and int, float or bool for a number
    """

    def __init__(self, module, model, inputs, weights, results):
        self.module, self.model, self.inputs, self.weights, self.results = module, model, inputs, weights, results


@functools.cache
def _registry():
    if _missing:
        raise NotTranslated(f"{_missing}; install onnxscript (pip install 'tern[torch]'), and torch 2.13 or later")
    with _quiet("_registration"):  # it warns if torchvision is not installed
        return _registration.ONNXRegistry.from_torchlib()


@contextlib.contextmanager
def _quiet(module):
    """Suppresses the warnings of a module of the exporter."""
    log = logging.getLogger(f"torch.onnx._internal.exporter.{module}")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


@functools.cache
def decompositions():
    """Returns the decompositions of the aten ops that have no translation, or a wrong one."""
    table = _decomp.create_onnx_friendly_decomposition_table(set(_decomp.get_onnx_implemented_overloads(_registry())))
    aten = torch.ops.aten
    for op in (aten.lift.default, aten.lift_fresh.default, aten.lift_fresh_copy.default, aten.alias.default):
        table.pop(op, None)  # these decompositions fail for the constants of a graph
    for op in (aten._native_batch_norm_legit_functional.default, aten._native_batch_norm_legit.default,
               aten._native_batch_norm_legit.no_stats, aten.native_batch_norm.default):
        table[op] = torch._decomp.decomposition_table[op]  # their translations ignore training mode
    return {**table, **attention.DECOMPOSITIONS}


def translate(module, static):
    """Returns the Program of a functional graph of aten ops. `static` are the indices of arguments that seldom change."""
    registry = _registry()
    original, module = module, _copy(module)
    _fx_passes.insert_type_promotion_nodes(module)
    module = _fx_passes.remove_assertion_nodes(module)
    arguments = {node: index for index, node in enumerate(node for node in module.graph.nodes if node.op == "placeholder")}
    constants = _constants_to_arguments(module)
    recompose(module.graph)
    _sizes_from_tensors(module.graph, set(static))
    results = _strip_results(module.graph, arguments)
    _check_nodes(module.graph, registry)
    model = _model(module.graph, registry)
    inputs, weights = _inputs(model, module.graph, arguments, set(static), constants)
    return Program(original, model, inputs, weights, results)


def _copy(module):
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    return torch.fx.GraphModule(module, graph)


def _constants_to_arguments(module):
    """Replaces the tensors that are attributes of the module by arguments. Returns the tensors by node."""
    graph, constants = module.graph, {}
    first = next(iter(graph.nodes))
    for node in list(graph.find_nodes(op="get_attr")):
        tensor = operator.attrgetter(node.target)(module)
        if not isinstance(tensor, torch.Tensor):
            raise NotTranslated(f"the graph has a subgraph '{node.target}'")
        with graph.inserting_before(first):
            argument = graph.placeholder(f"constant_{node.name}")
        argument.meta["val"] = node.meta.get("val", tensor)
        node.replace_all_uses_with(argument)
        graph.erase_node(node)
        constants[argument] = tensor
    return constants


def _sizes_from_tensors(graph, static):
    """Replaces arguments that are symbolic sizes by the sizes of tensors, so that Tern can infer shapes."""
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    sources = {}
    for node in nodes:
        if isinstance(node.meta["val"], torch.Tensor):
            for axis, size in enumerate(node.meta["val"].shape):
                if isinstance(size, torch.SymInt):
                    sources.setdefault(size.node.expr, (node, axis))
    with graph.inserting_after(nodes[-1] if nodes else None):
        for node in nodes:
            value = node.meta["val"]
            if not isinstance(value, torch.SymInt) or value.node.expr not in sources or not node.users:
                continue
            size = graph.call_function(torch.ops.aten.sym_size.int, sources[value.node.expr])
            size.meta["val"] = value
            node.replace_all_uses_with(size)


def _strip_results(graph, arguments):
    """Removes arguments, constants and repeated values from the output node. Returns Program.results."""
    output = graph.output_node()
    kept, results = [], []
    for value in output.args[0]:
        if not isinstance(value, torch.fx.Node):
            results.append(("constant", value))
        elif value in arguments:
            results.append(("argument", arguments[value]))
        else:
            if value not in kept:
                kept.append(value)
            results.append(("output", kept.index(value), _number_type(value.meta["val"])))
    _check_memory(kept)
    output.args = (tuple(kept),)
    return results


def _check_memory(results):
    """Fails if two results share memory, because the caller may write to one and read the other."""
    seen = set()
    for node in results:
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            continue
        storage = value.untyped_storage()._cdata
        if storage in seen:
            raise NotTranslated(f"the result '{node.name}' shares its memory with another result")
        seen.add(storage)


def _number_type(value):
    kinds = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool, int: int, float: float, bool: bool}
    return kinds.get(type(value))


def _check_nodes(graph, registry):
    """Fails with the names of all operators that cannot be translated."""
    bad = set()
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.is_complex():
            raise NotTranslated(f"the tensor '{node.name}' is complex")
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        if _is_random(node):
            bad.add(f"{node.target} (random numbers)")
        elif _dispatching.dispatch(node, registry)[0] is None:
            bad.add(str(node.target))
    if bad:
        raise NotTranslated(f"the graph has operators without a translation: {', '.join(sorted(bad))}")


def _is_random(node):
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    for position, argument in enumerate(node.target._schema.arguments):
        if argument.name == "dropout_p":  # attention is random only with dropout
            return bool(node.args[position] if position < len(node.args) else node.kwargs.get("dropout_p", 0.0))
    return True


def _model(graph, registry):
    model = onnx_ir.Model(onnx_ir.Graph([], [], nodes=[], name="torch"), ir_version=_constants.ONNX_IR_VERSION, producer_name="torch")
    try:
        with _quiet("_core"):  # it warns that nodes have no names of modules
            _core._translate_fx_graph(graph, model, graph_like=model.graph, owned_graphs={}, lower="at_conversion", registry=registry)
    except Exception as error:  # every kind of error of a translation
        cause = error
        while cause.__cause__:
            cause = cause.__cause__
        raise NotTranslated(f"{str(error).splitlines()[0]} {cause}") from error
    _ir_passes.add_opset_imports(model)
    return model


def _inputs(model, graph, arguments, static, constants):
    """Returns Program.inputs and Program.weights. Makes initializers of the weights, and removes the inputs that no node reads."""
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    inputs, weights, kept = [], [], []
    for node, value in zip(nodes, model.graph.inputs):
        index = arguments.get(node)
        if node in constants or index in static:
            if node.users:
                weights.append((value, constants.get(node, index)))
        elif node.users:
            inputs.append(index)
            kept.append(value)
    model.graph.inputs.clear()
    model.graph.inputs.extend(kept)
    for value, _ in weights:
        model.graph.initializers[value.name] = value
    return inputs, weights
