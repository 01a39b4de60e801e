"""com.microsoft: activations, and matrix products and convolutions with a fused activation or transpose."""

import math

import numpy as np

from . import arguments, model
from .window import conv

erf = np.vectorize(math.erf, otypes=[np.float64])


def gelu(x):
    return 0.5 * x * (1 + erf(x / np.sqrt(2)))


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


@model("com.microsoft.Gelu", "com.microsoft.BiasGelu", "com.microsoft.FastGelu")
def gelu_family(case):
    x, bias = arguments(case, 2)
    total = x.astype(np.float64) + (0 if bias is None else bias)
    return [(tanh_gelu(total) if case.op.name == "FastGelu" else gelu(total)).astype(x.dtype)]


@model("com.microsoft.QuickGelu")
def quick_gelu(case):
    x = case.args[0].astype(np.float64)
    return [(x / (1 + np.exp(-case.attrs.get("alpha", 1.702) * x))).astype(case.args[0].dtype)]


def activated(case, y):
    """Applies the activation of a fused operator to y. Its parameters are in activation_params, or in activation_alpha
    and activation_beta."""
    name = case.attrs.get("activation")
    params = [*(case.attrs.get("activation_params") or []), *[case.attrs.get(f"activation_{k}", 0) for k in ("alpha", "beta")]]
    return {"Relu": lambda: np.maximum(y, 0), "Sigmoid": lambda: 1 / (1 + np.exp(-y)), "Tanh": lambda: np.tanh(y),
            "LeakyRelu": lambda: np.where(y < 0, params[0] * y, y), "Clip": lambda: np.clip(y, *params[:2]),
            "HardSigmoid": lambda: np.clip(params[0] * y + params[1], 0, 1), None: lambda: y}[name]()


@model("com.microsoft.FusedConv")
def fused_conv(case):
    return [activated(case, conv(case)[0].astype(np.float64)).astype(np.float32)]


@model("com.microsoft.FusedGemm")
def fused_gemm(case):
    a, b, c = arguments(case, 3)
    a, b = (m.T if case.attrs.get(t) else m for m, t in ((a, "transA"), (b, "transB")))
    y = case.attrs.get("alpha", 1.0) * (a.astype(np.float64) @ b)
    y += 0 if c is None else case.attrs.get("beta", 1.0) * c.astype(np.float64)
    return [activated(case, y).astype(np.float32)]


def turned(case, x, side):
    """Returns operand `side` ("A" or "B") of FusedMatMul in the layout of MatMul. If the attribute transBatchA is set,
    [m, batch, k] becomes [batch, m, k]. If transA is set, the last two axes are swapped after that."""
    if x.ndim < 2:
        return x.astype(np.float64)
    if case.attrs.get(f"transBatch{side}"):
        x = np.moveaxis(x, 0, -2)
    return (x.swapaxes(-1, -2) if case.attrs.get(f"trans{side}") else x).astype(np.float64)


@model("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def fused_matmul(case):
    a, b = case.args
    y = case.attrs.get("alpha", 1.0) * np.matmul(turned(case, a, "A"), turned(case, b, "B"))
    return [np.asarray(y).astype(a.dtype)]


@model("com.microsoft.Inverse")
def inverse(case):
    return [np.linalg.inv(case.args[0].astype(np.float64)).astype(case.args[0].dtype)]


@model("com.microsoft.CDist")
def cdist(case):
    a, b = (x.astype(np.float64) for x in case.args)
    squares = ((a[:, None] - b[None]) ** 2).sum(axis=-1)
    return [(np.sqrt(squares) if case.attrs["metric"] == "euclidean" else squares).astype(case.args[0].dtype)]


@model("com.microsoft.MatMulInteger16")
def matmul_integer16(case):
    a, b = (x.astype(np.int32) for x in case.args)
    return [np.asarray(np.matmul(a, b))]


@model("com.microsoft.GatedAdd")
def gated_add(case):
    x, y, gate = (a.astype(np.float64) for a in case.args)
    return [(x + gate * y).astype(case.args[0].dtype)]


@model("com.microsoft.MoE")
def mixture(case):
    """Computes MoE. Each row of the result is the weighted sum of the results of k experts. The experts are those with
    the k highest router scores, and the weights are the softmax of the scores."""
    x, router, w1, b1, w2, b2 = arguments(case, 6)
    k = case.attrs.get("k", 4)
    odds = np.exp(router.astype(np.float64) - router.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    function = {"relu": lambda v: np.maximum(v, 0), "gelu": tanh_gelu, "silu": lambda v: v / (1 + np.exp(-v)),
                "identity": lambda v: v}[case.attrs.get("activation_type", "relu")]
    y = np.zeros((x.shape[0], w2.shape[1]))
    for row, p in enumerate(odds):
        chosen = np.argsort(-p, kind="stable")[:k]
        share = p[chosen] / p[chosen].sum() if case.attrs.get("normalize_routing_weights") else p[chosen]
        for expert, weight in zip(chosen, share):
            hidden = function(w1[expert].astype(np.float64) @ x[row] + (0 if b1 is None else b1[expert]))
            y[row] += weight * (w2[expert] @ hidden + (0 if b2 is None else b2[expert]))
    return [y.astype(np.float32)]
