"""Runs a case in onnxruntime, which is the oracle, and records the types of the outputs."""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from . import values
from .case import make_model


ort.set_default_logger_severity(4)


class Refused(Exception):
    """onnxruntime cannot run the case, so that there are no expected outputs."""


def _options():
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return options


def open_session(model):
    return ort.InferenceSession(model.SerializeToString(), _options(), providers=["CPUExecutionProvider"])


def _constant_exotics(model, case):
    """Turns inputs of exotic types (values.EXOTIC) into initializers, because onnxruntime's Python binding cannot feed
    them. Returns the other feeds."""
    names = [n for n, v in case.fed.items() if values.is_exotic(v)]
    for name in names:
        if not isinstance(case.fed[name], np.ndarray):
            raise Refused(f"the Python binding cannot feed {name}")
        model.graph.initializer.append(values.tensor_proto(case.fed[name], name))
    kept = [i for i in model.graph.input if i.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return {n: values.plain(v) for n, v in case.fed.items() if n not in names}


def _exotic_name(text):
    return text[len("tensor("):-1] if text.startswith("tensor(") and text[7:-1] in values.EXOTIC else None


def _cast_exotic_outputs(model, types):
    """Adds casts to float for outputs whose types the Python binding cannot return. Float represents these types
    exactly."""
    for i, text in enumerate(types):
        if _exotic_name(text):
            name = model.graph.output[i].name
            model.graph.node.append(helper.make_node("Cast", [name], [name + "_as_float"], to=TensorProto.FLOAT))
            model.graph.output[i].CopyFrom(onnx.ValueInfoProto(name=name + "_as_float"))


def _fits(text, result):
    """Converts an output of the Python binding to an array of its true type. Scalars in maps stay Python numbers."""
    name = _exotic_name(text)
    if name:
        return np.asarray(result).astype(values.NUMPY[name])
    return result


def run(case):
    """Returns the outputs as plain Python values, and sets case.output_types. Raises Refused if onnxruntime cannot run
    the case."""
    model = make_model(case)
    feeds = _constant_exotics(model, case)
    try:
        session = open_session(model)
        types = [o.type for o in session.get_outputs()]
        if any(_exotic_name(t) for t in types):
            _cast_exotic_outputs(model, types)
            session = open_session(model)
        results = session.run(None, feeds)
    except Refused:
        raise
    except Exception as error:  # the Python binding raises many unrelated classes
        raise Refused(str(error)) from None
    case.output_types = [values.parse_type(t) for t in types]
    return [_fits(t, r) for t, r in zip(types, results)]
