"""Detectors, which compute boxes and scores from feature maps of several scales."""

import torch
from torch import nn

from .layers import conv_norm
from .network import Network, image


def unit(inputs, outputs, kernel=1, stride=1, padding=None):
    return conv_norm(inputs, outputs, kernel, stride, activation=nn.SiLU, padding=padding)


class Bottleneck(nn.Module):
    def __init__(self, width, residual):
        super().__init__()
        self.residual, self.body = residual, nn.Sequential(unit(width, width), unit(width, width, 3))

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


class C3(nn.Module):
    """A stage of YOLOv5. Applies bottlenecks to half of the channels and concatenates the result with the other half."""

    def __init__(self, inputs, outputs, count, residual=True):
        super().__init__()
        half = outputs // 2
        self.main = nn.Sequential(unit(inputs, half), *(Bottleneck(half, residual) for _ in range(count)))
        self.side, self.join = unit(inputs, half), unit(outputs, outputs)

    def forward(self, x):
        return self.join(torch.cat([self.main(x), self.side(x)], 1))


class PoolPyramid(nn.Module):
    """SPPF (spatial pyramid pooling). Applies a pooling three times and concatenates its input and all three results."""

    def __init__(self, width):
        super().__init__()
        self.entry, self.join, self.pool = unit(width, width // 2), unit(2 * width, width), nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        stages = [self.entry(x)]
        for _ in range(3):
            stages.append(self.pool(stages[-1]))
        return self.join(torch.cat(stages, 1))


class Yolo(nn.Module):
    """YOLOv5s. Consists of a backbone, path aggregation and three heads. The heads' outputs are decoded into one list of boxes."""

    ANCHORS = [[10, 13, 16, 30, 33, 23], [30, 61, 62, 45, 59, 119], [116, 90, 156, 198, 373, 326]]

    def __init__(self, size, classes=80):
        super().__init__()
        self.fields = classes + 5
        self.stem = nn.Sequential(unit(3, 32, 6, 2, 2), unit(32, 64, 3, 2), C3(64, 64, 1))
        self.p3 = nn.Sequential(unit(64, 128, 3, 2), C3(128, 128, 2))
        self.p4 = nn.Sequential(unit(128, 256, 3, 2), C3(256, 256, 3))
        self.p5 = nn.Sequential(unit(256, 512, 3, 2), C3(512, 512, 1), PoolPyramid(512))
        self.top, self.middle = unit(512, 256), nn.Sequential(C3(512, 256, 1, False), unit(256, 128))
        self.small, self.down3, self.medium = C3(256, 128, 1, False), unit(128, 128, 3, 2), C3(256, 256, 1, False)
        self.down4, self.large = unit(256, 256, 3, 2), C3(512, 512, 1, False)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.heads = nn.ModuleList(nn.Conv2d(width, 3 * self.fields, 1) for width in (128, 256, 512))
        for level, anchors in enumerate(self.ANCHORS):
            stride = 8 << level
            cells = torch.arange(size // stride).float()
            grid = torch.stack(torch.meshgrid(cells, cells, indexing="xy"), -1) - 0.5
            self.register_buffer(f"grid{level}", grid * stride)
            self.register_buffer(f"anchor{level}", torch.tensor(anchors).float().view(1, 3, 1, 1, 2))

    def decode(self, level, x):
        n, _, h, w = x.shape
        x = x.view(n, 3, self.fields, h, w).permute(0, 1, 3, 4, 2).sigmoid()
        center, extent, scores = x.split((2, 2, self.fields - 4), 4)
        center = center * (2 * (8 << level)) + getattr(self, f"grid{level}")
        extent = (extent * 2) ** 2 * getattr(self, f"anchor{level}")
        return torch.cat([center, extent, scores], 4).view(n, 3 * h * w, self.fields)

    def forward(self, x):
        p3 = self.p3(self.stem(x))
        p4 = self.p4(p3)
        p5 = self.top(self.p5(p4))
        m4 = self.middle(torch.cat([self.up(p5), p4], 1))
        small = self.small(torch.cat([self.up(m4), p3], 1))
        medium = self.medium(torch.cat([self.down3(small), m4], 1))
        large = self.large(torch.cat([self.down4(medium), p5], 1))
        return torch.cat([self.decode(k, head(y)) for k, (head, y) in enumerate(zip(self.heads, (small, medium, large)))], 1)


class Ssd(nn.Module):
    """SSD on MobileNetV1. Concatenates the boxes and the class scores of six scales."""

    BACKBONE = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1)]

    def __init__(self, classes=21, anchors=6):
        super().__init__()
        self.classes = classes
        act = nn.ReLU6
        separable = lambda i, o, s: nn.Sequential(conv_norm(i, i, 3, s, i, act), conv_norm(i, o, 1, activation=act))
        layers, channels = [conv_norm(3, 32, 3, 2, activation=act)], 32
        for width, stride in self.BACKBONE:
            layers.append(separable(channels, width, stride))
            channels = width
        shrink = lambda i, o: nn.Sequential(conv_norm(i, o // 2, 1, activation=act), conv_norm(o // 2, o, 3, 2, activation=act))
        self.scales = nn.ModuleList([nn.Sequential(*layers), nn.Sequential(separable(512, 1024, 2), separable(1024, 1024, 1)),
                                     shrink(1024, 512), shrink(512, 256), shrink(256, 256), shrink(256, 128)])
        widths = (512, 1024, 512, 256, 256, 128)
        self.boxes = nn.ModuleList(nn.Conv2d(w, anchors * 4, 3, padding=1) for w in widths)
        self.scores = nn.ModuleList(nn.Conv2d(w, anchors * classes, 3, padding=1) for w in widths)

    def forward(self, x):
        boxes, scores = [], []
        for scale, box, score in zip(self.scales, self.boxes, self.scores):
            x = scale(x)
            boxes.append(box(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 4))
            scores.append(score(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, self.classes))
        return torch.cat(boxes, 1), torch.cat(scores, 1).softmax(-1)


NETWORKS = [
    Network("yolo_v5s", lambda: Yolo(320), image(320), gain=1.5),
    Network("ssd_mobilenet", Ssd, image(300), ("boxes", "scores")),
]
