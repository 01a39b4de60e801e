"""A random test case: a small graph, its inputs, and how its outputs are compared."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper

from . import values
from .registry import CONTRIB, ML


@dataclass
class Const:
    """Marks an input that must be an initializer, because onnxruntime or the operator demands it."""

    value: object


@dataclass
class Fed:
    """Marks an input that must be fed when the model runs."""

    value: object


@dataclass
class Check:
    """How outputs are compared.

    `scale` multiplies the absolute tolerance. It is roughly the size of the terms that an output element sums.
    `off_by_one` is for operators that round a float to an integer. It is the fraction of the elements of an integer
    output that may differ by 1: 0.3 means 30 %, and True means 5 %.
    `shape_only` lists outputs whose values are random, so that only their types and shapes are compared.
    `canon` is a function that is applied to the outputs of both engines before they are compared. It must map
    outputs that are equally correct to the same value."""

    scale: float = 1.0
    rtol: float | None = None
    atol: float | None = None
    off_by_one: float = 0.0
    shape_only: tuple = ()
    canon: object = None


@dataclass
class Case:
    op: object
    seed: int
    opset: int
    nodes: list
    fed: dict
    constants: dict
    outputs: list
    check: Check
    args: list = field(default_factory=list)   # the main node's inputs in order; an omitted input is None
    attrs: dict = field(default_factory=dict)
    dims: dict = field(default_factory=dict)   # input name -> declared shape, if it is not the fed array's shape
    domain_version: int = 1
    output_types: list | None = None           # set from onnxruntime's results
    functions: list = field(default_factory=list)

    @property
    def ident(self):
        return f"{self.op.key}:{self.seed}"

    @property
    def dtypes(self):
        """Returns the element types of the main node's inputs. The rules of known.py read them."""
        return [values.name_of(a) if isinstance(a, np.ndarray) else None for a in self.args]


def ir_version(opset):
    return max(8, helper.OP_SET_ID_VERSION_MAP.get(("ai.onnx", opset), 8))


def opset_imports(case):
    imports = [helper.make_opsetid("", case.opset)]
    domains = {n.domain for n in case.nodes} | {case.op.domain}
    if ML in domains:
        imports.append(helper.make_opsetid(ML, case.domain_version if case.op.domain == ML else 3))
    if CONTRIB in domains:
        imports.append(helper.make_opsetid(CONTRIB, 1))
    return imports


def _output_info(case, index):
    name = case.outputs[index]
    if case.output_types is None:
        return onnx.ValueInfoProto(name=name)
    return helper.make_value_info(name, case.output_types[index])


def make_model(case):
    """Returns the ONNX model of a case. Its outputs have declared types only after onnxruntime has run the case."""
    inputs = [helper.make_value_info(n, values.type_of(v, case.dims.get(n))) for n, v in case.fed.items()]
    outputs = [_output_info(case, i) for i in range(len(case.outputs))]
    constants = [values.tensor_proto(v, n) for n, v in case.constants.items()]
    graph = helper.make_graph(case.nodes, "case", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=opset_imports(case), ir_version=ir_version(case.opset),
                             producer_name="differential", functions=case.functions)


def attribute_text(value):
    """Returns an attribute's value as text for a note. Tensors and graphs are abbreviated."""
    if isinstance(value, TensorProto):
        return f"tensor {helper.tensor_dtype_to_string(value.data_type)}{list(value.dims)}"
    if isinstance(value, onnx.GraphProto):
        return f"graph of {[n.op_type for n in value.node]}"
    text = repr(value)
    return text if len(text) < 120 else text[:117] + "..."


def value_text(value):
    if isinstance(value, np.ndarray):
        return f"{values.name_of(value)}{list(value.shape)}"
    if isinstance(value, values.Seq):
        return f"seq({value.dtype}){[list(np.shape(i)) for i in value.items]}"
    return type(value).__name__ if value is not None else "-"


def describe(case):
    """Returns a line for a report: operator, opset, inputs and attributes."""
    attrs = " ".join(f"{k}={attribute_text(v)}" for k, v in case.attrs.items())
    inputs = " ".join(value_text(a) for a in case.args)
    version = f"{case.op.domain}@{case.domain_version}" if case.op.domain == ML else f"opset {case.opset}"
    return f"{case.ident} {version} ({inputs}) {attrs}".rstrip()
