"""Plain and residual convolutional networks."""

import torch
from torch import nn

from .layers import conv_norm
from .network import PIXELS, Network, image, transformers_network


def vgg16():
    layers, channels = [], 3
    for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
        layers.append(nn.MaxPool2d(2))
    head = [nn.Flatten(), nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers, *head)


class UNet(nn.Module):
    """U-Net with four downsampling and four upsampling levels. Each upsampling level also reads the output
    of the downsampling level of the same size."""

    def __init__(self, width=32, classes=2):
        super().__init__()
        widths = [width << level for level in range(5)]
        self.down = nn.ModuleList(self.pair(i, o) for i, o in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths[:-1]))
        self.join = nn.ModuleList(self.pair(2 * w, w) for w in reversed(widths[:-1]))
        self.pool, self.head = nn.MaxPool2d(2), nn.Conv2d(width, classes, 1)

    @staticmethod
    def pair(inputs, outputs):
        return nn.Sequential(conv_norm(inputs, outputs), conv_norm(outputs, outputs))

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(self.pool(x) if level else x)
            kept.append(x)
        kept.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


class Fire(nn.Module):
    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Sequential(nn.Conv2d(inputs, squeeze, 1), nn.ReLU())
        self.one = nn.Sequential(nn.Conv2d(squeeze, expand, 1), nn.ReLU())
        self.three = nn.Sequential(nn.Conv2d(squeeze, expand, 3, padding=1), nn.ReLU())

    def forward(self, x):
        x = self.squeeze(x)
        return torch.cat([self.one(x), self.three(x)], 1)


def squeezenet():
    pool = lambda: nn.MaxPool2d(3, 2, ceil_mode=True)
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 2), nn.ReLU(), pool(), Fire(64, 16, 64), Fire(128, 16, 64), pool(), Fire(128, 32, 128),
        Fire(256, 32, 128), pool(), Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256),
        nn.Conv2d(512, 1000, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def resnet(name, **config):
    return transformers_network(name, "ResNetForImageClassification", PIXELS, num_labels=1000, **config)


NETWORKS = [
    resnet("resnet18", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], layer_type="basic"),
    resnet("resnet50"),
    Network("vgg16", vgg16, image()),
    Network("unet", UNet, image(256)),
    Network("squeezenet1.1", squeezenet, image()),
    transformers_network("regnet_y", "RegNetForImageClassification", PIXELS, num_labels=1000),
    transformers_network("convnext_tiny", "ConvNextForImageClassification", PIXELS, num_labels=1000),
]
