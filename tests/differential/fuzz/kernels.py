"""Looks up the versions and types of an operator in onnxruntime's CPU provider and the ONNX schemas."""

from collections import defaultdict
from functools import cache

import onnx.defs
from onnxruntime.capi import onnxruntime_pybind11_state as state

MAX_OPSET = 26  # the newest opset that onnxruntime 1.31 supports
MIN_OPSET = 7   # the oldest opset that onnxruntime 1.31 supports


@cache
def _table():
    table = defaultdict(list)
    for kernel in state.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            types = {name: sorted(values) for name, values in kernel.type_constraints.items()}
            table[kernel.domain, kernel.op_name].append((*kernel.version_range, types))
    return table


@cache
def since_versions(domain, name):
    """Returns the opsets at which the ONNX schema of the operator changed, or (1,) for operators of com.microsoft."""
    found = {s.since_version for s in onnx.defs.get_all_schemas_with_history()
             if (s.domain, s.name) == (domain, name) and not s.deprecated}
    newest = {"": MAX_OPSET}.get(domain, 99)
    return tuple(sorted(v for v in found if v <= newest)) or (1,)


@cache
def last_version(domain, name):
    """Returns the last opset before the operator is deprecated, or MAX_OPSET if it is not deprecated."""
    gone = [s.since_version for s in onnx.defs.get_all_schemas_with_history()
            if (s.domain, s.name) == (domain, name) and s.deprecated]
    back = max(since_versions(domain, name))
    return max(gone) - 1 if gone and max(gone) > back else MAX_OPSET


def _strip(text):
    return text[len("tensor("):-1] if text.startswith("tensor(") else text


@cache
def kernel_types(domain, name, opset, param):
    """Returns the element types that onnxruntime's kernels support for the type parameter `param`, such as "T"."""
    found = set()
    for low, high, types in _table().get((domain, name), ()):
        if low <= opset <= high:
            found.update(_strip(t) for t in types.get(param, ()))
    return tuple(sorted(found))


@cache
def combos(domain, name, opset):
    """Returns a dict from type parameter to supported types for each kernel of the operator."""
    return [{param: [_strip(t) for t in found] for param, found in types.items()}
            for low, high, types in _table()[domain, name] if low <= opset <= high]


@cache
def _contrib_schemas():
    return {s.name: s for s in state.get_all_operator_schema() if s.domain == "com.microsoft"}


def _schema(domain, name, opset):
    if domain == "com.microsoft":
        return _contrib_schemas().get(name)
    try:
        return onnx.defs.get_schema(name, opset, domain)
    except onnx.defs.SchemaError:
        return None


@cache
def schema_types(domain, name, opset, param):
    schema = _schema(domain, name, opset)
    if schema is None:
        return ()
    for constraint in schema.type_constraints:
        if constraint.type_param_str == param:
            return tuple(_strip(t) for t in constraint.allowed_type_strs)
    return ()


@cache
def types(domain, name, opset, param):
    """Returns the types to draw from: the types of onnxruntime's kernels, and float16 if the schema permits it. For
    float16, onnxruntime casts to float and runs the float kernel."""
    own = kernel_types(domain, name, opset, param)
    allowed = schema_types(domain, name, opset, param)
    if not own:  # onnxruntime has no kernel, so that it inlines the operator's function body
        return tuple(t for t in allowed if not t.startswith("complex"))
    if allowed:
        own = tuple(t for t in own if t in allowed)
    if "float" in own and "float16" in allowed and "float16" not in own:
        own += ("float16",)
    return own
