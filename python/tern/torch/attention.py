"""Decompositions of the fused ops that torch.nn.TransformerEncoderLayer and MultiheadAttention call without gradients."""

import torch
from torch.nn import functional as F


def encoder_layer(src, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, use_gelu, norm_first, eps, scale1, shift1, scale2, shift2,
                  weight1, bias1, weight2, bias2, mask=None, mask_type=None):
    """aten._transformer_encoder_layer_fwd"""
    def attend(x):
        return multi_head(x, x, x, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask, False, True, mask_type)[0]

    def feed_forward(x):
        hidden = F.linear(x, weight1, bias1)
        return F.linear(F.gelu(hidden) if use_gelu else F.relu(hidden), weight2, bias2)

    def norm1(x):
        return F.layer_norm(x, (width,), scale1, shift1, eps)

    def norm2(x):
        return F.layer_norm(x, (width,), scale2, shift2, eps)

    if norm_first:
        x = src + attend(norm1(src))
        return x + feed_forward(norm2(x))
    x = norm1(src + attend(src))
    return norm2(x + feed_forward(x))


def multi_head(query, key, value, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask=None, need_weights=True,
               average_weights=True, mask_type=None):
    """aten._native_multi_head_attention. `mask` is not zero where a key is hidden."""
    q, k, v = (F.linear(x, weight, bias).unflatten(-1, (heads, width // heads)).transpose(1, 2)
               for x, weight, bias in zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3)))
    visible = None if mask is None else torch.logical_not(mask.to(torch.bool))
    if visible is not None and mask_type == 1:  # one row of keys per item of the batch
        visible = visible[:, None, None, :]
    if need_weights:
        scores = q @ k.transpose(-2, -1) * (width // heads) ** -0.5
        weights = (scores if visible is None else scores.masked_fill(torch.logical_not(visible), float("-inf"))).softmax(-1)
        mixed = weights @ v
        weights = weights.mean(1) if average_weights else weights
    else:
        mixed, weights = F.scaled_dot_product_attention(q, k, v, attn_mask=visible), query.new_empty(0)
    return F.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias), weights


DECOMPOSITIONS = {
    torch.ops.aten._transformer_encoder_layer_fwd.default: encoder_layer,
    torch.ops.aten._native_multi_head_attention.default: multi_head,
}
