"""Whole networks: convolutional networks, transformers, recurrent networks, and families of the architecture sweep.

TERN_TORCH_FAMILIES is a regular expression that selects families of tests/architectures; by default there are a few. With
TERN_TORCH_SWEEP=FOLDER, results are stored in the folder, and a later run continues; `TERN_TORCH_FAMILIES=.` takes all.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

import torch
import torch.nn.functional as F
from harness import check
from torch import nn

import sweep

AUTO = torch.export.Dim.AUTO


class Block(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.a, self.b = nn.Conv2d(channels, channels, 3, stride, 1, bias=False), nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)
        self.skip = nn.Conv2d(channels, channels, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.nb(self.b(F.relu(self.na(self.a(x)), inplace=True)))
        y += self.skip(x)
        return F.relu(y, inplace=True)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(Block(8), Block(8, 2))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(torch.flatten(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1), 1))


class MobileBlock(nn.Module):
    """An inverted bottleneck with squeeze and excitation."""

    def __init__(self, channels):
        super().__init__()
        wide = channels * 3
        self.up = nn.Sequential(nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.Hardswish())
        self.deep = nn.Sequential(nn.Conv2d(wide, wide, 5, 1, 2, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.SiLU())
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, 4, 1), nn.ReLU6(), nn.Conv2d(4, wide, 1), nn.Hardsigmoid())
        self.down = nn.Sequential(nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.deep(self.up(x))
        return x + self.down(y * self.squeeze(y))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.bottom = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, padding="same", dilation=2)
        self.up, self.norm, self.out = nn.ConvTranspose2d(8, 8, 2, 2), nn.GroupNorm(2, 8), nn.Conv2d(11, 2, 3, padding=1, padding_mode="reflect")

    def forward(self, x):
        y = F.leaky_relu(self.norm(self.up(F.gelu(self.bottom(self.down(x))))), 0.1)
        return self.out(torch.cat([x, F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)], 1)).softmax(1)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layer, self.gru, self.head = nn.Embedding(20, 6), nn.LSTM(6, 5, 2, bidirectional=True, batch_first=True), nn.GRU(10, 4, batch_first=True), nn.Linear(4, 3)

    def forward(self, ids):
        y, (h, c) = self.layer(self.words(ids))
        return self.head(self.gru(y)[0]), h.sum(0), c


class Decoder(nn.Module):
    """A causal transformer with rotary positions, grouped heads and a cache of keys and values."""

    def __init__(self, size=16, heads=4, shared=2):
        super().__init__()
        self.heads, self.shared, self.width = heads, shared, size // heads
        self.words, self.norm, self.head = nn.Embedding(30, size), nn.RMSNorm(size), nn.Linear(size, 30, bias=False)
        self.q, self.kv, self.o = nn.Linear(size, size), nn.Linear(size, 2 * shared * self.width), nn.Linear(size, size)
        self.register_buffer("frequencies", 1.0 / 100 ** (torch.arange(0, self.width, 2) / self.width), persistent=False)

    def rotate(self, x, start):
        angles = (torch.arange(x.shape[2]) + start)[:, None] * self.frequencies
        angles = torch.cat([angles, angles], -1)
        a, b = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-b, a], -1) * angles.sin()

    def forward(self, ids, past):
        x = self.words(ids)
        b, t, _ = x.shape
        y = self.norm(x)
        q = self.rotate(self.q(y).view(b, t, self.heads, self.width).transpose(1, 2), past.shape[3])
        k, v = self.kv(y).view(b, t, 2, self.shared, self.width).permute(2, 0, 3, 1, 4).unbind(0)
        now = torch.cat([past, torch.stack([self.rotate(k, past.shape[3]), v])], 3)
        mask = torch.ones(t, now.shape[3], dtype=torch.bool).tril(past.shape[3])
        y = F.scaled_dot_product_attention(q, now[0], now[1], mask, enable_gqa=True)
        return self.head(x + self.o(y.transpose(1, 2).reshape(b, t, -1))), now


IMAGE = torch.randn(2, 3, 32, 24, generator=torch.Generator().manual_seed(1))
IDS = torch.randint(0, 20, (2, 7), generator=torch.Generator().manual_seed(1))


class Networks(unittest.TestCase):
    def both(self, module, args, dynamic, more, **options):
        torch.manual_seed(0)
        for core in (False, True):
            with self.subTest(core=core):
                check(self, module, args, decompose=core, **options)
                check(self, module, args, dynamic=dynamic, more=more, decompose=core, **options)

    def test_resnet(self):
        self.both(ResNet(), (IMAGE,), ({0: AUTO},), [(torch.randn(3, 3, 32, 24),)])

    def test_mobilenet(self):
        net = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), MobileBlock(8), MobileBlock(8), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dropout(0.2), nn.Linear(8, 5))
        self.both(net, (IMAGE,), ({0: AUTO, 2: AUTO, 3: AUTO},), [(torch.randn(1, 3, 40, 36),)])

    def test_unet(self):
        self.both(UNet(), (IMAGE,), ({0: AUTO},), [(torch.randn(1, 3, 32, 24),)])

    def test_tagger(self):
        self.both(Tagger(), (IDS,), ({0: AUTO},), [(torch.randint(0, 20, (5, 7)),)])

    def test_encoder(self):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True, activation="gelu")
        net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.both(net, (torch.randn(2, 6, 16),), ({0: AUTO, 1: AUTO},), [(torch.randn(3, 9, 16),)])

    def test_decoder_with_cache(self):
        past = torch.randn(2, 2, 2, 3, 4)
        more = [(torch.randint(0, 20, (3, 2)), torch.randn(2, 3, 2, 8, 4))]
        self.both(Decoder(), (IDS, past), ({0: AUTO, 1: AUTO}, {1: AUTO, 3: AUTO}), more)

    def test_families(self):
        sys.path.insert(0, str(sweep.HERE.parents[1] / "architectures"))
        from families import FAMILIES

        wanted = os.environ.get("TERN_TORCH_FAMILIES", "^(bert|gpt2|vit)$")
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(os.environ.get("TERN_TORCH_SWEEP", temporary))
            for name in FAMILIES:
                if re.search(wanted, name):
                    with self.subTest(family=name):
                        self.assertEqual(sweep.run_all(folder, f"^{name}$", 600), 0, name)
                        self.assertTrue(list(folder.glob(f"{name}.*.*.txt")), "nothing was exported")
