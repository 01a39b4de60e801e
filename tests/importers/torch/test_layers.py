"""Layers: products, convolutions, pooling, normalisation, attention, recurrent layers, resampling."""

import torch
import torch.nn.functional as F
from cases import Case, Cases, add_cases, bools, ints, rand, randn
from torch import nn

X, IMAGE = randn(2, 3, 8), randn(2, 4, 9, 8)
BATCH = [[0]]
MORE = [(randn(5, 4, 9, 8),)]


class Layers(Cases):
    pass


def attention(**options):
    return lambda q, k, v, *mask: F.scaled_dot_product_attention(q, k, v, *mask, **options)


Q, K, V = randn(2, 4, 5, 8), randn(2, 4, 7, 8), randn(2, 4, 7, 6)
MASKED = torch.ones(5, 7, dtype=torch.bool).tril(1)
TABLE = {
    "matmul": Case(lambda a, b, v: (a @ b, a[0] @ b[0], torch.bmm(a, b), a @ v, v @ b[0], v.dot(v), torch.mm(a[0], b[0]), a[0].mv(v), a[:, None] @ b, torch.outer(v, v), torch.inner(a, a[0])), X, randn(2, 8, 3), randn(8),
                   dynamic=[[0], [0], None]),
    "matmul_ints": Case(lambda a: a @ a, ints(3, 3)),
    "linear": [Case(nn.Linear(8, 5), X, dynamic=[[0, 1]], more=[(randn(4, 6, 8),)]), Case(nn.Linear(8, 5, bias=False), X), Case(nn.Linear(8, 5), randn(8)), Case(nn.Bilinear(8, 5, 3), X, randn(2, 3, 5))],
    "addmm": Case(lambda c, a, b: (torch.addmm(c, a, b), torch.addmm(c, a, b, beta=0.5, alpha=2), torch.addmv(c[0], b.t(), a[0]), torch.addmm(c, a, b, beta=0)), randn(3, 5), randn(3, 4), randn(4, 5)),
    "baddbmm": Case(lambda c, a, b: (torch.baddbmm(c, a, b, alpha=0.3), torch.addbmm(c[0], a, b)), randn(2, 3, 5), randn(2, 3, 4), randn(2, 4, 5)),
    "einsum": Case(lambda a, b: (torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij->bji", a), torch.einsum("b i j , b j k -> i k", a, b), torch.einsum("...ij,...jk", a, b), torch.tensordot(a, b, dims=([2], [1]))), X, randn(2, 8, 3)),
    "distances": Case(lambda a, b: (torch.cdist(a, b), torch.cdist(a, b, p=1), F.cosine_similarity(a, a + 1, dim=-1), F.pairwise_distance(a[0], b[0, :3]), F.pdist(a[0]), torch.linalg.cross(a[..., :3], b[:, :3, :3])), X, randn(2, 5, 8)),
    "inverse": Case(lambda a: (torch.linalg.inv(a), torch.det(a), torch.trace(a)), torch.eye(4) * 3 + randn(4, 4) * 0.3),
    "conv1d": [Case(nn.Conv1d(3, 6, 3, padding=1), randn(2, 3, 9), dynamic=[[0, 2]], more=[(randn(3, 3, 12),)]), Case(nn.Conv1d(4, 4, 3, groups=4, stride=2, dilation=2), randn(2, 4, 12)),
               Case(nn.Conv1d(3, 6, 4, padding="same"), randn(2, 3, 9)), Case(nn.Conv1d(3, 6, 3), randn(3, 9)), Case(nn.Conv1d(3, 2, 3, padding=2, padding_mode="circular"), randn(2, 3, 9))],
    "conv2d": [Case(nn.Conv2d(4, 6, 3, padding=1), IMAGE, dynamic=BATCH, more=MORE), Case(nn.Conv2d(4, 8, (3, 2), stride=(2, 1), padding=(0, 1), groups=2, bias=False), IMAGE), Case(nn.Conv2d(4, 4, 3, padding="same", dilation=2), IMAGE),
               Case(nn.Conv2d(4, 4, 3, padding="valid"), IMAGE), Case(nn.Conv2d(4, 2, 3, padding=1, padding_mode="reflect"), IMAGE), Case(nn.Conv2d(4, 2, 1), IMAGE[0])],
    "conv3d": Case(nn.Conv3d(2, 4, 3, padding=1, stride=2), randn(1, 2, 5, 6, 7)),
    "conv_transpose": [Case(nn.ConvTranspose1d(3, 5, 4, stride=2, padding=1), randn(2, 3, 9)), Case(nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), IMAGE),
                       Case(nn.ConvTranspose2d(4, 6, 3, groups=2, dilation=2), IMAGE), Case(nn.ConvTranspose3d(2, 3, 2, stride=2), randn(1, 2, 3, 3, 3))],
    "max_pool": [Case(nn.MaxPool2d(3, 2, 1), IMAGE, dynamic=BATCH, more=MORE), Case(nn.MaxPool2d(2, ceil_mode=True), IMAGE), Case(nn.MaxPool2d(3, 1, 1, dilation=1, return_indices=True), IMAGE), Case(nn.MaxPool1d(2), X),
                 Case(nn.MaxPool3d(2), randn(1, 2, 4, 4, 4)), Case(nn.MaxPool2d((3, 2), (2, 1), dilation=2), IMAGE), Case(nn.MaxPool2d(2), IMAGE[0])],
    "avg_pool": [Case(nn.AvgPool2d(3, 2, 1), IMAGE, dynamic=BATCH, more=MORE), Case(nn.AvgPool2d(3, 2, 1, count_include_pad=False), IMAGE), Case(nn.AvgPool2d(2, ceil_mode=True), IMAGE), Case(nn.AvgPool2d(2, divisor_override=3), IMAGE),
                 Case(nn.AvgPool2d(3, 2, 1, ceil_mode=True), IMAGE), Case(nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), IMAGE), Case(nn.AvgPool1d(3, 1, 1), X), Case(nn.AvgPool3d(2), randn(1, 2, 4, 4, 4)), Case(nn.LPPool2d(2, 2), IMAGE)],
    "adaptive_pool": [Case(nn.AdaptiveAvgPool2d(1), IMAGE, dynamic=[[0, 2, 3]], more=[(randn(3, 4, 5, 6),)]), Case(nn.AdaptiveAvgPool2d((3, 4)), IMAGE), Case(nn.AdaptiveAvgPool2d((4, 5)), IMAGE), Case(nn.AdaptiveAvgPool2d((None, 3)), IMAGE),
                      Case(nn.AdaptiveAvgPool1d(3), X), Case(nn.AdaptiveMaxPool2d((4, 3)), IMAGE, forms=("raw",)), Case(nn.AdaptiveMaxPool1d(4), X, forms=("raw",)), Case(nn.AdaptiveAvgPool3d(2), randn(1, 2, 4, 4, 6))],
    "batch_norm": [Case(nn.BatchNorm2d(4), IMAGE, dynamic=BATCH, more=MORE), Case(nn.BatchNorm1d(3, affine=False), X), Case(nn.BatchNorm1d(8), randn(5, 8)), Case(nn.BatchNorm2d(4, track_running_stats=False), IMAGE), Case(nn.BatchNorm3d(2), randn(1, 2, 3, 3, 3))],
    "layer_norm": [Case(nn.LayerNorm(8), X, dynamic=[[0, 1]]), Case(nn.LayerNorm((3, 8), eps=1e-3), X), Case(nn.LayerNorm(8, elementwise_affine=False), X), Case(nn.LayerNorm(8, bias=False), X), Case(nn.RMSNorm(8), X), Case(nn.RMSNorm(8, eps=1e-2), X)],
    "group_norm": [Case(nn.GroupNorm(2, 4), IMAGE, dynamic=BATCH, more=MORE), Case(nn.GroupNorm(3, 3, affine=False), X), Case(nn.InstanceNorm2d(4), IMAGE), Case(nn.InstanceNorm1d(3, affine=True), X), Case(nn.GroupNorm(2, 8), randn(3, 8)), Case(nn.LocalResponseNorm(3), IMAGE),
                   Case(nn.InstanceNorm2d(4, track_running_stats=True), IMAGE)],
    "attention": [Case(attention(), Q, K, V, dynamic=[[0, 2], [0, 2], [0, 2]], more=[(randn(3, 4, 6, 8), randn(3, 4, 9, 8), randn(3, 4, 9, 6))]), Case(attention(is_causal=True), Q, Q, Q), Case(attention(is_causal=True), Q, K, V), Case(attention(scale=0.3), Q, K, V),
                  Case(attention(), Q, K, V, MASKED), Case(attention(), Q, K, V, randn(2, 1, 5, 7)), Case(attention(), Q, K, V, bools(2, 4, 5, 7) & MASKED), Case(attention(), Q[0], K[0], V[0], randn(4, 5, 7)), Case(attention(), Q[0, 0], K[0, 0], V[0, 0]),
                  Case(attention(enable_gqa=True), Q, K[:, :2], V[:, :2]), Case(attention(), Q[None], K[None], V[None]), Case(attention(), Q, K, V, torch.zeros(5, 7, dtype=torch.bool))],
    "multihead": [Case(nn.MultiheadAttention(8, 2, batch_first=True), X, X, X), Case(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), X, dynamic=[[0, 1]], more=[(randn(4, 5, 8),)]),
                  Case(nn.TransformerDecoderLayer(8, 2, 16), X, randn(4, 3, 8)), Case(nn.Transformer(8, 2, 1, 1, 16), X, X)],
    "lstm": [Case(nn.LSTM(8, 5), X), Case(nn.LSTM(8, 5, 2, bidirectional=True, batch_first=True), X, dynamic=[[0]], more=[(randn(3, 3, 8),)]), Case(nn.LSTM(8, 5, bias=False), X, (randn(1, 3, 5), randn(1, 3, 5, seed=2))), Case(nn.LSTM(8, 5), randn(3, 8))],
    "gru": [Case(nn.GRU(8, 5), X), Case(nn.GRU(8, 5, 2, bidirectional=True, batch_first=True), X), Case(nn.RNN(8, 5), X), Case(nn.RNN(8, 5, 2, nonlinearity="relu", bidirectional=True), X)],
    "cells": [Case(nn.LSTMCell(8, 5), X[0], (randn(3, 5), randn(3, 5, seed=1))), Case(nn.GRUCell(8, 5), X[0], randn(3, 5)), Case(nn.RNNCell(8, 5), X[0], randn(3, 5))],
    "interpolate": [Case((lambda options: lambda x: F.interpolate(x, **options))(options), IMAGE) for options in (
        dict(scale_factor=2), dict(size=(5, 13)), dict(scale_factor=(1.5, 0.7)), dict(scale_factor=2, mode="bilinear"), dict(size=(5, 13), mode="bilinear", align_corners=True), dict(scale_factor=1.3, mode="bilinear"),
        dict(size=(12, 6), mode="bicubic"), dict(scale_factor=2, mode="bicubic", align_corners=True), dict(size=(4, 3), mode="area"), dict(size=(5, 13), mode="nearest-exact"), dict(size=(5, 4), mode="bilinear", antialias=True),
        dict(size=(5, 4), mode="bicubic", antialias=True))],
    "interpolate_dynamic": Case(lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, scale_factor=2.0, mode="bilinear"), F.interpolate(x, size=(7, 7), mode="bilinear")), IMAGE, dynamic=[[0, 2, 3]], more=[(randn(1, 4, 5, 6),)]),
    "interpolate_1d_3d": [Case(lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, size=5, mode="linear")), X), Case(lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), randn(1, 2, 3, 3, 3))],
    "pad": Case(lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 3), value=2.5), F.pad(x, (1, 2, 1, 1), mode="reflect"), F.pad(x, (1, 2, 1, 1), mode="replicate"), F.pad(x, (1, 2, 1, 1), mode="circular"), F.pad(x, (-1, -2)), F.pad(x, (0, 0, 0, 0, 1, 0))), IMAGE,
                dynamic=BATCH, more=MORE),
    "grid_sample": [Case((lambda m, p, a: lambda x, g: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=a))(m, p, a), IMAGE, rand(2, 5, 6, 2) * 2.4 - 1.2, forms=("raw",)) for m in ("bilinear", "nearest", "bicubic") for p in ("zeros", "border", "reflection") for a in (True, False)],
    "affine_grid": Case(lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=False), randn(2, 2, 3)),
    "unfold": [Case(nn.Unfold(3, padding=1, stride=2), IMAGE, dynamic=BATCH, more=MORE), Case(nn.Unfold((2, 3), dilation=2), IMAGE), Case(nn.Fold((5, 6), (2, 3)), randn(2, 12, 16))],
    "losses": Case(lambda a, b, c: (F.mse_loss(a, b), F.l1_loss(a, b), F.cross_entropy(a, c), F.nll_loss(a.log_softmax(1), c), F.smooth_l1_loss(a, b), F.binary_cross_entropy_with_logits(a, b.sigmoid()), F.kl_div(a, b, reduction="batchmean"), F.huber_loss(a, b)),
                   randn(5, 4), randn(5, 4, seed=3), ints(5, low=0, high=4), forms=("raw", "core")),
    "fft": Case(lambda x: (torch.view_as_real(torch.fft.rfft(x)), torch.fft.irfft(torch.fft.rfft(x), n=8)), X, forms=("raw",)),
    "dropout": Case(nn.Sequential(nn.Dropout(0.5), nn.Dropout2d(0.2), nn.AlphaDropout(0.1)), IMAGE),
    "activations": Case(nn.Sequential(nn.ReLU6(), nn.Hardswish(), nn.SiLU(), nn.Mish(), nn.Softmax(-1)), X),
}
add_cases(Layers, TABLE)


class Misc(Cases):
    pass


add_cases(Misc, {
    "weight_norm": [
        Case(lambda v, g, dim=dim: torch._weight_norm(v, g, dim), torch.arange(24.).view(2, 3, 4).sin(), torch.arange(1.0, n + 1).view(shape))
        for dim, n, shape in ((0, 2, (2, 1, 1)), (2, 4, (1, 1, 4)), (-1, 1, ()))
    ],
    "diff_with_ends": Case(lambda x, y: (torch.diff(x, prepend=y), torch.diff(x, n=2, append=y[:, :1]), torch.diff(x, dim=0, prepend=y, append=y), torch.diff(x, n=0)), torch.arange(12.).view(3, 4) ** 2, torch.arange(12.).view(3, 4)),
    "diff": Case(lambda x: (torch.diff(x), torch.diff(x, dim=1), torch.isclose(x, x + 1e-9), torch.nansum(x, 1), torch.nanmean(x)), X),
    "embedding_bag": [Case(nn.EmbeddingBag(10, 4, mode=mode, padding_idx=2), ints(3, 5, low=0, high=10)) for mode in ("sum", "mean", "max")],
    "erfinv": Case(lambda x: torch.erfinv(x * 2 - 1), rand(40), atol=1e-4),
    "heaviside": Case(lambda x: torch.heaviside(x, torch.tensor([0.5])), torch.tensor([-1.0, 0.0, 2.0])),
    "hamming_window": Case(lambda x: (torch.hamming_window(9), torch.hamming_window(9, periodic=False), x), X),
    "kron": Case(torch.kron, randn(2, 3), randn(4, 2)),
    "stacks": Case(lambda x: (torch.column_stack([x[0, 0], x[1, 0]]), torch.dstack([x, x]), torch.diag(x[0, 0]), torch.diag(x[0]), torch.logcumsumexp(x, 1)), X),
    "solve": Case(lambda a, b: (torch.linalg.solve(a, b), torch.linalg.matrix_norm(b), torch.addr(b, b[:, 0], b[0])), torch.eye(4) * 3 + randn(4, 4) * 0.3, randn(4, 2), forms=("raw",)),
    "unpool": Case(lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), randn(2, 3, 6, 8), forms=("raw",)),
    "stft": Case(lambda x: torch.view_as_real(torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True)), randn(2, 40), forms=("raw",)),
})
