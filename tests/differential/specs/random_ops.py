"""Operators with random outputs, of which only type and shape can be compared."""

import numpy as np

from fuzz.registry import op, op_each
from fuzz.values import enum


def bounds(d):
    if "Uniform" in d.op.name:
        return {"low": d.maybe(d.uniform(-3, 0)), "high": d.maybe(d.uniform(1, 3))}
    return {"mean": d.maybe(d.uniform(-1, 1)), "scale": d.maybe(d.uniform(0.1, 2))}


@op_each(["RandomNormal", "RandomUniform"], since=(1,), last=21, weight=0.5)
def random(d):
    attrs = {**bounds(d), "shape": d.shape(1, 4), "dtype": d.maybe(enum(d.choice(["float", "double"]))),
             "seed": d.maybe(d.uniform(0, 99))}
    return d.case([], attrs, shape_only=(0,))


@op_each(["RandomNormalLike", "RandomUniformLike"], since=(1,), last=21, weight=0.5)
def random_like(d):
    dtype = d.maybe(enum(d.choice(["float", "double"])))
    source = d.choice(["float", "double"]) if dtype is None else d.choice(["float", "int32", "bool", "int64"])
    attrs = {**bounds(d), "dtype": dtype, "seed": d.maybe(d.uniform(0, 99))}
    return d.case([d.tensor(source, d.shape())], attrs, shape_only=(0,))


@op("Bernoulli", since=(15,), last=21, weight=0.5)
def bernoulli(d):
    """If all probabilities are 0 or 1, the result is not random."""
    certain = d.chance(0.5)
    x = d.tensor("float", d.shape(), low=0, high=1)
    x = np.round(x) if certain else x
    dtype = d.maybe(enum(d.choice(["float", "double", "int32", "bool"])))
    return d.case([x], {"dtype": dtype, "seed": d.maybe(d.uniform(0, 99))}, shape_only=() if certain else (0,))


@op("Multinomial", since=(7,), last=21, weight=0.5)
def multinomial(d):
    x = d.tensor("float", [d.int(1, 3), d.int(1, 5)])
    attrs = {"sample_size": d.maybe(d.int(1, 6)), "dtype": d.maybe(enum(d.choice(["int32", "int64"]))),
             "seed": d.maybe(d.uniform(0, 99))}
    return d.case([x], attrs, shape_only=(0,))
