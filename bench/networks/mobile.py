"""Networks for small devices, which use depthwise convolutions."""

import torch
from torch import nn

from .layers import SqueezeExcite, classifier, conv_norm
from .network import PIXELS, Network, image, transformers_network


class InvertedResidual(nn.Module):
    """A block of MobileNetV3. Expands the channels, then applies a depthwise convolution, squeeze-and-excitation and a
    projection."""

    def __init__(self, inputs, kernel, middle, outputs, squeeze, activation, stride):
        super().__init__()
        self.residual = stride == 1 and inputs == outputs
        layers = [conv_norm(inputs, middle, 1, activation=activation)] if middle != inputs else []
        layers.append(conv_norm(middle, middle, kernel, stride, middle, activation))
        if squeeze:
            layers.append(SqueezeExcite(middle, (middle // 4 + 7) // 8 * 8))
        self.body = nn.Sequential(*layers, conv_norm(middle, outputs, 1, activation=None))

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


# Columns: kernel, middle, outputs, squeeze, hard swish, stride
V3_LARGE = [(3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
            (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
            (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1),
            (5, 960, 160, 1, 1, 1)]


def mobilenet_v3_large():
    layers, channels = [conv_norm(3, 16, 3, 2, activation=nn.Hardswish)], 16
    for kernel, middle, outputs, squeeze, swish, stride in V3_LARGE:
        activation = nn.Hardswish if swish else nn.ReLU
        layers.append(InvertedResidual(channels, kernel, middle, outputs, squeeze, activation, stride))
        channels = outputs
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers, conv_norm(channels, 960, 1, activation=nn.Hardswish), *head)


class Shuffle(nn.Module):
    """A unit of ShuffleNetV2. With stride 1, half of the channels stay unchanged. Then the two halves are interleaved."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride, half = stride, outputs // 2
        self.side = nn.Sequential(conv_norm(inputs, inputs, 3, 2, inputs, None), conv_norm(inputs, half, 1)) if stride > 1 else None
        entry = inputs if stride > 1 else half
        self.main = nn.Sequential(conv_norm(entry, half, 1), conv_norm(half, half, 3, stride, half, None), conv_norm(half, half, 1))

    def forward(self, x):
        a, b = (self.side(x), x) if self.side else x.chunk(2, 1)
        y = torch.cat([a, self.main(b)], 1)
        n, c, h, w = y.shape
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


def shufflenet_v2():
    layers, channels = [conv_norm(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1)], 24
    for width, count in ((116, 4), (232, 8), (464, 4)):
        layers += [Shuffle(channels if k == 0 else width, width, 2 if k == 0 else 1) for k in range(count)]
        channels = width
    return nn.Sequential(*layers, conv_norm(channels, 1024, 1), classifier(1024))


class Ghost(nn.Module):
    """A module of GhostNet. Computes half of the channels by a convolution. Computes the other half from the first half by a
    cheap depthwise convolution."""

    def __init__(self, inputs, outputs, activation):
        super().__init__()
        half = (outputs + 1) // 2
        self.outputs = outputs
        self.main = conv_norm(inputs, half, 1, activation=activation)
        self.cheap = conv_norm(half, half, 3, 1, half, activation)

    def forward(self, x):
        x = self.main(x)
        return torch.cat([x, self.cheap(x)], 1)[:, :self.outputs]


class GhostBottleneck(nn.Module):
    def __init__(self, inputs, kernel, middle, outputs, squeeze, stride):
        super().__init__()
        layers = [Ghost(inputs, middle, nn.ReLU)]
        if stride > 1:
            layers.append(conv_norm(middle, middle, kernel, stride, middle, None))
        if squeeze:
            layers.append(SqueezeExcite(middle, (middle // 4 + 3) // 4 * 4))
        self.body = nn.Sequential(*layers, Ghost(middle, outputs, None))
        plain = stride == 1 and inputs == outputs
        self.side = nn.Identity() if plain else nn.Sequential(conv_norm(inputs, inputs, kernel, stride, inputs, None),
                                                              conv_norm(inputs, outputs, 1, activation=None))

    def forward(self, x):
        return self.body(x) + self.side(x)


# Columns: kernel, middle, outputs, squeeze, stride
GHOST = [(3, 16, 16, 0, 1), (3, 48, 24, 0, 2), (3, 72, 24, 0, 1), (5, 72, 40, 1, 2), (5, 120, 40, 1, 1), (3, 240, 80, 0, 2),
         (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 184, 80, 0, 1), (3, 480, 112, 1, 1), (3, 672, 112, 1, 1), (5, 672, 160, 1, 2),
         (5, 960, 160, 0, 1), (5, 960, 160, 1, 1), (5, 960, 160, 0, 1), (5, 960, 160, 1, 1)]


def ghostnet():
    layers, channels = [conv_norm(3, 16, 3, 2)], 16
    for kernel, middle, outputs, squeeze, stride in GHOST:
        layers.append(GhostBottleneck(channels, kernel, middle, outputs, squeeze, stride))
        channels = outputs
    head = [nn.AdaptiveAvgPool2d(1), nn.Conv2d(960, 1280, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers, conv_norm(channels, 960, 1), *head)


def plain_pool(model):
    """Replaces the final pooling, because its kernel is far larger than the image and openvino refuses it."""
    model.efficientnet.pooler = nn.AdaptiveAvgPool2d(1)
    return model


NETWORKS = [
    transformers_network("mobilenet_v1", "MobileNetV1ForImageClassification", PIXELS, num_labels=1000),
    transformers_network("mobilenet_v2", "MobileNetV2ForImageClassification", PIXELS, num_labels=1000),
    Network("mobilenet_v3_large", mobilenet_v3_large, image()),
    transformers_network("efficientnet_b0", "EfficientNetForImageClassification", PIXELS, num_labels=1000, image_size=224,
                         width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280, part=plain_pool),
    Network("shufflenet_v2", shufflenet_v2, image()),
    Network("ghostnet", ghostnet, image()),
]
