"""Networks with grouped convolutions and with parallel branches that are linear."""

import torch
from torch import nn

from .layers import classifier, conv_norm
from .network import Network, image


class Grouped(nn.Module):
    """A bottleneck of ResNeXt: its 3x3 convolution has 32 groups."""

    def __init__(self, inputs, middle, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(conv_norm(inputs, middle, 1), conv_norm(middle, middle, 3, stride, 32),
                                  conv_norm(middle, outputs, 1, activation=None))
        self.side = conv_norm(inputs, outputs, 1, stride, activation=None) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        return torch.relu(self.side(x) + self.body(x))


def resnext50():
    layers, channels = [conv_norm(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        width = 128 << stage
        for k in range(count):
            layers.append(Grouped(channels, width, 2 * width, 2 if stage and k == 0 else 1))
            channels = 2 * width
    return nn.Sequential(*layers, classifier(channels))


class DualPath(nn.Module):
    """A block of DPN: one part of the result is added to the input, the other part is concatenated with it."""

    def __init__(self, inputs, middle, added, grown, stride, first):
        super().__init__()
        self.added, self.first = added, first
        if first:
            self.side = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, added + 2 * grown, 1, stride, bias=False))
        layers = []
        for before, after, kernel, step, groups in ((inputs, middle, 1, 1, 1), (middle, middle, 3, stride, 32),
                                                    (middle, added + grown, 1, 1, 1)):
            layers += [nn.BatchNorm2d(before), nn.ReLU(),
                       nn.Conv2d(before, after, kernel, step, kernel // 2, groups=groups, bias=False)]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        side, body = self.side(x) if self.first else x, self.body(x)
        return torch.cat([side[:, :self.added] + body[:, :self.added], side[:, self.added:], body[:, self.added:]], 1)


def dpn68():
    layers, channels = [conv_norm(3, 10, 3, 2), nn.MaxPool2d(3, 2, 1)], 10
    for stage, (count, grown) in enumerate(((3, 16), (4, 32), (12, 32), (3, 64))):
        added, middle = 64 << stage, 128 << stage
        for k in range(count):
            layers.append(DualPath(channels, middle, added, grown, 2 if stage and k == 0 else 1, k == 0))
            channels = added + (3 if k == 0 else 1) * grown + (0 if k == 0 else channels - added)
    return nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU(), classifier(channels))


class Branches(nn.Module):
    """A layer of RepVGG and MobileOne as it is trained: convolutions of two sizes and, where the shape permits it, the input
    itself, each with a BatchNorm, are added."""

    def __init__(self, inputs, outputs, stride, groups=1, kernel=3, copies=1):
        super().__init__()
        branch = lambda k: conv_norm(inputs, outputs, k, stride, groups, None)
        self.branches = nn.ModuleList([branch(kernel) for _ in range(copies)])
        if kernel > 1:
            self.branches.append(branch(1))
        if stride == 1 and inputs == outputs:
            self.branches.append(nn.BatchNorm2d(inputs))

    def forward(self, x):
        return torch.relu(sum(branch(x) for branch in self.branches))


def repvgg_a0():
    layers, channels = [Branches(3, 48, 2)], 48
    for width, count in ((48, 2), (96, 4), (192, 14), (1280, 1)):
        for k in range(count):
            layers.append(Branches(channels, width, 2 if k == 0 else 1))
            channels = width
    return nn.Sequential(*layers, classifier(channels))


def mobileone_s0():
    layers, channels = [Branches(3, 48, 2, copies=4)], 48
    for width, count in ((48, 2), (128, 8), (256, 10), (1024, 1)):
        for k in range(count):
            stride = 2 if k == 0 else 1
            layers += [Branches(channels, channels, stride, channels, copies=4), Branches(channels, width, 1, kernel=1, copies=4)]
            channels = width
    return nn.Sequential(*layers, classifier(channels))


NETWORKS = [
    Network("resnext50", resnext50, image()),
    Network("dpn68", dpn68, image()),
    Network("repvgg_a0", repvgg_a0, image(), gain=1.0),
    Network("mobileone_s0", mobileone_s0, image(), gain=0.5),
]
