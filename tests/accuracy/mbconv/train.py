"""Trains a small network of EfficientNet's type on MNIST and writes mbconv.onnx beside this file.

    pip install torch onnx numpy
    TERN_ZOO=... python tests/accuracy/mbconv/train.py [--epochs 3] [--threads 1] [--out FILE]

It has MBConv blocks: expansion, depthwise convolution, squeeze-excitation, projection; with BatchNorm and swish. It is trained on
the 8,500 training images of examples/digits. Two things make it hard to quantize with one range per tensor, as published
EfficientNets are:

1. The BatchNorms start with gains between 2^-SPREAD and 2^SPREAD, which training keeps different.
2. After training, each channel of a projection is multiplied by a power of two between 2^-SPREAD and 2^SPREAD, and its weights in
   the next layer are divided by it. There is no activation function in between, so the function of the network stays the same.
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples/digits"))

import augment  # noqa: E402
import dataset  # noqa: E402

SEED, BATCH, PEAK_RATE = 7, 64, 5e-3
SPREAD = 3  # binary orders of magnitude
EXPAND, SQUEEZE = 4, 4
#         inputs, outputs, stride, kernel
BLOCKS = ((12, 12, 1, 3), (12, 20, 2, 3), (20, 20, 1, 5), (20, 32, 2, 3), (32, 48, 1, 3))
HEAD = 96


def spread_gains(norm, generator):
    with torch.no_grad():
        norm.weight.mul_(2 ** ((torch.rand(norm.weight.shape, generator=generator) * 2 - 1) * SPREAD))
    return norm


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.reduce = nn.Conv2d(channels, channels // SQUEEZE, 1)
        self.expand = nn.Conv2d(channels // SQUEEZE, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.expand(nn.functional.silu(self.reduce(x.mean((2, 3), keepdim=True)))))


class MBConv(nn.Module):
    def __init__(self, inputs, outputs, stride, kernel, generator):
        super().__init__()
        middle = inputs * EXPAND
        self.residual = stride == 1 and inputs == outputs
        self.expand = nn.Conv2d(inputs, middle, 1, bias=False)
        self.expand_norm = spread_gains(nn.BatchNorm2d(middle), generator)
        self.depthwise = nn.Conv2d(middle, middle, kernel, stride, kernel // 2, groups=middle, bias=False)
        self.depthwise_norm = spread_gains(nn.BatchNorm2d(middle), generator)
        self.excite = SqueezeExcite(middle)
        self.project = nn.Conv2d(middle, outputs, 1, bias=False)
        self.project_norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = nn.functional.silu(self.expand_norm(self.expand(x)))
        y = nn.functional.silu(self.depthwise_norm(self.depthwise(y)))
        y = self.project_norm(self.project(self.excite(y)))
        return x + y if self.residual else y


class Network(nn.Module):
    def __init__(self, generator):
        super().__init__()
        first, last = BLOCKS[0][0], BLOCKS[-1][1]
        self.stem = nn.Conv2d(1, first, 3, 2, 1, bias=False)
        self.stem_norm = nn.BatchNorm2d(first)
        self.blocks = nn.ModuleList(MBConv(*block, generator) for block in BLOCKS)
        self.head = nn.Conv2d(last, HEAD, 1, bias=False)
        self.head_norm = spread_gains(nn.BatchNorm2d(HEAD), generator)
        self.classify = nn.Linear(HEAD, 10)

    def forward(self, x):
        x = nn.functional.silu(self.stem_norm(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        x = nn.functional.silu(self.head_norm(self.head(x)))
        return self.classify(x.mean((2, 3)))


def train(images, labels, epochs):
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    model = Network(generator).train()
    steps = len(images) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=epochs * steps)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(images), generator=generator)[:steps * BATCH].split(BATCH):
            loss = nn.functional.cross_entropy(model(augment.augment(images[rows], generator)), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs}: loss {total / steps:.4f}", flush=True)
    return model.eval()


def rescale(model):
    """Multiplies the channels of each projection whose only reader is the next layer, and divides that layer's weights."""
    generator = torch.Generator().manual_seed(SEED + 1)
    following = [(block.expand, block.residual) for block in model.blocks[1:]] + [(model.head, False)]
    with torch.no_grad():
        for block, (reader, reader_is_residual) in zip(model.blocks, following):
            if block.residual or reader_is_residual:
                continue
            factors = 2.0 ** torch.randint(-SPREAD, SPREAD + 1, block.project_norm.weight.shape, generator=generator)
            block.project_norm.weight.mul_(factors)
            block.project_norm.bias.mul_(factors)
            reader.weight.div_(factors[None, :, None, None])


def accuracy(model, images, labels):
    with torch.no_grad():
        return (torch.cat([model(part) for part in images.split(500)]).argmax(1) == labels).float().mean().item()


def export(model, path):
    torch.onnx.export(model, (torch.zeros(1, 1, 28, 28),), str(path), dynamo=False, opset_version=17, input_names=["image"],
                      output_names=["logits"], dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}})
    proto = onnx.load(path)
    for node in proto.graph.node:  # these two fields contain paths of the machine that exported the model
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    onnx.checker.check_model(proto, full_check=True)
    onnx.save(proto, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "mbconv.onnx")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    images, labels = dataset.load()
    inputs, targets = torch.from_numpy(dataset.to_input(images)), torch.from_numpy(labels.astype(np.int64))
    held_out = torch.from_numpy(dataset.held_out_mask())
    model = train(inputs[~held_out], targets[~held_out], chosen.epochs)
    before = accuracy(model, inputs[held_out], targets[held_out])
    rescale(model)
    after = accuracy(model, inputs[held_out], targets[held_out])
    print(f"{sum(p.numel() for p in model.parameters())} parameters; {100 * before:.2f} % of the held-out images are right, "
          f"{100 * after:.2f} % after rescaling")
    export(model, chosen.out)


if __name__ == "__main__":
    main()
