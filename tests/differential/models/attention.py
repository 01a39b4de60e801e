"""Attention operators of ONNX and of com.microsoft."""

import numpy as np

from . import arguments, model, wanted

DOUBLE = np.float64


def softmax(x, sink=False):
    """Returns the softmax along the last axis. If `sink`, the denominator has an additional term exp(0)."""
    top = x.max(axis=-1, keepdims=True)
    top = np.maximum(top, 0) if sink else top
    e = np.exp(x - top)
    return e / (e.sum(axis=-1, keepdims=True) + (np.exp(-top) if sink else 0))


def split_heads(x, count):
    """[batch, length, heads * size] -> [batch, heads, length, size]."""
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(0, 2, 1, 3)


def join_heads(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def appended(past, new):
    return new if past is None else np.concatenate([past, new], axis=2)


def causal(queries, keys, past):
    return np.tril(np.ones((queries, keys), bool), k=past)


def softcap(scores, cap):
    return cap * np.tanh(scores / cap) if cap else scores


@model("Attention")
def attention(case):
    a = case.attrs
    q, k, v, mask, past_k, past_v, used = arguments(case, 7)
    flat = q.ndim == 3
    if flat:
        q, k, v = split_heads(q, a["q_num_heads"]), split_heads(k, a["kv_num_heads"]), split_heads(v, a["kv_num_heads"])
    past = 0 if past_k is None else past_k.shape[2]
    k, v = appended(past_k, k), appended(past_v, v)
    repeat = q.shape[1] // k.shape[1]
    scale = a.get("scale", 1 / np.sqrt(q.shape[-1]))
    raw = q.astype(DOUBLE) @ np.repeat(k, repeat, 1).astype(DOUBLE).swapaxes(2, 3) * scale
    capped = softcap(raw, a.get("softcap"))
    masked = capped + attention_bias(a, mask, used, *raw.shape[2:], past)
    weights = softmax(masked)
    y = weights @ np.repeat(v, repeat, 1).astype(DOUBLE)
    scores = (raw, capped, masked, weights)[a.get("qk_matmul_output_mode", 0)]
    kind = case.args[0].dtype
    return wanted(case, [(join_heads(y) if flat else y).astype(kind), k, v, scores.astype(kind)])


def attention_bias(attrs, mask, used, queries, keys, past):
    bias = np.zeros((1, 1, queries, keys))
    if mask is not None:
        bias = bias + (np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask)
    if attrs.get("is_causal"):
        bias = np.where(causal(queries, keys, past), bias, -np.inf)
    if used is not None:
        bias = np.where(np.arange(keys) < used.reshape(-1, 1, 1, 1), bias, -np.inf)
    return bias


def masked_attention(case, q, k, v, allowed, bias, past):
    """Computes attention as com.microsoft's operators do: the attribute mask_filter_value is added to the score of a
    masked key instead of minus infinity."""
    low = case.attrs.get("mask_filter_value", -10000.0)
    scores = q @ k.swapaxes(2, 3) * case.attrs.get("scale", 1 / np.sqrt(q.shape[-1]))
    if allowed is not None:
        scores = scores + np.where(allowed, 0.0, low)
    if case.attrs.get("unidirectional"):
        scores = np.where(causal(scores.shape[2], scores.shape[3], past), scores, np.finfo(np.float32).min)
    return softmax(scores + (0 if bias is None else bias)) @ v


def allowed_keys(mask, keys):
    if mask is None:
        return None
    if mask.ndim == 1:
        mask = np.arange(keys) < mask[:, None]
    return mask.astype(bool)[:, None, None, :]


@model("com.microsoft.Attention")
def packed_attention(case):
    x, w, bias, mask, past, scores_bias, _ = arguments(case, 7)
    count = case.attrs["num_heads"]
    q, k, v = (split_heads(p, count) for p in np.split(x.astype(DOUBLE) @ w + bias, 3, axis=-1))
    if past is not None:
        k, v = appended(past[0], k), appended(past[1], v)
    y = masked_attention(case, q, k, v, allowed_keys(mask, k.shape[2]), scores_bias, 0 if past is None else past.shape[3])
    return wanted(case, [join_heads(y).astype(np.float32), np.stack([k, v]).astype(np.float32)])


@model("com.microsoft.MultiHeadAttention")
def multi_head_attention(case):
    q, k, v, bias, mask, scores_bias, past_k, past_v = arguments(case, 8)
    count = case.attrs["num_heads"]
    parts = np.split(bias, np.cumsum([q.shape[-1], k.shape[-1]])) if bias is not None else (0, 0, 0)
    q, k, v = (split_heads(p.astype(DOUBLE) + b, count) for p, b in zip((q, k, v), parts))
    k, v = appended(past_k, k), appended(past_v, v)
    y = masked_attention(case, q, k, v, allowed_keys(mask, k.shape[2]), scores_bias, k.shape[2] - q.shape[2])
    return wanted(case, [join_heads(y).astype(np.float32), k.astype(np.float32), v.astype(np.float32)])


def rotate(x, cos, sin, interleaved):
    """Applies a rotary embedding to x [..., length, size]. cos and sin are [..., length, half]. Only the first
    2 * half elements of the last axis change."""
    width = 2 * cos.shape[-1]
    turned, rest = x[..., :width], x[..., width:]
    if interleaved:
        a, b = turned[..., 0::2], turned[..., 1::2]
        both = np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(turned.shape)
    else:
        a, b = np.split(turned, 2, axis=-1)
        both = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
    return np.concatenate([both, rest], axis=-1)


@model("RotaryEmbedding", "com.microsoft.RotaryEmbedding")
def rotary_embedding(case):
    if case.op.domain:
        x, places, cos, sin = case.args
    else:
        x, cos, sin, places = arguments(case, 4)
    flat = x.ndim == 3
    heads = split_heads(x, case.attrs["num_heads"]) if flat else x
    if places is not None:
        if places.size == 1 and places.ndim == 1:
            places = places + np.arange(heads.shape[2])[None]
        cos, sin = cos[places], sin[places]
    y = rotate(heads.astype(DOUBLE), *(np.broadcast_to(t[:, None].astype(DOUBLE), (*heads.shape[:3], t.shape[-1]))
                                       for t in (cos, sin)), case.attrs.get("interleaved"))
    return [(join_heads(y) if flat else y).astype(x.dtype)]


@model("com.microsoft.GroupQueryAttention")
def group_query_attention(case):
    a = case.attrs
    q, k, v, past_k, past_v, _, total, cos, sin = arguments(case, 9)
    count, kv = a["num_heads"], a["kv_num_heads"]
    if k is None:
        size = q.shape[-1] // (count + 2 * kv)
        q, k, v = np.split(q, [count * size, (count + kv) * size], axis=-1)
    kind = q.dtype
    q, k, v = split_heads(q.astype(DOUBLE), count), split_heads(k.astype(DOUBLE), kv), split_heads(v.astype(DOUBLE), kv)
    past = int(total) - q.shape[2]
    if a.get("do_rotary"):
        table = [t[past:past + q.shape[2]].astype(DOUBLE) for t in (cos, sin)]
        q, k = (rotate(t, *table, a.get("rotary_interleaved")) for t in (q, k))
    k, v = appended(past_k, k), appended(past_v, v)
    scores = q @ np.repeat(k, count // kv, 1).swapaxes(2, 3) * a.get("scale", 1 / np.sqrt(q.shape[-1]))
    scores = softcap(scores, a.get("softcap"))
    seen = causal(q.shape[2], k.shape[2], past)
    window = a.get("local_window_size", -1)
    if window > 0:
        seen &= ~causal(q.shape[2], k.shape[2], past - window)
    weights = softmax(np.where(seen, scores, -np.inf), sink=a.get("smooth_softmax"))
    y = join_heads(weights @ np.repeat(v, count // kv, 1))
    return wanted(case, [y.astype(kind), k.astype(kind), v.astype(kind)])
