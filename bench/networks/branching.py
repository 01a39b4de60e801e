"""Networks whose layers concatenate the outputs of several earlier layers."""

import torch
from torch import nn

from .layers import classifier, conv_norm
from .network import Network, image


class Dense(nn.Module):
    """A layer of DenseNet. It begins with a BatchNorm, and its output is concatenated with its input."""

    def __init__(self, inputs, growth=32):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU(), conv_norm(inputs, 4 * growth, 1),
                                  nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False))

    def forward(self, x):
        return torch.cat([x, self.body(x)], 1)


def densenet121():
    layers, channels = [conv_norm(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate((6, 12, 24, 16)):
        if stage:
            layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
        for _ in range(count):
            layers.append(Dense(channels))
            channels += 32
    return nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU(), classifier(channels))


class Inception(nn.Module):
    def __init__(self, inputs, one, three_in, three, five_in, five, pool):
        super().__init__()
        self.branches = nn.ModuleList([
            conv_norm(inputs, one, 1),
            nn.Sequential(conv_norm(inputs, three_in, 1), conv_norm(three_in, three)),
            nn.Sequential(conv_norm(inputs, five_in, 1), conv_norm(five_in, five, 5)),
            nn.Sequential(nn.MaxPool2d(3, 1, 1), conv_norm(inputs, pool, 1))])

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


def googlenet():
    pool = lambda: nn.MaxPool2d(3, 2, ceil_mode=True)
    return nn.Sequential(
        conv_norm(3, 64, 7, 2), pool(), conv_norm(64, 64, 1), conv_norm(64, 192), pool(),
        Inception(192, 64, 96, 128, 16, 32, 32), Inception(256, 128, 128, 192, 32, 96, 64), pool(),
        Inception(480, 192, 96, 208, 16, 48, 64), Inception(512, 160, 112, 224, 24, 64, 64),
        Inception(512, 128, 128, 256, 24, 64, 64), Inception(512, 112, 144, 288, 32, 64, 64),
        Inception(528, 256, 160, 320, 32, 128, 128), pool(),
        Inception(832, 256, 160, 320, 32, 128, 128), Inception(832, 384, 192, 384, 48, 128, 128), classifier(1024))


NETWORKS = [
    Network("densenet121", densenet121, image()),
    Network("googlenet", googlenet, image()),
]
