"""Conversions between element types."""

import numpy as np

from fuzz import values
from fuzz.registry import op
from fuzz.values import EXOTIC, FLOAT8, FLOATS, INTS, TINY_INTS, enum

# Strings to convert to numbers.
NUMBERS = ("0", "1", "-1", "2.5", "-3.25", "100", "1e3", "-7")
INTEGERS = ("0", "1", "-1", "17", "-100", "64")


def source(d, dtype, to, shape):
    """Returns values whose conversion is defined. For conversions to integers, values are in range and not NaN."""
    if dtype == "string":
        return d.tensor(dtype, shape, words=INTEGERS if to in INTS or to in TINY_INTS else NUMBERS)
    if to == "string":  # every engine prints multiples of 1/4 with the same digits
        low = 0 if dtype.startswith("u") else -9
        x = d.tensor("int32", shape, low=low, high=9)
        return (x * (0.25 if dtype in FLOATS else 1)).astype(values.NUMPY[dtype])
    if to in INTS or to in TINY_INTS:
        return into_integer(d, dtype, to, shape)
    return d.tensor(dtype, shape, low=-9, high=9, special=0.1, wide=True)


def into_integer(d, dtype, to, shape):
    if dtype in INTS and to in INTS:
        return d.tensor(dtype, shape, wide=True)  # wraps around in every engine
    tiny = to in TINY_INTS or dtype in TINY_INTS
    low, high = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}.get(to, (0 if to[0] == "u" else -9, 9))
    return d.tensor(dtype, shape, low=low, high=high) if not tiny or dtype != "bool" else d.tensor(dtype, shape)


def pick_types(d):
    source_types = d.types("T1", without=("float4e2m1",))
    target_types = d.types("T2", without=("float4e2m1",))
    return d.choice(source_types), d.choice(target_types)


@op("Cast", weight=4)
def cast(d):
    dtype, to = pick_types(d)
    if d.chance(0.4):
        dtype = d.choice(["float", "double", "int32", "int64", "float16", "bool"])
    attrs = {"to": enum(to)}
    if d.since >= 19 and to in FLOAT8:
        attrs["saturate"] = d.maybe(d.int(0, 1))
    if d.since >= 24 and to == "float8e8m0":
        attrs["round_mode"] = d.maybe(d.choice(["up", "down", "nearest"]))
    x = source(d, dtype, to, d.shape())
    if to == "float8e8m0":  # the type has only positive powers of two
        x = positive(d, dtype, x.shape)
    return d.case([x], attrs)


def positive(d, dtype, shape):
    return d.tensor(dtype, shape, low=1, high=9) if dtype in FLOATS else d.tensor("float", shape, low=0.1, high=99)


@op("CastLike")
def cast_like(d):
    plain = [t for t in d.types("T1", without=EXOTIC)]
    dtype, to = d.choice(plain), d.choice(plain)
    x = source(d, dtype, to, d.shape())
    return d.case([x, d.tensor(to, d.shape(0, 2))])


@op("BitCast")
def bit_cast(d):
    dtype = d.dtype("T1")
    size = np.dtype(values.NUMPY[dtype]).itemsize
    same = [t for t in d.types("T2") if np.dtype(values.NUMPY[t]).itemsize == size]
    return d.case([d.tensor(dtype, d.shape(), special=0.1, wide=True)], {"to": enum(d.choice(same))})
