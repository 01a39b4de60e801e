"""com.microsoft: attention and related operators of transformers."""

from functools import partial

import numpy as np

from fuzz.registry import CONTRIB, op

from .attention import rotary_caches

ms = partial(op, domain=CONTRIB)


def lengths_mask(d, batch, length):
    """Returns a mask_index input. It is either [batch] with the number of valid keys of each item, or [batch, length]
    with 1 for valid keys and 0 for masked keys."""
    used = d.tensor("int32", [batch], low=1, high=length)
    return used if d.chance(0.5) else (np.arange(length) < used[:, None]).astype(np.int32)


@ms("Attention", weight=4)
def attention(d):
    batch, length, count, size, width = d.int(1, 2), d.int(1, 5), d.int(1, 3), d.int(1, 3) * 2, d.int(2, 6)
    hidden = count * size
    past = d.int(1, 3) if d.chance(0.3) else 0
    total = past + length
    mask = lengths_mask(d, batch, total) if d.chance(0.4) else None
    if past and mask is not None and mask.ndim == 1:
        mask = None
    bias = d.maybe(d.tensor("float", [d.choice([1, batch]), d.choice([1, count]), length, total]), 0.0 if past else 0.3)
    attrs = {"num_heads": count, "unidirectional": d.maybe(d.int(0, 1)), "scale": d.maybe(d.uniform(0.2, 1), 0.3),
             "mask_filter_value": d.maybe(-10000.0, 0.2)}
    inputs = [d.tensor("float", [batch, length, width]), d.tensor("float", [width, 3 * hidden], spread=0.5),
              d.tensor("float", [3 * hidden]), mask,
              d.tensor("float", [2, batch, count, past, size]) if past else None, bias]
    return d.case(inputs, attrs, outputs=2 if past or d.chance(0.2) else 1, const=0.4, scale=10)


@ms("MultiHeadAttention", weight=4)
def multi_head_attention(d):
    batch, length, count, size = d.int(1, 2), d.int(1, 5), d.int(1, 3), d.int(1, 3) * 2
    self_attention = d.chance(0.5)
    keys = length if self_attention else d.int(1, 6)
    past = d.int(1, 3) if d.chance(0.3) else 0
    v_size = size if past or d.chance(0.7) else d.int(1, 3) * 2
    total = past + keys
    query = d.tensor("float", [batch, length, count * size])
    key, value = d.tensor("float", [batch, keys, count * size]), d.tensor("float", [batch, keys, count * v_size])
    bias = d.maybe(d.tensor("float", [count * (2 * size + v_size)]), 0.4)
    mask = d.maybe((np.arange(total) < d.tensor("int32", [batch, 1], low=1, high=total)).astype(np.int32), 0.3)
    scores = d.maybe(d.tensor("float", [d.choice([1, batch]), d.choice([1, count]), length, total]), 0.3)
    caches = [d.tensor("float", [batch, count, past, s]) for s in (size, v_size)] if past else [None, None]
    attrs = {"num_heads": count, "scale": d.maybe(d.uniform(0.2, 1), 0.3), "mask_filter_value": d.maybe(-10000.0, 0.2),
             # A causal mask is defined only for self-attention.
             "unidirectional": d.maybe(d.int(0, 1), 0.3) if keys == length else None}
    outputs = 3 if past else d.choice([1, 3])
    return d.case([query, key, value, bias, mask, scores, *caches], attrs, outputs=outputs, const=0.3, scale=10)


@ms("GroupQueryAttention", weight=4)
def group_query_attention(d):
    """Draws sequences of the same length, because results beyond the end of a shorter sequence are undefined."""
    dtype = d.choice(["float", "float", "float16"])
    kv = d.int(1, 2)
    count, size, batch = kv * d.choice([1, 2, 3]), 16, d.int(1, 2)
    past = d.int(1, 6) if d.chance(0.5) else 0
    length = 1 if past and (batch > 1 or d.chance(0.7)) else d.int(1, 5)
    total = past + length
    rotary, packed = d.chance(0.4), d.chance(0.3)
    attrs = {"num_heads": count, "kv_num_heads": kv, "scale": d.maybe(d.uniform(0.1, 1), 0.3),
             "do_rotary": 1 if rotary else d.maybe(0), "rotary_interleaved": d.maybe(d.int(0, 1)) if rotary else None,
             "local_window_size": d.maybe(d.int(1, 4), 0.3), "softcap": d.maybe(d.uniform(0.5, 3), 0.2),
             "smooth_softmax": d.maybe(d.int(0, 1), 0.2)}
    widths = [(count + 2 * kv) * size, 0, 0] if packed else [count * size, kv * size, kv * size]
    inputs = [d.tensor(dtype, [batch, length, w]) if w else None for w in widths]
    inputs += [d.tensor(dtype, [batch, kv, past, size]) if past else None for _ in range(2)]
    inputs += [np.full([batch], total - 1, np.int32), np.array(total, np.int32)]
    inputs += rotary_caches(d, dtype, [total + d.int(0, 3)], size // 2) if rotary else [None, None]
    return d.case(inputs, attrs, outputs=3, const=0.1, scale=10)


@ms("RotaryEmbedding", weight=2)
def rotary_embedding(d):
    dtype = d.choice(["float", "float", "float16"])
    batch, count, length, size = d.int(1, 2), d.int(1, 3), d.int(1, 5), d.int(1, 3) * 4
    flat = d.chance(0.5)
    part = size // 2 if d.chance(0.3) else 0
    longest = length + d.int(0, 4)
    cos, sin = rotary_caches(d, dtype, [longest], (part or size) // 2)
    offset = d.chance(0.5)
    places = d.ints([d.int(0, longest - length)]) if offset else d.tensor("int64", [batch, length], low=0, high=longest - 1)
    attrs = {"interleaved": d.maybe(d.int(0, 1)), "rotary_embedding_dim": part or None,
             "num_heads": count if part or flat else None}
    x = d.tensor(dtype, [batch, length, count * size] if flat else [batch, count, length, size])
    return d.case([x, places, cos, sin], attrs)


def skip_inputs(d, dtype):
    batch, length, hidden = d.int(1, 3), d.int(1, 4), d.int(1, 9)
    x = d.tensor(dtype, [batch, length, hidden])
    skip = d.tensor(dtype, d.choice([[batch, length, hidden], [batch, length, hidden], [1, length, hidden], [length, hidden]]))
    return x, skip, d.tensor(dtype, [hidden])


def skip_outputs(d):
    return [0, None, None, 3] if d.chance(0.5) else 1


@ms("SkipLayerNormalization", weight=2)
def skip_layer_normalization(d):
    dtype = d.dtype("T", only=("float", "double", "float16"))
    x, skip, gamma = skip_inputs(d, dtype)
    inputs = [x, skip, gamma, d.maybe(d.tensor(dtype, gamma.shape), 0.7), d.maybe(d.tensor(dtype, gamma.shape))]
    return d.case(inputs, {"epsilon": d.maybe(d.uniform(1e-5, 1e-2))}, outputs=skip_outputs(d), scale=100)


@ms("SkipSimplifiedLayerNormalization", weight=2)
def skip_simplified_layer_normalization(d):
    dtype = d.dtype("T", only=("float", "double", "float16"))
    x, skip, gamma = skip_inputs(d, dtype)
    inputs = [x, skip, gamma, d.maybe(d.tensor(dtype, gamma.shape))]
    return d.case(inputs, {"epsilon": d.maybe(d.uniform(1e-5, 1e-2))}, outputs=skip_outputs(d), scale=100)


@ms("EmbedLayerNormalization", weight=2)
def embed_layer_normalization(d):
    batch, length, hidden = d.int(1, 3), d.int(1, 5), d.int(2, 8)
    words, places, segments = d.int(3, 9), length + d.int(0, 3), 2
    segmented = d.chance(0.7)
    table = partial(d.tensor, "float")
    ids = lambda high: d.tensor("int32", [batch, length], low=0, high=high - 1)  # noqa: E731
    mask = d.maybe((np.arange(length) < d.tensor("int32", [batch, 1], low=1, high=length)).astype(np.int32))
    inputs = [ids(words), ids(segments) if segmented else None, table([words, hidden]), table([places, hidden]),
              table([segments, hidden]) if segmented else None, table([hidden]), table([hidden]), mask,
              d.maybe(ids(places), 0.3)]
    outputs = [0, 1, 2] if d.chance(0.3) else [0, 1]
    return d.case(inputs, {"epsilon": d.maybe(d.uniform(1e-5, 1e-2))}, outputs=outputs, const=0.3, scale=100)


@ms("MoE", weight=2)
def moe(d):
    rows, hidden, inner, experts = d.int(1, 5), d.int(2, 6), d.int(2, 6), d.int(2, 4)
    act = d.choice(["relu", "gelu", "silu", "identity"])
    attrs = {"k": d.int(1, 2), "activation_type": act, "normalize_routing_weights": d.maybe(d.int(0, 1))}
    table = partial(d.tensor, "float")
    inputs = [table([rows, hidden]), table([rows, experts]), table([experts, inner, hidden]),
              d.maybe(table([experts, inner])), table([experts, hidden, inner]), d.maybe(table([experts, hidden]))]
    return d.case(inputs, attrs, scale=20)


@ms("NGramRepeatBlock")
def ngram_repeat_block(d):
    words = d.int(3, 6)
    batch, length = d.int(1, 3), d.int(2, 8)
    ids = d.tensor("int64", [batch, length], low=0, high=words - 1)
    return d.case([ids, d.tensor("float", [batch, words])], {"ngram_size": d.int(1, 3)})
