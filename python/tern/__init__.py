"""Tern runs machine-learning models on CPUs.

>>> import numpy as np, tern
>>> predictor = tern.load(digits)               # a path, or the bytes of a model
>>> predictor.inputs()
[ValueInfo(name='image', kind='tensor', dtype='float32', shape=('N', 1, 28, 28), type='f32[N,1,28,28]')]
>>> outputs = predictor(np.zeros((1, 1, 28, 28), np.float32))
>>> outputs["probabilities"].shape
(1, 10)
"""

from ._tern import Cancel, __version__
from .errors import (AlreadyExists, Cancelled, Error, InternalError, InvalidArgument, InvalidModel, IoError, ModelNotFound,
                     NotFound, ResourceExhausted, Unavailable, Unsupported)
from .outputs import Outputs
from .predictor import Predictor, StateInfo, ValueInfo, load

# Names that are imported at their first use, so that `import tern` is fast.
_LAZY = {
    "BenchResult": "measure", "Graph": "graph", "InferenceSession": "onnxruntime", "Node": "graph", "NodeTime": "measure", "OpInfo": "graph", "OpTime": "measure", "OptimizeReport": "optimizer",
    "Pipeline": "pipeline", "Profile": "measure", "Value": "graph", "bench": "measure", "ops": "graph", "optimize": "optimizer", "profile": "measure",
    "quantize": "quantize", "random_inputs": "measure",
}

__all__ = [
    "AlreadyExists", "Cancel", "Cancelled", "Error", "InternalError", "InvalidArgument", "InvalidModel", "IoError", "ModelNotFound",
    "NotFound", "Outputs", "Predictor", "ResourceExhausted", "StateInfo", "Unavailable", "Unsupported", "ValueInfo", "__version__", "load",
    *_LAZY,
]


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'tern' has no attribute '{name}'")
    value = getattr(__import__(f"{__name__}.{_LAZY[name]}", fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
