"""com.microsoft: block-quantised lookups and stateful layers."""

import numpy as np

from . import arguments, model
from .attention import allowed_keys, join_heads, masked_attention, split_heads
from .quantised import real, unpacked

FP4 = np.array([0, 0.0052083333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25])
FP4 = np.concatenate([FP4, -FP4])
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
                -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
                0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0])


@model("com.microsoft.GatherBlockQuantized")
def gather_block_quantized(case):
    data, picks, scales, zeros = arguments(case, 4)
    block, blocks = case.attrs["block_size"], scales.shape[1]
    if data.dtype == np.uint8:
        bits = case.attrs["bits"]
        data = unpacked(data, bits)
        zeros = 2 ** (bits - 1) if zeros is None else unpacked(zeros, bits)[:, :blocks]
    zeros = np.broadcast_to(0.0 if zeros is None else np.asarray(zeros).astype(np.float64), scales.shape)
    spread = lambda t: np.repeat(t, block, axis=1)[:, :data.shape[1]]  # noqa: E731
    table = (data.astype(np.float64) - spread(zeros)) * spread(scales.astype(np.float64))
    return [table[picks].astype(scales.dtype)]


@model("com.microsoft.MatMulBnb4")
def matmul_bnb4(case):
    """Computes MatMulBnb4. The first number of a byte is in its high four bits. A block may begin in one row of the
    weight and end in the next row."""
    a, packed, absmax = case.args
    codes = np.stack([packed >> 4, packed & 15], axis=-1).reshape(-1)
    k, n, block = (case.attrs[name] for name in ("K", "N", "block_size"))
    table = NF4 if case.attrs["quant_type"] else FP4
    weights = table[codes][: n * k] * np.repeat(absmax.astype(np.float64), block)[: n * k]
    return [(a.astype(np.float64) @ weights.reshape(n, k).T).astype(a.dtype)]


@model("com.microsoft.QAttention")
def qattention(case):
    x, w, bias, x_scale, w_scale, mask, x_zero, w_zero, _ = arguments(case, 9)
    flat = real(x, x_scale, x_zero) @ real(w, w_scale, w_zero) + bias
    q, k, v = (split_heads(p, case.attrs["num_heads"]) for p in np.split(flat, 3, axis=-1))
    y = masked_attention(case, q, k, v, allowed_keys(mask, k.shape[2]), None, 0)
    return [join_heads(y).astype(np.float32)]


@model("com.microsoft.CausalConvWithState")
def causal_conv_with_state(case):
    x, w, bias, past = arguments(case, 4)
    reach = w.shape[2] - 1
    past = np.zeros((*x.shape[:2], reach)) if past is None else past
    line = np.concatenate([past, x], axis=2).astype(np.float64)
    y = sum(w[:, 0, t, None].astype(np.float64) * line[:, :, t:t + x.shape[2]] for t in range(reach + 1))
    y = y + (0 if bias is None else bias[:, None])
    if case.attrs.get("activation") in ("silu", "swish"):
        y = y / (1 + np.exp(-y))
    return [y.astype(x.dtype), line[:, :, line.shape[2] - reach:].astype(x.dtype)]


@model("com.microsoft.LinearAttention")
def linear_attention(case):
    q, k, v, past, decay, beta = arguments(case, 6)
    count, rule = case.attrs["kv_num_heads"], case.attrs["update_rule"]
    batch, length = q.shape[:2]
    heads = lambda t: t.reshape(batch, length, count, -1).astype(np.float64)  # noqa: E731
    q, k, v = heads(q), heads(k), heads(v)
    state = np.zeros((batch, count, k.shape[3], v.shape[3])) if past is None else past.astype(np.float64)
    scale = case.attrs.get("scale") or 1 / np.sqrt(k.shape[3])
    out = np.zeros((batch, length, count, v.shape[3]))
    for t in range(length):
        if "gated" in rule:
            state = state * np.exp(heads(decay)[:, t])[..., None]
        value = v[:, t]
        if "delta" in rule:
            value = beta[:, t, :, None] * (value - np.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + k[:, t][..., None] * value[..., None, :]
        out[:, t] = scale * np.einsum("bhkv,bhk->bhv", state, q[:, t])
    return [out.reshape(batch, length, -1).astype(np.float32), state.astype(np.float32)]
