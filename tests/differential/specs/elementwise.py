"""Elementwise operators of one input."""

import numpy as np

from fuzz.registry import op, op_each
from fuzz.values import FLOATS

# name: (low, high, probability of special values). The function is defined for most values between low and high.
UNARY = {
    "Abs": (-9, 9, 0.1), "Neg": (-9, 9, 0.1), "Ceil": (-9, 9, 0.1), "Floor": (-9, 9, 0.1),
    "Sqrt": (-1, 9, 0.1), "Exp": (-9, 9, 0.1), "Log": (-1, 9, 0.1), "Reciprocal": (-9, 9, 0.1),
    "Sigmoid": (-9, 9, 0.05), "Tanh": (-5, 5, 0.05), "Sin": (-9, 9, 0.05), "Cos": (-9, 9, 0.05),
    "Tan": (-1.4, 1.4, 0.05), "Sinh": (-5, 5, 0.05), "Cosh": (-5, 5, 0.05), "Asin": (-1.1, 1.1, 0.05),
    "Acos": (-1.1, 1.1, 0.05), "Atan": (-9, 9, 0.05), "Asinh": (-9, 9, 0.05), "Acosh": (0.8, 9, 0.05),
    "Atanh": (-1.1, 1.1, 0.05), "Erf": (-3, 3, 0.05), "Softplus": (-9, 9, 0.05),
    "Softsign": (-9, 9, 0.05), "Relu": (-9, 9, 0.1), "HardSwish": (-9, 9, 0.0), "Mish": (-9, 9, 0.0),
}


@op_each(UNARY)
def unary(d):
    low, high, special = UNARY[d.op.name]
    dtype = d.dtype("T")
    special = special if d.chance(0.4) else 0
    # Large inputs of Sin, Cos and Tan are avoided, because argument reduction in float loses all their digits.
    big = d.op.name in ("Sin", "Cos", "Tan")
    x = d.tensor(dtype, d.shape(), low=low, high=high, special=special, wide=True)
    if big and x.dtype.kind == "f":
        x[abs(x) > 1e4] = 1.0
    # The absolute value of the smallest integer is not representable.
    if d.op.name in ("Abs", "Neg") and x.dtype.kind == "i" and x.size:
        x[x == _smallest(x)] = 1
    # onnxruntime replaces HardSwish and Mish by chains of operators, each of which rounds to float16.
    atol = 2e-2 if d.op.name in ("HardSwish", "Mish") and dtype == "float16" else None
    return d.case([x], atol=atol)


def _smallest(x):
    return np.iinfo(x.dtype).min


@op("Sign")
def sign(d):
    return d.case([d.tensor(d.dtype("T"), d.shape(), special=0.1 if d.chance(0.5) else 0, wide=True)])


@op("Round")
def round_(d):
    """Draws some inputs such as 2.5, which round to the nearest even integer."""
    dtype = d.dtype("T")
    x = d.tensor(dtype, d.shape(), low=-9, high=9, special=0.1)
    halves = (d.tensor("int32", x.shape) * 0.5).astype(x.dtype)
    return d.case([halves if d.chance(0.5) else x])


@op("Not")
def not_(d):
    return d.case([d.tensor("bool", d.shape())])


@op("BitwiseNot")
def bitwise_not(d):
    return d.case([d.tensor(d.dtype("T", prefer="int32"), d.shape(), wide=True)])


@op("IsNaN")
def is_nan(d):
    return d.case([d.tensor(d.dtype("T1"), d.shape(), special=0.3)])


@op("IsInf")
def is_inf(d):
    attrs = {"detect_negative": d.maybe(d.int(0, 1)), "detect_positive": d.maybe(d.int(0, 1))}
    return d.case([d.tensor(d.dtype("T1"), d.shape(), special=0.3)], attrs)


@op("Elu")
def elu(d):
    return d.case([d.tensor(d.dtype("T"), d.shape(), low=-9, high=9)], {"alpha": d.maybe(d.uniform(0.1, 3))})


@op("Celu")
def celu(d):
    return d.case([d.tensor(d.dtype("T"), d.shape(), low=-9, high=9)], {"alpha": d.maybe(d.uniform(0.1, 3))})


@op("Selu")
def selu(d):
    attrs = {"alpha": d.maybe(d.uniform(0.1, 3)), "gamma": d.maybe(d.uniform(0.1, 3))}
    return d.case([d.tensor(d.dtype("T"), d.shape(), low=-9, high=9)], attrs)


@op("LeakyRelu")
def leaky_relu(d):
    x = d.tensor(d.dtype("T"), d.shape(), special=0.1 if d.chance(0.3) else 0)
    return d.case([x], {"alpha": d.maybe(d.uniform(-1, 1))})


@op("ThresholdedRelu")
def thresholded_relu(d):
    x = d.tensor(d.dtype("T"), d.shape(), special=0.1 if d.chance(0.3) else 0)
    return d.case([x], {"alpha": d.maybe(d.uniform(-1, 1))})


@op("HardSigmoid")
def hard_sigmoid(d):
    attrs = {"alpha": d.maybe(d.uniform(0.1, 1)), "beta": d.maybe(d.uniform(0, 1))}
    return d.case([d.tensor(d.dtype("T"), d.shape(), low=-9, high=9)], attrs)


@op("Shrink")
def shrink(d):
    attrs = {"lambd": d.maybe(d.uniform(0, 2)), "bias": d.maybe(d.uniform(-2, 2))}
    dtype = d.dtype("T")
    if dtype not in FLOATS:  # for integers, only an integral bias has a defined result
        attrs = {k: v and float(round(v)) for k, v in attrs.items()}
    low = 0 if dtype.startswith("u") else -9
    # onnxruntime computes double in float, so that the tolerance is that of float.
    return d.case([d.tensor(dtype, d.shape(), low=low, high=9)], attrs, atol=2e-6)


@op("Gelu")
def gelu(d):
    x = d.tensor(d.dtype("T"), d.shape(), low=-5, high=5)
    return d.case([x], {"approximate": d.maybe(d.choice(["none", "tanh"]), 0.7)})


@op("Swish")
def swish(d):
    return d.case([d.tensor(d.dtype("T"), d.shape(), low=-9, high=9)], {"alpha": d.maybe(d.uniform(0.1, 3))})


@op("PRelu")
def prelu(d):
    shape = d.shape(1, 4)
    slope = [1 if d.chance(0.3) else n for n in shape[d.int(0, len(shape)):]]
    dtype = d.dtype("T")
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, slope)])


@op("Clip", weight=1.5)
def clip(d):
    dtype = d.dtype("T")
    x = d.tensor(dtype, d.shape(), low=-9, high=9, special=0.05 if d.chance(0.3) else 0)
    if d.since < 11:
        return d.case([x], {"min": d.maybe(d.uniform(-5, 0)), "max": d.maybe(d.uniform(0, 5))})
    low, high = d.tensor(dtype, [], low=-5, high=0), d.tensor(dtype, [], low=0, high=5)
    if d.chance(0.1):
        low, high = high, low  # if min > max, the specification sets all elements to max
    return d.case([x, d.maybe(low), d.maybe(high)])
