"""Building blocks that several families share."""

from torch import nn


def conv_norm(inputs, outputs, kernel=3, stride=1, groups=1, activation=nn.ReLU, padding=None):
    """Returns a convolution, a BatchNorm and, if `activation` is not None, an activation."""
    pad = kernel // 2 if padding is None else padding
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, pad, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class SqueezeExcite(nn.Module):
    """Multiplies each channel by a weight that depends on the means of all channels (squeeze-and-excitation)."""

    def __init__(self, channels, middle):
        super().__init__()
        self.weigh = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, middle, 1), nn.ReLU(),
                                   nn.Conv2d(middle, channels, 1), nn.Hardsigmoid())

    def forward(self, x):
        return x * self.weigh(x)


def classifier(channels, classes=1000):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))
