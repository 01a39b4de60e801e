"""Normalisations, softmaxes and dropout."""

import numpy as np

from fuzz.registry import op, op_each


@op_each(["Softmax", "LogSoftmax", "Hardmax"], weight=1.5)
def softmax(d):
    shape = d.shape(1, 4, dim=9)
    axis = d.axis(len(shape)) if d.since >= 11 else d.int(0, len(shape) - 1)
    x = d.tensor(d.dtype("T"), shape, spread=d.choice([1, 1, 30]))
    if d.op.name == "Hardmax" and d.chance(0.4):
        x = np.round(x)  # makes several equal maxima; Hardmax selects the first
    return d.case([x], {"axis": d.maybe(axis, 0.8)})


@op("BatchNormalization", weight=2, since=(7, 9, 14, 15))
def batch_normalization(d):
    dtype = d.dtype("T", without=("float16",))
    shape = d.shape(2, 5, zero=0)
    c = [shape[1]]
    stats = [d.tensor(dtype, c), d.tensor(dtype, c), d.tensor(dtype, c), d.tensor(dtype, c, low=0.1, high=3)]
    attrs = {"epsilon": d.maybe(d.uniform(1e-5, 1e-2)), "momentum": d.maybe(d.uniform(0, 1))}
    training = d.since >= 14 and d.chance(0.25)
    if d.since >= 14:
        attrs["training_mode"] = 1 if training else d.maybe(0)
    return d.case([d.tensor(dtype, shape), *stats], attrs, outputs=3 if training else 1, scale=10)


@op("InstanceNormalization", since=(6, 22))
def instance_normalization(d):
    dtype = d.dtype("T", without=("double",))
    shape = d.shape(3, 5, zero=0)
    c = [shape[1]]
    inputs = [d.tensor(dtype, shape), d.tensor(dtype, c), d.tensor(dtype, c)]
    return d.case(inputs, {"epsilon": d.maybe(d.uniform(1e-5, 1e-2))}, scale=100)


@op("LayerNormalization", weight=2, since=(17,))
def layer_normalization(d):
    dtype = d.dtype("T")
    shape = d.shape(1, 4, dim=9, zero=0.02)
    axis = d.axis(len(shape))
    inner = shape[axis:] if axis >= 0 else shape[len(shape) + axis:]
    if d.chance(0.15):  # dims of scale and bias may be 1 and broadcast
        inner = [1 if d.chance(0.5) else n for n in inner]
    attrs = {"axis": axis if axis != -1 or d.chance(0.5) else None, "epsilon": d.maybe(d.uniform(1e-5, 1e-2)),
             "stash_type": d.maybe(1)}
    inputs = [d.tensor(dtype, shape), d.tensor(dtype, inner), d.maybe(d.tensor(dtype, inner), 0.6)]
    return d.case(inputs, attrs, outputs=d.choice([1, 1, 3]), scale=100)


@op("RMSNormalization", weight=1.5)
def rms_normalization(d):
    dtype = d.dtype("T", without=("bfloat16",))
    shape = d.shape(1, 4, dim=9, zero=0)
    axis = d.axis(len(shape))
    inner = shape[axis:] if axis >= 0 else shape[len(shape) + axis:]
    attrs = {"axis": axis if axis != -1 or d.chance(0.5) else None, "epsilon": d.maybe(d.uniform(1e-5, 1e-2))}
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, inner)], attrs, scale=100)


@op("SimplifiedLayerNormalization", since=(1,))
def simplified_layer_normalization(d):
    """SimplifiedLayerNormalization is onnxruntime's name for RMS normalisation. onnxruntime defines it in the default
    domain."""
    dtype = d.dtype("T", without=("bfloat16",))
    shape = d.shape(2, 4, dim=9, zero=0)
    attrs = {"axis": d.maybe(-1), "epsilon": d.maybe(d.uniform(1e-5, 1e-2)), "stash_type": d.maybe(1)}
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, shape[-1:])], attrs, scale=100)


@op("GroupNormalization", weight=1.5, since=(21,))
def group_normalization(d):
    dtype = d.dtype("T", only=("float", "float16", "double"))
    groups, each = d.int(1, 3), d.int(1, 3)
    shape = [d.int(1, 2), groups * each, *d.shape(1, 3, zero=0)]
    attrs = {"num_groups": groups, "epsilon": d.maybe(d.uniform(1e-5, 1e-2)), "stash_type": d.maybe(1)}
    return d.case([d.tensor(dtype, shape), d.tensor(dtype, [groups * each]), d.tensor(dtype, [groups * each])],
                  attrs, scale=100, atol=1e-5)  # with stash_type 1, the computation is in float even if x is double


@op("MeanVarianceNormalization", since=(9, 13))
def mean_variance_normalization(d):
    shape = d.shape(4, 4, zero=0)
    axes = d.maybe(d.axes(4, at_least=1) if d.chance(0.5) else [0, 2, 3])
    return d.case([d.tensor(d.dtype("T", without=("double", "bfloat16")), shape)], {"axes": axes}, scale=100)


@op("LpNormalization", since=(1, 22))
def lp_normalization(d):
    shape = d.shape(1, 4, zero=0)
    attrs = {"axis": d.maybe(d.axis(len(shape))), "p": d.maybe(d.int(1, 2))}
    return d.case([d.tensor(d.dtype("T"), shape)], attrs)


@op("LRN")
def lrn(d):
    attrs = {"size": 2 * d.int(0, 3) + 1, "alpha": d.maybe(d.uniform(1e-4, 1)), "beta": d.maybe(d.uniform(0.1, 1)),
             "bias": d.maybe(d.uniform(0.5, 2))}
    shape = [d.int(1, 2), d.int(1, 9), d.int(1, 5), d.int(1, 5)]
    return d.case([d.tensor(d.dtype("T", without=("double",)), shape)], attrs)


@op("Dropout", since=(7, 10, 12, 13, 22))
def dropout(d):
    dtype = d.dtype("T", without=("bfloat16",))
    x = d.tensor(dtype, d.shape())
    outputs = d.choice([1, 2]) if d.since >= 10 else 1
    if d.since < 12:
        return d.case([x], {"ratio": d.maybe(d.uniform(0, 0.9))}, outputs=outputs)
    training = d.maybe(d.scalar("bool", d.chance(0.3)))
    ratio = d.maybe(d.tensor("float", [], low=0, high=0.9), 0.7)
    # In training, the mask is random if the ratio is not 0.
    random = training is not None and bool(training)
    if random and d.chance(0.5):
        ratio, random = d.scalar("float", 0), False
    return d.case([x, ratio, training], {"seed": d.maybe(d.int(0, 99))}, outputs=outputs,
                  shape_only=tuple(range(outputs)) if random else ())


def _loss_inputs(d, dtype):
    classes = d.int(2, 5)
    rest = d.shape(0, 3, dim=4, zero=0)
    x = d.tensor(dtype, [d.int(1, 4), classes, *rest])
    target = d.tensor(d.choice(["int32", "int64"]), [x.shape[0], *rest], low=0, high=classes - 1)
    weight = d.maybe(d.tensor(dtype, [classes], low=0.1, high=2))
    ignore = d.maybe(d.int(0, classes - 1), 0.3)
    if ignore is not None and d.chance(0.9) and target.size:
        target.reshape(-1)[0] = (ignore + 1) % classes  # if all targets were ignored, the mean would be 0/0
    return x, target, weight, ignore


@op("NegativeLogLikelihoodLoss", since=(12, 13, 22))
def nll_loss(d):
    x, target, weight, ignore = _loss_inputs(d, d.dtype("T", only=("float", "double")))
    attrs = {"reduction": d.maybe(d.choice(["none", "sum", "mean"]), 0.8), "ignore_index": ignore}
    return d.case([x, target, weight], attrs, scale=10)


@op("SoftmaxCrossEntropyLoss", since=(12, 13))
def softmax_cross_entropy_loss(d):
    x, target, weight, ignore = _loss_inputs(d, d.dtype("T", only=("float", "double")))
    attrs = {"reduction": d.maybe(d.choice(["none", "sum", "mean"]), 0.8), "ignore_index": ignore}
    return d.case([x, target, weight], attrs, outputs=d.int(1, 2), scale=10)
