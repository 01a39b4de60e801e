"""Trains a small network that finds regions with stripes in noise, exports it, and colours each pixel. usage: segment.py MODEL OUTPUT"""
import sys

import numpy as np
import tern
import torch
from PIL import Image
from torch import nn

rng = np.random.default_rng(0)
y, x = np.mgrid[:64, :64]


def samples(count):
    """Returns noisy grey pictures, and the class of each pixel: 0 background, 1 horizontal stripes, 2 vertical stripes."""
    classes = np.zeros((count, 64, 64), np.int64)
    for picture in classes:
        for kind in rng.permutation([1, 2, 1, 2]):
            (left, top), r = rng.integers(8, 56, 2), rng.integers(7, 16)
            picture[(x - left) ** 2 + (y - top) ** 2 < r * r] = kind
    stripes = np.choose(classes, [0 * x, np.sin(y * 1.3), np.sin(x * 1.3)])
    return (stripes + rng.normal(0, 0.7, classes.shape)).astype(np.float32)[:, None], classes


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 16, 7, padding=3), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=4, dilation=2), nn.ReLU(), nn.Conv2d(16, 3, 3, padding=1))
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for _ in range(100):
    pictures, classes = map(torch.from_numpy, samples(8))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(pictures), classes).backward()
    optimizer.step()
torch.onnx.export(net.eval(), (pictures,), sys.argv[1], input_names=["pictures"], output_names=["scores"], external_data=False, verbose=False)

pictures, classes = samples(8)
found = tern.load(sys.argv[1])(pictures)["scores"].argmax(axis=1)
print(f"{(found == classes).mean():.0%} of the pixels right")
colours = np.uint8([[38, 50, 56], [0, 191, 165], [255, 160, 0]])
rows = [np.hstack(np.uint8(np.clip(pictures[:5, 0, :, :, None] * 50 + 128, 0, 255)).repeat(3, 3)), np.hstack(colours[found[:5]])]
Image.fromarray(np.vstack(rows)).resize((800, 320), Image.Resampling.NEAREST).save(sys.argv[2])
