"""The exceptions of onnxruntime. Each derives from an exception of Tern, so that a program can catch either class."""

from ... import errors


class Fail(errors.Error):
    """An error without a class of its own, or a run that was terminated."""


class InvalidArgument(errors.InvalidArgument):
    """A wrong argument, such as an input of another name, type or shape."""


class NoSuchFile(errors.ModelNotFound):
    """The model's file does not exist."""


class NoModel(errors.Error):
    """Not raised; for programs that catch it."""


class EngineError(errors.Error):
    """Not raised; for programs that catch it."""


class RuntimeException(errors.Error, RuntimeError):
    """A run failed for a reason that the other classes do not name."""


class InvalidProtobuf(errors.InvalidModel):
    """The model has no bytes. Other damaged models raise InvalidGraph."""


class ModelLoaded(errors.Error):
    """Not raised; for programs that catch it."""


class ModelLoadCanceled(errors.Error):
    """Not raised; for programs that catch it."""


class NotImplemented(errors.Unsupported):  # noqa: A001
    """Tern does not support this."""


class NotFound(errors.NotFound):
    """Not raised; for programs that catch it."""


class InvalidGraph(errors.InvalidModel):
    """The model is damaged or contradicts itself."""


class EPFail(errors.Error):
    """Not raised; for programs that catch it."""


_RUNNING = [(errors.InvalidArgument, InvalidArgument), (errors.NotFound, InvalidArgument), (errors.Unsupported, NotImplemented),
            (errors.InvalidModel, InvalidGraph), (errors.Cancelled, Fail), (errors.Error, RuntimeException)]
_LOADING = [(errors.ModelNotFound, NoSuchFile), (errors.InvalidArgument, InvalidArgument), (errors.Unsupported, NotImplemented),
            (InvalidProtobuf, InvalidProtobuf), (errors.InvalidModel, InvalidGraph), (errors.Error, Fail)]


def _converted(error, table):
    for theirs, ours in table:
        if isinstance(error, theirs):
            return error if isinstance(error, ours) else ours(str(error))
    return error


def running_error(error):
    """Returns the exception of onnxruntime for an exception of a run."""
    return _converted(error, _RUNNING)


def loading_error(error):
    """Returns the exception of onnxruntime for an exception of loading a model."""
    return _converted(error, _LOADING)
