"""Small networks for images, written with mindspore.nn."""

import numpy as np
from mindspore import Tensor, nn, ops


def conv(inputs, outputs, kernel=3, stride=1, **options):
    return nn.Conv2d(inputs, outputs, kernel, stride, **{"pad_mode": "same", "has_bias": False, **options})


class ConvBlock(nn.Cell):
    def __init__(self, inputs, outputs, kernel=3, stride=1, **options):
        super().__init__()
        self.conv = conv(inputs, outputs, kernel, stride, **options)
        self.norm = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(self.norm(self.conv(x)))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


class AlexNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 11, stride=4, pad_mode="same", has_bias=True)
        self.conv2 = nn.Conv2d(16, 24, 5, pad_mode="pad", padding=2, has_bias=True)
        self.conv3 = nn.Conv2d(24, 24, 3, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="valid")
        self.relu = ops.ReLU()
        self.fc = nn.SequentialCell(nn.Dense(24 * 3 * 3, 32), nn.ReLU(), nn.Dropout(p=0.5), nn.Dense(32, 10))

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.conv3(x))
        return self.fc(x.reshape((x.shape[0], -1)))


class VGG(nn.Cell):
    def __init__(self):
        super().__init__()
        layers = []
        channels = 3
        for spec in (8, "M", 16, "M", 16, 16, "M"):
            if spec == "M":
                layers.append(nn.MaxPool2d(2, 2))
            else:
                layers += [nn.Conv2d(channels, spec, 3, pad_mode="pad", padding=1), nn.BatchNorm2d(spec), nn.ReLU()]
                channels = spec
        self.features = nn.SequentialCell(layers)
        self.classifier = nn.Dense(16 * 4 * 4, 10)

    def construct(self, x):
        return self.classifier(ops.flatten(self.features(x)))


class Residual(nn.Cell):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.block1 = ConvBlock(inputs, outputs, 3, stride)
        self.conv2 = conv(outputs, outputs)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.down = None
        if stride != 1 or inputs != outputs:
            self.down = nn.SequentialCell(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def construct(self, x):
        y = self.norm2(self.conv2(self.block1(x)))
        shortcut = x if self.down is None else self.down(x)
        return ops.relu(y + shortcut)


class ResNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.SequentialCell(ConvBlock(3, 8, 7, 2), nn.MaxPool2d(3, 2, pad_mode="same"))
        self.layers = nn.SequentialCell(Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 16, 1))
        self.fc = nn.Dense(16, 10)

    def construct(self, x):
        x = self.layers(self.stem(x))
        return self.fc(ops.mean(x, (2, 3)))


class InvertedResidual(nn.Cell):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        self.layers = nn.SequentialCell(conv(inputs, hidden, 1), nn.BatchNorm2d(hidden), nn.ReLU6(),
                                        conv(hidden, hidden, 3, stride, group=hidden), nn.BatchNorm2d(hidden), nn.ReLU6(),
                                        conv(hidden, outputs, 1), nn.BatchNorm2d(outputs))
        self.residual = stride == 1 and inputs == outputs

    def construct(self, x):
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(conv(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU6(), InvertedResidual(8, 8, 1, 2),
                                        InvertedResidual(8, 12, 2, 3), InvertedResidual(12, 12, 1, 2))
        self.head = nn.Dense(12, 5)

    def construct(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class SqueezeExcite(nn.Cell):
    def __init__(self, channels):
        super().__init__()
        self.pool = ops.ReduceMean(keep_dims=True)
        self.reduce = nn.Conv2d(channels, channels // 4, 1, has_bias=True)
        self.expand = nn.Conv2d(channels // 4, channels, 1, has_bias=True)
        self.sigmoid = nn.HSigmoid()

    def construct(self, x):
        s = self.pool(x, (2, 3))
        return x * self.sigmoid(self.expand(ops.relu(self.reduce(s))))


class MobileNetV3(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(conv(3, 8, 3, 2), nn.BatchNorm2d(8), nn.HSwish(), conv(8, 8, 5, 1, group=8),
                                        nn.BatchNorm2d(8), nn.HSwish(), SqueezeExcite(8), conv(8, 16, 1))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Dense(16, 5)

    def construct(self, x):
        return self.head(ops.flatten(self.pool(self.layers(x))))


class Fire(nn.Cell):
    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeeze, 1, has_bias=True)
        self.expand1 = nn.Conv2d(squeeze, expand, 1, has_bias=True)
        self.expand3 = nn.Conv2d(squeeze, expand, 3, pad_mode="same", has_bias=True)

    def construct(self, x):
        x = ops.relu(self.squeeze(x))
        return ops.concat((ops.relu(self.expand1(x)), ops.relu(self.expand3(x))), 1)


class SqueezeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Conv2d(3, 8, 3, 2, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(3, 2),
                                        Fire(8, 4, 8), Fire(16, 4, 8), nn.Conv2d(16, 10, 1, has_bias=True))

    def construct(self, x):
        return ops.softmax(self.layers(x).mean((2, 3)), -1)


class DenseNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = conv(3, 8)
        self.blocks = nn.CellList([nn.SequentialCell(nn.BatchNorm2d(8 + 4 * i), nn.ReLU(), conv(8 + 4 * i, 4)) for i in range(3)])
        self.transition = nn.SequentialCell(nn.BatchNorm2d(20), nn.ReLU(), conv(20, 10, 1), nn.AvgPool2d(2, 2))
        self.fc = nn.Dense(10, 4)

    def construct(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = ops.concat((x, block(x)), 1)
        return self.fc(self.transition(x).mean((2, 3)))


class Inception(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = ConvBlock(3, 8, 3, 2)
        self.b1 = ConvBlock(8, 4, 1)
        self.b2 = nn.SequentialCell(ConvBlock(8, 4, 1), ConvBlock(4, 6, 3))
        self.b3 = nn.SequentialCell(ConvBlock(8, 2, 1), ConvBlock(2, 4, 5))
        self.b4 = nn.SequentialCell(nn.MaxPool2d(3, 1, pad_mode="same"), ConvBlock(8, 4, 1))
        self.fc = nn.Dense(18, 5)

    def construct(self, x):
        x = self.stem(x)
        x = ops.cat((self.b1(x), self.b2(x), self.b3(x), self.b4(x)), axis=1)
        return self.fc(ops.ReduceMean()(x, (2, 3)))


class UNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = ConvBlock(3, 8), ConvBlock(8, 16)
        self.pool = nn.MaxPool2d(2, 2)
        self.bottom = ConvBlock(16, 16)
        self.up = nn.Conv2dTranspose(16, 16, 2, 2, pad_mode="same")
        self.merge1, self.merge2 = ConvBlock(32, 8), ConvBlock(16, 8)
        self.resize = ops.ResizeNearestNeighbor((16, 16))
        self.head = nn.Conv2d(8, 2, 1, has_bias=True)

    def construct(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.up(self.bottom(self.pool(b)))
        d = self.resize(self.merge1(ops.concat((b, c), 1)))
        return self.head(self.merge2(ops.concat((a, d), 1)))


class ShuffleBlock(nn.Cell):
    def __init__(self):
        super().__init__()
        self.branch = nn.SequentialCell(ConvBlock(4, 4, 1), conv(4, 4, 3, group=4), nn.BatchNorm2d(4), ConvBlock(4, 4, 1))

    def construct(self, x):
        a, b = ops.split(x, 4, 1)
        y = ops.concat((a, self.branch(b)), 1)
        n, c, h, w = y.shape
        y = y.reshape((n, 2, c // 2, h, w)).transpose((0, 2, 1, 3, 4))
        return y.reshape((n, c, h, w))


class Norms(nn.Cell):
    def __init__(self):
        super().__init__()
        self.group, self.layer, self.batch1 = nn.GroupNorm(2, 4), nn.LayerNorm((4, 6, 6), 1, 1), nn.BatchNorm1d(9)
        self.dense = nn.Dense(4 * 6 * 6, 9)

    def construct(self, x):
        y = self.layer(self.group(x))
        return self.batch1(self.dense(ops.flatten(y))), y


class Upsampling(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = conv(3, 4)
        self.bilinear = nn.Upsample(size=(9, 11), mode="bilinear", align_corners=True)
        self.half = nn.Upsample(size=(10, 12), mode="bilinear", align_corners=False)
        self.transpose = nn.Conv2dTranspose(4, 2, 3, 2, pad_mode="pad", padding=1, output_padding=1, has_bias=True)
        self.shuffle = ops.DepthToSpace(2)

    def construct(self, x):
        y = self.conv(x)
        return self.bilinear(y), self.half(y), self.transpose(y), self.shuffle(y), ops.interpolate(y, size=(7, 7), mode="nearest")


class Conv1dNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Conv1d(2, 8, 5, stride=2, pad_mode="same", has_bias=True), nn.ReLU(), nn.MaxPool1d(2, 2),
                                        nn.Conv1d(8, 8, 3, dilation=2, pad_mode="valid"), nn.AvgPool1d(2, 2))
        self.transpose = nn.Conv1dTranspose(8, 4, 3, stride=2, pad_mode="pad", padding=1)

    def construct(self, x):
        return self.transpose(ops.tanh(self.layers(x)))


class Conv3dNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv3d(1, 4, 3, pad_mode="same", has_bias=True)
        self.norm = nn.BatchNorm3d(4)
        self.pool = ops.MaxPool3D(2, 2)
        self.conv2 = nn.Conv3d(4, 2, 2, stride=2, pad_mode="valid")

    def construct(self, x):
        return self.conv2(self.pool(ops.relu(self.norm(self.conv1(x)))))


class PaddedPools(nn.Cell):
    def __init__(self):
        super().__init__()
        self.max, self.average = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), nn.AvgPool2d(3, 2, pad_mode="pad", padding=1)
        self.adaptive = nn.AdaptiveAvgPool2d((3, 2))
        self.pad = nn.ReflectionPad2d(2)

    def construct(self, x):
        return self.max(x), self.average(x), self.adaptive(x), self.pad(x)


class Detector(nn.Cell):
    """Boxes and scores from a map of features."""

    def __init__(self):
        super().__init__()
        self.head = nn.Conv2d(4, 6, 1, has_bias=True)
        ys, xs = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
        self.grid = Tensor(np.stack((xs, ys), -1).reshape(1, 16, 2).astype(np.float32))

    def construct(self, x):
        y = self.head(x).transpose((0, 2, 3, 1)).reshape((1, 16, 6))
        centre = (ops.sigmoid(y[..., :2]) + self.grid) * 8.0
        size = ops.exp(y[..., 2:4])
        boxes = ops.concat((centre - size / 2, centre + size / 2), -1)
        scores = ops.softmax(y[..., 4:], -1)
        best, index = ops.topk(scores[..., 1], 4)
        return ops.gather(boxes[0], index[0], 0), best


class Dynamic(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = conv(3, 4, 3, 2)
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        y = ops.relu(self.conv(x))
        n, c, h, w = y.shape
        rows = y.reshape((n, c, h * w)).transpose((0, 2, 1))
        return self.fc(rows.mean(1)), rows, x[:, :, 1:, ::2]
