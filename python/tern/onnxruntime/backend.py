"""The interface of the ONNX project for back ends, as onnxruntime.backend offers it."""

import os

from . import InferenceSession, SessionOptions
from .capi.errors import NotImplemented


class BackendRep:
    """A prepared model: run(inputs) returns the list of outputs."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **kwargs):
        """`inputs` is a dict, a list in the order of the model's inputs, or the only input."""
        names = [argument.name for argument in self._session.get_inputs()]
        if isinstance(inputs, dict):
            feed = inputs
        elif isinstance(inputs, (list, tuple)):
            feed = dict(zip(names, inputs))
        else:
            feed = {names[0]: inputs}
        return self._session.run(None, feed)


def supports_device(device):
    return device.upper() == "CPU"


def prepare(model, device=None, **kwargs):
    """Loads a model: a path, bytes, an onnx.ModelProto or an InferenceSession."""
    if device is not None and not supports_device(device):
        raise NotImplemented(f"the device '{device}' is not available; Tern runs on the CPU")
    if isinstance(model, BackendRep):
        return model
    if not isinstance(model, InferenceSession):
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        elif not isinstance(model, (str, bytes, os.PathLike)):
            raise TypeError(f"a model must be a path, bytes or a ModelProto, got {type(model).__name__}")
        options = SessionOptions()
        for name, value in kwargs.items():
            if hasattr(options, name):
                setattr(options, name, value)
        model = InferenceSession(model, options)
    return BackendRep(model)


def run_model(model, inputs, device=None, **kwargs):
    return prepare(model, device, **kwargs).run(inputs)


def is_compatible(model, device=None, **kwargs):
    return device is None or supports_device(device)
