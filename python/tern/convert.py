"""Conversions of Python objects to arrays. The extension module calls them for objects that are not arrays."""

import numpy as np

from .errors import InvalidArgument, InvalidType


def to_array(value, dtype, what):
    """Returns lists, numbers, data frame columns and the like as an array of the dtype that the model declares.

    Fails if the conversion would lose more than precision: floats do not become ints, and ints must be in range.
    """
    array = _from_torch(value, dtype, what) if type(value).__module__ == "torch" else np.asarray(value)
    if array.dtype.kind == "O":
        array = np.asarray(array.tolist())  # numbers in a column of Python objects
    if array.dtype == dtype:
        return array
    limits = _limits(dtype)
    if array.dtype.kind in "iu" and limits is not None:
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            raise InvalidArgument(f"{what}: the values {array.min()} to {array.max()} are not in the range of {dtype}")
    elif array.size and not (array.dtype.kind == "b" if limits else np.can_cast(array.dtype, dtype, "same_kind")
                             or array.dtype.kind in "fiu" and dtype.kind not in "biufcSUO"):  # a float of ml_dtypes
        raise InvalidType(f"{what} takes {dtype}, got {array.dtype} values; convert them first")
    return array.astype(dtype)


def _limits(dtype):
    """Returns the range of an integer dtype of numpy or ml_dtypes, and None for other dtypes."""
    if dtype.kind in "iu":
        return np.iinfo(dtype)
    if dtype.name.startswith(("int", "uint")):
        import ml_dtypes
        return ml_dtypes.iinfo(dtype)
    return None


def _from_torch(tensor, dtype, what):
    """Returns a torch tensor as an array.

    A bfloat16 tensor keeps its type if `dtype` is bfloat16. For other floats it becomes float32, because numpy lacks bfloat16.
    """
    tensor = tensor.detach().cpu().contiguous()
    if str(tensor.dtype) != "torch.bfloat16":
        return tensor.numpy()
    if dtype.kind == "b" or _limits(dtype) is not None:
        raise InvalidType(f"{what} takes {dtype}, got a bfloat16 tensor; convert it first")
    if dtype.name == "bfloat16":
        import torch
        return tensor.view(torch.uint16).numpy().view(dtype)
    return tensor.float().numpy()


def from_frame(frame, inputs):
    """Returns the inputs of a model as a dict of arrays from the columns of a data frame.

    A column is the input of the same name. If the model has one input and no column has its name, all columns together
    are the input.
    """
    names = [name for name, *_ in inputs]
    columns = set(frame.columns)
    if len(inputs) == 1 and names[0] not in columns:
        name, _, dtype, _, _ = inputs[0]
        return {name: _column(frame.to_numpy(), dtype, name)}
    missing = [name for name in names if name not in columns]
    if missing:
        raise InvalidArgument(f"the data frame has no column '{missing[0]}'; it has: {', '.join(map(str, frame.columns))}")
    feeds = {}
    for name, _, dtype, shape, _ in inputs:
        column = _column(frame[name].to_numpy(), dtype, name)
        feeds[name] = column.reshape(-1, 1) if shape is not None and len(shape) == 2 else column
    return feeds


def _column(array, dtype, name):
    if dtype == "str":
        return array.astype(object)
    if not _is_numpy(dtype):
        return array
    return np.ascontiguousarray(to_array(array, np.dtype(dtype), f"column '{name}'"))


def _is_numpy(dtype):
    try:
        return np.dtype(dtype) is not None
    except TypeError:
        return False
