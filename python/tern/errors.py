"""The exceptions of the package. Each class also derives from the nearest class of Python's own."""


class Error(Exception):
    """The base class of all errors that Tern reports."""


class InvalidArgument(Error, ValueError):
    """A mistake of the caller: a wrong name, shape, element type or option."""


class InvalidType(InvalidArgument, TypeError):
    """Elements of a type that is not converted to the type of the input."""


class InvalidModel(Error, ValueError):
    """The model is damaged or contradicts itself."""


class Unsupported(Error, NotImplementedError):
    """A valid request that Tern does not support."""


class NotFound(Error, LookupError):
    """A file, input, output or state that does not exist."""


class ModelNotFound(NotFound, FileNotFoundError):
    """The file of a model does not exist."""


class IoError(Error, OSError):
    """A file cannot be read or written."""


class ResourceExhausted(Error, MemoryError):
    """Memory, or a limit that the caller set, does not suffice."""


class InternalError(Error, RuntimeError):
    """A bug in Tern."""


class Cancelled(Error, TimeoutError):
    """The caller cancelled the run, or its time limit passed."""


class Unavailable(Error, RuntimeError):
    """A server is loading, shutting down or overloaded."""


class AlreadyExists(Error, ValueError):
    """A name is taken."""


_CLASSES = {
    "invalid argument": InvalidArgument,
    "invalid model": InvalidModel,
    "unsupported": Unsupported,
    "not found": NotFound,
    "model not found": ModelNotFound,
    "i/o error": IoError,
    "resource exhausted": ResourceExhausted,
    "internal error": InternalError,
    "cancelled": Cancelled,
    "unavailable": Unavailable,
    "already exists": AlreadyExists,
}


def make(code, message):
    """Returns the exception for the name of a code. The extension module calls it."""
    return _CLASSES.get(code, Error)(message)
