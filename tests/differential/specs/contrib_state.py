"""com.microsoft: block-quantised lookups and the stateful layers of recent language models."""

from functools import partial

import numpy as np

from fuzz.case import Const
from fuzz.registry import CONTRIB, op

from .contrib_attention import lengths_mask
from .quant import full, scale_of, zero_point

ms = partial(op, domain=CONTRIB)


@ms("GatherBlockQuantized", weight=2)
def gather_block_quantized(d):
    d.opset = max(d.opset, 21)  # four-bit constants need a recent IR version
    dtype = d.choice(["float", "float16"])
    rows, width, block = d.int(2, 6), d.choice([16, 32, 64]), d.choice([16, 32])
    blocks = -(-width // block)
    scales = d.tensor(dtype, [rows, blocks], low=0.01, high=0.2)
    picks = d.tensor(d.choice(["int32", "int64"]), d.shape(0, 2, zero=0), low=-rows, high=rows - 1)
    attrs = {"block_size": block, "gather_axis": 0, "quantize_axis": 1}
    if d.chance(0.5):
        kind = d.choice(["int4", "uint4"])
        zeros = d.maybe(Const(full(d, kind, [rows, blocks])))
        return d.case([Const(full(d, kind, [rows, width])), picks, Const(scales), zeros], attrs)
    bits = d.choice([4, 8])
    zeros = d.maybe(Const(full(d, "uint8", [rows, -(-blocks * bits // 8)])))
    data = full(d, "uint8", [rows, width * bits // 8])
    return d.case([Const(data), picks, Const(scales), zeros], {**attrs, "bits": bits})


@ms("MatMulBnb4")
def matmul_bnb4(d):
    k, n, block = d.choice([16, 32, 64]), d.choice([1, 4, 9]), d.choice([16, 32, 64])
    packed = d.tensor("uint8", [(n * k + 1) // 2], low=0, high=255)
    absmax = d.tensor("float", [-(-n * k // block)], low=0.1, high=1)
    attrs = {"K": k, "N": n, "block_size": block, "quant_type": d.int(0, 1)}
    return d.case([d.tensor("float", [d.int(1, 4), k]), Const(packed), Const(absmax)], attrs, scale=100)


@ms("QAttention", weight=2)
def qattention(d):
    batch, length, count, size, width = d.int(1, 2), d.int(1, 5), d.int(1, 3), d.int(1, 3) * 2, d.int(2, 6)
    hidden = count * size
    right = d.choice(["uint8", "int8"])
    inputs = [full(d, "uint8", [batch, length, width]), Const(full(d, right, [width, 3 * hidden])),
              d.tensor("float", [3 * hidden]), scale_of(d, low=0.002, high=0.01), scale_of(d, low=0.002, high=0.02),
              lengths_mask(d, batch, length) if d.chance(0.4) else None, zero_point(d, "uint8"), zero_point(d, right)]
    attrs = {"num_heads": count, "unidirectional": d.maybe(d.int(0, 1))}
    return d.case(inputs, attrs, scale=20)


@ms("CausalConvWithState")
def causal_conv_with_state(d):
    batch, channels, length, kernel = d.int(1, 2), d.int(1, 4), d.int(1, 6), d.int(2, 4)
    inputs = [d.tensor("float", [batch, channels, length]), d.tensor("float", [channels, 1, kernel]),
              d.maybe(d.tensor("float", [channels])), d.maybe(d.tensor("float", [batch, channels, kernel - 1]))]
    return d.case(inputs, {"activation": d.maybe(d.choice(["silu", "swish", "none"]))}, outputs=2, scale=10)


@ms("LinearAttention")
def linear_attention(d):
    batch, length, count, size, v_size = d.int(1, 2), d.int(1, 5), d.int(1, 3), d.int(1, 3) * 2, d.int(1, 3) * 2
    rule = d.choice(["linear", "gated", "delta", "gated_delta"])
    key = d.tensor("float", [batch, length, count, size])
    key = (key / np.linalg.norm(key, axis=-1, keepdims=True)).reshape(batch, length, -1)
    decay = -np.abs(d.tensor("float", [batch, length, count * d.choice([1, size])])) if "gated" in rule else None
    beta = d.tensor("float", [batch, length, count], low=0, high=1) if "delta" in rule else None
    inputs = [d.tensor("float", [batch, length, count * size]), key, d.tensor("float", [batch, length, count * v_size]),
              d.maybe(d.tensor("float", [batch, count, size, v_size])), decay, beta]
    attrs = {"q_num_heads": count, "kv_num_heads": count, "update_rule": rule, "scale": d.maybe(d.uniform(0.1, 1))}
    return d.case(inputs, attrs, outputs=2, scale=20)
