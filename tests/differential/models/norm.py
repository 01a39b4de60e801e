"""Normalisations and softmaxes that onnx.reference computes wrongly, and fused normalisations of com.microsoft."""

import math

import numpy as np

from . import arguments, model, wanted


def coerced(case, x):
    """Returns x with the softmax axis last. Before opset 13, a softmax runs over all axes from `axis` on. With axis=1,
    [2,3,4] therefore becomes [2,12]."""
    if case.opset >= 13:
        return np.moveaxis(x, case.attrs.get("axis", -1), -1)
    axis = case.attrs.get("axis", 1) % x.ndim
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def restored(case, y, x):
    return np.moveaxis(y, -1, case.attrs.get("axis", -1)) if case.opset >= 13 else y.reshape(x.shape)


@model("Softmax", "LogSoftmax", "Hardmax")
def softmax(case):
    x = case.args[0]
    if not x.size:
        return [x]
    rows = coerced(case, x.astype(np.float64))
    if case.op.name == "Hardmax":
        y = np.zeros_like(rows)
        np.put_along_axis(y, rows.argmax(axis=-1)[..., None], 1, axis=-1)
    else:
        shifted = rows - rows.max(axis=-1, keepdims=True)
        y = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        y = np.exp(y) if case.op.name == "Softmax" else y
    return [restored(case, y, x).astype(x.dtype)]


@model("LRN")
def lrn(case):
    x, a = case.args[0], case.attrs
    size, channels = a["size"], case.args[0].shape[1]
    squares = x.astype(np.float64) ** 2
    low, high = (size - 1) // 2, math.ceil((size - 1) / 2)
    sums = np.stack([squares[:, max(0, c - low):min(channels, c + high + 1)].sum(axis=1) for c in range(channels)], axis=1)
    return [(x / (a.get("bias", 1.0) + a.get("alpha", 1e-4) / size * sums) ** a.get("beta", 0.75)).astype(x.dtype)]


@model("LpNormalization")
def lp_normalization(case):
    x, p, axis = case.args[0], case.attrs.get("p", 2), case.attrs.get("axis", -1)
    norm = (np.abs(x.astype(np.float64)) ** p).sum(axis=axis, keepdims=True) ** (1 / p)
    return [np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm)).astype(x.dtype)]


@model("BatchNormalization")
def batch_normalization(case):
    if case.attrs.get("training_mode"):
        return None
    x, scale, bias, mean, var = (a.astype(np.float64) for a in case.args)
    shape = [1, -1] + [1] * (x.ndim - 2)
    scale, bias, mean, var = (a.reshape(shape) for a in (scale, bias, mean, var))
    y = (x - mean) / np.sqrt(var + case.attrs.get("epsilon", 1e-5)) * scale + bias
    return [y.astype(case.args[0].dtype)]


def normalised(x, epsilon, centred):
    """Divides x by its root mean square along the last axis. If `centred`, first subtracts the mean."""
    x = x - x.mean(axis=-1, keepdims=True) if centred else x
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon)


@model("SimplifiedLayerNormalization")
def simplified_layer_normalization(case):
    x, scale = case.args
    return [(normalised(x.astype(np.float64), case.attrs.get("epsilon", 1e-5), False) * scale).astype(x.dtype)]


@model("com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization")
def skip_layer_normalization(case):
    centred = case.op.name == "SkipLayerNormalization"
    x, skip, gamma, *rest = arguments(case, 5)
    beta, bias = rest if centred else (None, rest[0])
    total = x.astype(np.float64) + skip + (0 if bias is None else bias)
    y = normalised(total, case.attrs.get("epsilon", 1e-12), centred) * gamma + (0 if beta is None else beta)
    return wanted(case, [v if v is None else v.astype(x.dtype) for v in (y, None, None, total)])


@model("com.microsoft.EmbedLayerNormalization")
def embed_layer_normalization(case):
    ids, segments, words, places, parts, gamma, beta, mask, positions = arguments(case, 9)
    positions = np.arange(ids.shape[1])[None].repeat(len(ids), 0) if positions is None else positions
    total = words[ids].astype(np.float64) + places[positions] + (0 if segments is None else parts[segments])
    y = normalised(total, case.attrs.get("epsilon", 1e-12), True) * gamma + beta
    used = np.zeros(len(ids), np.int32) if mask is None else mask.sum(axis=1).astype(np.int32)
    return wanted(case, [y.astype(np.float32), used, total.astype(np.float32)])


@model("com.microsoft.GatedRMSNorm")
def gated_rms_norm(case):
    x, scale, gate = (a.astype(np.float64) for a in case.args)
    sigmoid = 1 / (1 + np.exp(-gate))
    factor = sigmoid if case.attrs.get("activation") == "sigmoid" else gate * sigmoid
    return [(normalised(x, case.attrs.get("epsilon", 1e-5), False) * scale * factor).astype(case.args[0].dtype)]
