"""Runs a case in the numpy models, or in onnx.reference for operators without a model, instead of in Tern.
This finds faults of the generators and of onnxruntime."""

import warnings

import numpy as np
from onnx.reference import ReferenceEvaluator

import models

from . import values
from .case import make_model
from .engine import Answer


def run(case):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = _model(case)
            if outputs is not None:
                return Answer(outputs=outputs)
            evaluator = ReferenceEvaluator(make_model(case))
            feeds = {n: values.plain(v) for n, v in case.fed.items()}
            return Answer(outputs=[_tidy(o) for o in evaluator.run(None, feeds)])
    except Exception as error:  # onnx.reference is incomplete and raises exceptions of any class
        return Answer(status="unsupported", message=f"{type(error).__name__}: {error}"[:400])


def _model(case):
    evaluate = models.load().get(case.op.key)
    return evaluate(case) if evaluate else None


def _tidy(value):
    """Normalizes an output, because the evaluator sometimes returns numpy scalars and fixed-width string arrays."""
    if isinstance(value, (list, tuple)):
        return [_tidy(v) for v in value]
    if value is None or isinstance(value, dict):
        return value
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array
