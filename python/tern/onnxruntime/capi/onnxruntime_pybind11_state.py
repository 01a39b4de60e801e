"""The exceptions of onnxruntime, under the name of its extension module, and the classes of `_pybind_state`."""

from ._pybind_state import *  # noqa: F403
from .errors import (EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded, NoModel,
                     NoSuchFile, NotFound, NotImplemented, RuntimeException)

__all__ = ["EPFail", "EngineError", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelLoadCanceled", "ModelLoaded",
           "NoModel", "NoSuchFile", "NotFound", "NotImplemented", "RuntimeException"]
