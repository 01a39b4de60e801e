"""Represents inputs and outputs of a model, and converts them to ONNX types and protobuf messages."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from onnx import MapProto, OptionalProto, SequenceProto, TensorProto, TypeProto, helper, numpy_helper

NUMPY = {
    "float": np.float32, "double": np.float64, "float16": np.float16,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "bool": np.bool_, "string": np.object_,
    "bfloat16": ml_dtypes.bfloat16, "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int2": ml_dtypes.int2, "uint2": ml_dtypes.uint2,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}
NAMES = {np.dtype(v): k for k, v in NUMPY.items()}
FLOATS = ("float", "double", "float16", "bfloat16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
TINY_INTS = ("int4", "uint4", "int2", "uint2")
# Types that neither .npy nor onnxruntime's Python binding supports. Tern reads them from .pb files. onnxruntime reads
# them from initializers.
EXOTIC = ("bfloat16", *FLOAT8, "float8e8m0", *TINY_INTS, "float4e2m1")


@dataclass
class Seq:
    """A sequence of tensors. It stores the element type because the list may be empty."""

    dtype: str
    items: list


@dataclass
class Opt:
    """An optional. If `present`, `kind` is its value. Otherwise the optional is empty, and `kind` is any value of its
    element type."""

    kind: object
    present: bool


@dataclass
class Map:
    key: str
    value: str
    items: dict


def enum(name):
    return TensorProto.DataType.Value(name.upper())


def name_of(array):
    """Returns the ONNX name of an array's element type. Any numpy string type counts as a string."""
    return "string" if array.dtype.kind in "OUS" else NAMES[array.dtype]


def type_of(value, dims=None):
    """Returns the TypeProto of a value. `dims`, if given, replaces the shape of a tensor."""
    if isinstance(value, Seq):
        return helper.make_sequence_type_proto(helper.make_tensor_type_proto(enum(value.dtype), None))
    if isinstance(value, Opt):
        return helper.make_optional_type_proto(type_of(value.kind))
    if isinstance(value, Map):
        return map_type(value.key, value.value)
    return helper.make_tensor_type_proto(enum(name_of(value)), value.shape if dims is None else dims)


def map_type(key, value):
    proto = TypeProto()
    proto.map_type.key_type = enum(key)
    proto.map_type.value_type.tensor_type.elem_type = enum(value)
    return proto


def parse_type(text):
    """Reads onnxruntime's spelling of a type, such as seq(map(int64,tensor(float)))."""
    outer, inner = text.split("(", 1)
    inner = inner[:-1]
    if outer == "tensor":
        return helper.make_tensor_type_proto(enum(inner), None)
    if outer == "seq":
        return helper.make_sequence_type_proto(parse_type(inner))
    if outer == "optional":
        return helper.make_optional_type_proto(parse_type(inner))
    key, value = inner.split(",", 1)
    return map_type(key, value[len("tensor("):-1])


def is_exotic(value):
    if isinstance(value, np.ndarray):
        return name_of(value) in EXOTIC
    if isinstance(value, Seq):
        return value.dtype in EXOTIC
    return isinstance(value, Opt) and is_exotic(value.kind)


def tensor_proto(array, name=""):
    if array.dtype.kind in "OUS":
        flat = [s if isinstance(s, bytes) else str(s).encode() for s in array.reshape(-1)]
        return helper.make_tensor(name, TensorProto.STRING, array.shape, flat)
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


def sequence_proto(items, name="", maps_to=None):
    """Returns a sequence message. If the items are maps, `maps_to` is the element type of their values."""
    proto = SequenceProto(name=name)
    if items and isinstance(items[0], dict):
        proto.elem_type = SequenceProto.MAP
        proto.map_values.extend(map_proto(item, maps_to) for item in items)
        return proto
    proto.elem_type = SequenceProto.TENSOR
    proto.tensor_values.extend(tensor_proto(np.asarray(item)) for item in items)
    return proto


def map_proto(items, dtype, name=""):
    proto = MapProto(name=name)
    keys, values = list(items), list(items.values())
    if keys and isinstance(keys[0], str):
        proto.key_type = TensorProto.STRING
        proto.string_keys.extend(k.encode() for k in keys)
    else:
        proto.key_type = TensorProto.INT64
        proto.keys.extend(keys)
    # Maps contain Python numbers without an element type.
    proto.values.CopyFrom(sequence_proto([np.asarray(v, NUMPY[dtype]) for v in values]))
    return proto


def optional_proto(value, name=""):
    proto = OptionalProto(name=name)
    if not value.present:
        proto.elem_type = OptionalProto.UNDEFINED
    elif isinstance(value.kind, Seq):
        proto.elem_type = OptionalProto.SEQUENCE
        proto.sequence_value.CopyFrom(to_proto(value.kind))
    else:
        proto.elem_type = OptionalProto.TENSOR
        proto.tensor_value.CopyFrom(tensor_proto(value.kind))
    return proto


def map_value_type(proto):
    """Returns the type of a map's values, such as float for map(int64,tensor(float)) or a sequence of such maps.
    Returns None for other types."""
    if proto is None or proto.WhichOneof("value") not in ("map_type", "sequence_type"):
        return None
    if proto.HasField("sequence_type"):
        return map_value_type(proto.sequence_type.elem_type)
    return TensorProto.DataType.Name(proto.map_type.value_type.tensor_type.elem_type).lower()


def to_proto(value, name="", type_proto=None):
    """Returns the protobuf message of a test data file for any value. The value None is an empty optional output. If
    the value is a map that an engine returned, `type_proto` must be the type of the output."""
    if value is None:
        return OptionalProto(name=name, elem_type=OptionalProto.UNDEFINED)
    if isinstance(value, Opt):
        return optional_proto(value, name)
    if isinstance(value, Seq):
        return sequence_proto(value.items, name)
    if isinstance(value, list):
        return sequence_proto(value, name, map_value_type(type_proto))
    if isinstance(value, Map):
        return map_proto(value.items, value.value, name)
    if isinstance(value, dict):
        return map_proto(value, map_value_type(type_proto), name)
    return tensor_proto(np.asarray(value), name)


def as_optional(value):
    """Wraps a value that onnxruntime returned for an optional output, because onnxruntime returns it unwrapped."""
    kind = Seq(None, value) if isinstance(value, list) else value
    return Opt(kind, value is not None)


def plain(value):
    """Returns the plain Python value that onnxruntime and onnx.reference accept as an input."""
    if isinstance(value, (Seq, Map)):
        return value.items
    if isinstance(value, Opt):
        return plain(value.kind) if value.present else None
    return value
