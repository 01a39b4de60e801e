"""ONNX's own attention operators."""

import numpy as np

from fuzz.registry import op


def heads(d):
    kv = d.int(1, 3)
    return kv * d.choice([1, 1, 2]), kv


@op("Attention", weight=6)
def attention(d):
    dtype = d.dtype("T1", only=("float", "float16"))
    batch, q_heads, kv_heads = d.int(1, 2), *heads(d)
    q_len, kv_len, size, v_size = d.size(5), d.size(6), d.size(4) * 2, d.size(4) * 2
    flat = d.chance(0.4)
    past = d.int(1, 4) if d.chance(0.35) else 0
    attrs = {"is_causal": d.maybe(d.int(0, 1)), "scale": d.maybe(d.uniform(0.1, 1)),
             "softcap": d.maybe(d.uniform(0.5, 3), 0.3)}
    if flat:
        attrs |= {"q_num_heads": q_heads, "kv_num_heads": kv_heads}
    shaped = _flat if flat else _tall
    q, k, v = (d.tensor(dtype, shaped(batch, n, s, w)) for n, s, w in
               ((q_heads, q_len, size), (kv_heads, kv_len, size), (kv_heads, kv_len, v_size)))
    mask = attention_mask(d, dtype, batch, q_heads, q_len, kv_len + past)
    inputs = [q, k, v, mask]
    if past:
        inputs += [d.tensor(dtype, [batch, kv_heads, past, size]), d.tensor(dtype, [batch, kv_heads, past, v_size])]
    if d.since >= 24 and not past and not attrs["is_causal"] and d.chance(0.2):
        inputs += [None, None, d.tensor("int64", [batch], low=1, high=kv_len)]
    outputs = attention_outputs(d, attrs, past)
    return d.case(inputs, attrs, outputs=outputs, scale=10)


def attention_outputs(d, attrs, past):
    """Returns the outputs to request. They include the present caches if there are past caches, and sometimes the
    scores."""
    scores = d.chance(0.3)
    if scores:
        attrs["qk_matmul_output_mode"] = d.maybe(d.int(0, 3))
    return [0, *([1, 2] if past else [None, None]), 3 if scores else None]


def _flat(batch, count, length, size):
    return [batch, length, count * size]


def _tall(batch, count, length, size):
    return [batch, count, length, size]


def attention_mask(d, dtype, batch, q_heads, q_len, total):
    if d.chance(0.5):
        return None
    shape = d.choice([[q_len, total], [batch, q_heads, q_len, total], [1, 1, q_len, total], [batch, 1, q_len, total],
                      [q_heads, q_len, total]])
    if d.chance(0.5):
        return d.tensor(dtype, shape)
    mask = d.tensor("bool", shape, p=0.7)
    mask[..., 0] = True  # the result of a fully masked row is undefined
    return mask


def rotary_caches(d, dtype, lead, half):
    angle = d.tensor("float", [*lead, half], low=-3, high=3)
    kind = d.tensor(dtype, []).dtype
    return np.cos(angle).astype(kind), np.sin(angle).astype(kind)


@op("RotaryEmbedding", weight=2)
def rotary_embedding(d):
    dtype = d.dtype("T", only=("float", "float16"))
    batch, count, length, size = d.int(1, 2), d.int(1, 3), d.int(1, 5), d.int(1, 4) * 4
    flat = d.chance(0.4)
    part = d.choice([0, size // 2])
    half = (part or size) // 2
    x = d.tensor(dtype, [batch, length, count * size] if flat else [batch, count, length, size])
    attrs = {"interleaved": d.maybe(d.int(0, 1)), "rotary_embedding_dim": part or d.maybe(0),
             "num_heads": count if flat else None}
    if d.chance(0.5):
        longest = length + d.int(0, 4)
        cos, sin = rotary_caches(d, dtype, [longest], half)
        return d.case([x, cos, sin, d.tensor("int64", [batch, length], low=0, high=longest - 1)], attrs)
    cos, sin = rotary_caches(d, dtype, [batch, length], half)
    return d.case([x, cos, sin], attrs)
