"""MViTv2, a transformer over images whose stages shrink the image inside of the attention."""

import torch
from torch import nn

from .network import Network, image


def to_tokens(x):
    """Converts [N, C, H, W] to [N, H*W, C]."""
    return x.flatten(2).transpose(1, 2)


class Pool(nn.Module):
    """Pools the tokens of each head by a depthwise convolution with a stride. x is [N, heads, H*W, size]."""

    def __init__(self, size, stride):
        super().__init__()
        self.conv = nn.Conv2d(size, size, 3, stride, 1, groups=size, bias=False)
        self.norm = nn.LayerNorm(size)

    def forward(self, x, height, width):
        n, heads, _, size = x.shape
        x = self.conv(x.reshape(n * heads, height, width, size).permute(0, 3, 1, 2))
        height, width = x.shape[2:]
        return self.norm(x.reshape(n, heads, size, height * width).transpose(2, 3)), height, width


class RelativePositions(nn.Module):
    """Returns the table of the position of each key relative to each query, along one side of the image."""

    def __init__(self, queries, keys, size):
        super().__init__()
        q_step, k_step = max(keys // queries, 1), max(queries // keys, 1)
        distance = torch.arange(queries)[:, None] * q_step - torch.arange(keys)[None, :] * k_step + (keys - 1) * k_step
        self.register_buffer("distance", distance)
        self.table = nn.Parameter(torch.zeros(int(distance.max()) + 1, size))

    def forward(self):
        return self.table[self.distance]


class PooledAttention(nn.Module):
    def __init__(self, inputs, outputs, heads, side, q_stride, kv_stride):
        super().__init__()
        self.heads, self.size = heads, outputs // heads
        self.qkv, self.out = nn.Linear(inputs, 3 * outputs), nn.Linear(outputs, outputs)
        self.pool_q, self.pool_k, self.pool_v = (Pool(self.size, stride) for stride in (q_stride, kv_stride, kv_stride))
        queries, keys = side // q_stride, side // kv_stride
        self.rows, self.columns = (RelativePositions(queries, keys, self.size) for _ in range(2))

    def forward(self, x, height, width):
        n = x.shape[0]
        q, k, v = self.qkv(x).reshape(n, height * width, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        q, q_height, q_width = self.pool_q(q, height, width)
        k, k_height, k_width = self.pool_k(k, height, width)
        v, _, _ = self.pool_v(v, height, width)
        scores = q * self.size**-0.5 @ k.transpose(2, 3)
        grid = q.reshape(n, self.heads, q_height, q_width, self.size)
        rows = torch.einsum("nayxc,ykc->nayxk", grid, self.rows())
        columns = torch.einsum("nayxc,xkc->nayxk", grid, self.columns())
        scores = scores.reshape(n, self.heads, q_height, q_width, k_height, k_width) + rows[..., :, None] + columns[..., None, :]
        scores = scores.reshape(n, self.heads, q_height * q_width, k_height * k_width)
        y = scores.softmax(-1) @ v + q
        return self.out(y.transpose(1, 2).reshape(n, q_height * q_width, -1)), q_height, q_width


class Block(nn.Module):
    def __init__(self, inputs, outputs, heads, side, q_stride, kv_stride):
        super().__init__()
        self.norm, self.mlp_norm = nn.LayerNorm(inputs), nn.LayerNorm(outputs)
        self.attention = PooledAttention(inputs, outputs, heads, side, q_stride, kv_stride)
        self.mlp = nn.Sequential(nn.Linear(outputs, 4 * outputs), nn.GELU(), nn.Linear(4 * outputs, outputs))
        self.side = nn.Linear(inputs, outputs) if inputs != outputs else None
        self.shrink = nn.MaxPool2d(q_stride + 1, q_stride, q_stride // 2) if q_stride > 1 else None

    def forward(self, x, height, width):
        normed = self.norm(x)
        side = self.side(normed) if self.side else x
        if self.shrink:
            side = to_tokens(self.shrink(side.transpose(1, 2).reshape(x.shape[0], -1, height, width)))
        y, height, width = self.attention(normed, height, width)
        x = side + y
        return x + self.mlp(self.mlp_norm(x)), height, width


class MViTv2(nn.Module):
    def __init__(self, depths, width, size=224, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 7, 4, 3)
        self.blocks = nn.ModuleList()
        side, channels, kv_stride = size // 4, width, 4
        for stage, depth in enumerate(depths):
            for k in range(depth):
                outputs, q_stride = width << stage, 2 if stage and k == 0 else 1
                if q_stride > 1:
                    kv_stride = max(kv_stride // 2, 1)
                self.blocks.append(Block(channels, outputs, 1 << stage, side, q_stride, kv_stride))
                channels, side = outputs, side // q_stride
        self.norm, self.head = nn.LayerNorm(channels), nn.Linear(channels, classes)

    def forward(self, x):
        x = self.patches(x)
        height, width = x.shape[2:]
        x = to_tokens(x)
        for block in self.blocks:
            x, height, width = block(x, height, width)
        return self.head(self.norm(x).mean(1))


NETWORKS = [Network("mvitv2_tiny", lambda: MViTv2((1, 2, 5, 2), 96), image(), gain=1.0)]
