"""Networks on large images, whose values do not fit into the caches."""

import torch
from torch import nn
from torch.nn import functional

from .detectors import Yolo
from .layers import SqueezeExcite, conv_norm
from .mobile import V3_LARGE
from .network import Input, Network, image


class Dilated(nn.Module):
    """A block of MobileNetV3 whose depthwise convolution may be dilated."""

    def __init__(self, inputs, kernel, middle, outputs, squeeze, activation, stride, dilation):
        super().__init__()
        self.residual = stride == 1 and inputs == outputs
        depthwise = nn.Conv2d(middle, middle, kernel, stride, dilation * (kernel // 2), dilation, middle, bias=False)
        layers = [conv_norm(inputs, middle, 1, activation=activation)] if middle != inputs else []
        layers += [depthwise, nn.BatchNorm2d(middle), activation()]
        if squeeze:
            layers.append(SqueezeExcite(middle, (middle // 4 + 7) // 8 * 8))
        self.body = nn.Sequential(*layers, conv_norm(middle, outputs, 1, activation=None))

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


class DeepLab(nn.Module):
    """DeepLabV3 on MobileNetV3-Large with an output stride of 8."""

    def __init__(self, classes=21):
        super().__init__()
        layers, channels, stride_so_far = [conv_norm(3, 16, 3, 2, activation=nn.Hardswish)], 16, 2
        for kernel, middle, outputs, squeeze, swish, stride in V3_LARGE:
            stride_so_far *= stride
            dilation = max(1, stride_so_far // 8)
            layers.append(Dilated(channels, kernel, middle, outputs, squeeze, nn.Hardswish if swish else nn.ReLU,
                                  stride if stride_so_far <= 8 else 1, dilation))
            channels = outputs
        self.body = nn.Sequential(*layers, conv_norm(channels, 960, 1, activation=nn.Hardswish))
        self.one = conv_norm(960, 256, 1)
        self.atrous = nn.ModuleList(
            nn.Sequential(nn.Conv2d(960, 256, 3, padding=r, dilation=r, bias=False), nn.BatchNorm2d(256), nn.ReLU())
            for r in (12, 24, 36))
        self.pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(960, 256, 1), nn.ReLU())
        self.head = nn.Sequential(conv_norm(5 * 256, 256, 1), conv_norm(256, 256), nn.Conv2d(256, classes, 1))

    def forward(self, x):
        y = self.body(x)
        pooled = self.pooled(y).expand(-1, -1, y.shape[2], y.shape[3])
        y = self.head(torch.cat([self.one(y), *(layer(y) for layer in self.atrous), pooled], 1))
        return functional.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)


def super_resolution():
    return nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 9, 3, padding=1), nn.PixelShuffle(3))


NETWORKS = [
    Network("deeplabv3_513", DeepLab, image(513)),
    Network("yolo_v5s_640", lambda: Yolo(640), image(640), gain=1.5),
    Network("super_resolution_512", super_resolution, (Input("image", (("batch", 1), 1, 512, 512)),)),
]
