"""Elementwise operators with two or more inputs that broadcast."""

import numpy as np

from fuzz.registry import op, op_each
from fuzz.values import FLOATS, INTS


def pair(d, dtype, **how):
    left, right = d.broadcast(2)
    return d.tensor(dtype, left, **how), d.tensor(dtype, right, **how)


@op_each(["Add", "Sub", "Mul"])
def arithmetic(d):
    special = 0.05 if d.chance(0.3) else 0
    return d.case(list(pair(d, d.dtype("T"), wide=True, special=special)))


@op("Div")
def div(d):
    dtype = d.dtype("T")
    a, b = pair(d, dtype, special=0.05 if d.chance(0.3) else 0)
    if dtype in INTS:  # integer division by zero is undefined
        b = np.where(b == 0, 2, b).astype(b.dtype)
    return d.case([a, b])


@op("Mod", weight=1.5)
def mod(d):
    dtype = d.dtype("T", prefer="int32")
    a, b = pair(d, dtype)
    b = np.where(b == 0, 2, b).astype(b.dtype)
    floats = dtype in FLOATS
    return d.case([a, b], {"fmod": 1 if floats else d.maybe(d.int(0, 1))})


@op("Pow", weight=1.5)
def pow_(d):
    base, exponent = d.dtype("T"), d.dtype("T1")
    if d.since < 12:
        exponent = base
    left, right = d.broadcast(2)
    low = 0.1 if exponent in FLOATS else -5
    x = d.tensor(base, left, low=low, high=5)
    y = d.tensor(exponent, right, low=-3 if base in FLOATS else 0, high=4)
    if base in INTS and exponent in FLOATS:
        y = np.floor(y).astype(y.dtype)
    if d.chance(0.3):  # exponents with special code paths
        y = np.full(right, d.choice([0, 1, 2, 3])).astype(y.dtype)
    return d.case([x, y])


@op_each(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
def comparison(d):
    dtype = d.dtype("T")
    how = {"low": -3, "high": 3} if dtype in INTS else {"special": 0.1}
    a, b = pair(d, dtype, **how)
    return d.case([a, b])


@op_each(["And", "Or", "Xor"])
def logical(d):
    return d.case(list(pair(d, "bool")))


@op_each(["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
def bitwise(d):
    return d.case(list(pair(d, d.dtype("T", prefer="int32"), wide=True)))


@op("BitShift")
def bit_shift(d):
    dtype = d.dtype("T", prefer="uint32")
    left, right = d.broadcast(2)
    # A shift by the width of the type or more is undefined in C++ and so in every engine.
    bits = np.iinfo(dtype).bits - 1
    amount = d.tensor(dtype, right, low=0, high=bits)
    return d.case([d.tensor(dtype, left, wide=True), amount], {"direction": d.choice(["LEFT", "RIGHT"])})


@op_each(["Max", "Min"])
def extreme(d):
    dtype = d.dtype("T")
    count = d.int(1, 4)
    special = 0.05 if d.chance(0.3) else 0
    return d.case([d.tensor(dtype, s, special=special) for s in d.broadcast(count)])


@op_each(["Sum", "Mean"])
def accumulate(d):
    dtype = d.dtype("T")
    count = d.int(1, 4)
    return d.case([d.tensor(dtype, s) for s in d.broadcast(count)])


@op("Where", weight=1.5)
def where(d):
    dtype = d.dtype("T")
    c, x, y = d.broadcast(3)
    return d.case([d.tensor("bool", c), d.tensor(dtype, x, special=0.05), d.tensor(dtype, y)])
