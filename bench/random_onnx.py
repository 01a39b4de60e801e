"""Builds networks as ONNX files with random weights. Needs only onnx and numpy, so that it runs on machines without torch.

The weights depend only on the seed. They are scaled so that values keep a moderate size.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8


class Net:
    """Collects nodes and weights. Each method adds nodes and returns the name of their result."""

    def __init__(self, name):
        self.name, self.nodes, self.weights, self.count = name, [], [], 0
        self.random = np.random.default_rng(1)

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        out = f"{kind.lower()}_{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out

    def constant(self, array):
        self.count += 1
        name = f"w{self.count}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def noise(self, dims, scale):
        return self.constant(self.random.standard_normal(dims, dtype=np.float32) * np.float32(scale))

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def conv(self, x, channels, maps, size, stride=1, pad=0, gain=2.0):
        w = self.noise((maps, channels, size, size), (gain / (channels * size * size)) ** 0.5)
        return self.op("Conv", x, w, self.noise((maps,), 0.1), kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4)

    def conv_relu(self, *args, **keywords):
        return self.op("Relu", self.conv(*args, **keywords))

    def dense(self, x, k, n):
        """A layer over the last axis, as exporters write it for inputs of rank 3."""
        return self.op("Add", self.op("MatMul", x, self.noise((k, n), k ** -0.5)), self.noise((n,), 0.1))

    def gemm(self, x, k, n):
        return self.op("Gemm", x, self.noise((n, k), k ** -0.5), self.noise((n,), 0.1), transB=1)

    def norm(self, x, width):
        one = self.constant(1 + 0.1 * self.random.standard_normal(width, dtype=np.float32))
        return self.op("LayerNormalization", x, one, self.noise((width,), 0.1), axis=-1, epsilon=1e-5)

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.number(2 ** 0.5)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.number(1))), self.number(0.5))

    def attention(self, x, width, heads):
        split = self.constant(np.array([0, 0, heads, width // heads], np.int64))

        def head(order):
            return self.op("Transpose", self.op("Reshape", self.dense(x, width, width), split), perm=order)

        q, k, v = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
        scores = self.op("Div", self.op("MatMul", q, k), self.number((width // heads) ** 0.5))
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        joined = self.op("Reshape", mixed, self.constant(np.array([0, 0, width], np.int64)))
        return self.dense(joined, width, width)

    def feed_forward(self, x, width):
        return self.dense(self.gelu(self.dense(x, width, 4 * width)), 4 * width, width)

    def save(self, path, x, kind, dims, y, out_dims):
        inputs = [helper.make_tensor_value_info(x, kind, dims)]
        outputs = [helper.make_tensor_value_info(y, TensorProto.FLOAT, out_dims)]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.save(model, str(path))


def resnet50(path, batch):
    net = Net("resnet50")
    x = net.conv_relu("image", 3, 64, 7, stride=2, pad=3)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.conv_relu(x, channels, width, 1)
            y = net.conv_relu(y, width, width, 3, stride=stride, pad=1)
            y = net.conv(y, width, 4 * width, 1, gain=0.5)
            short = net.conv(x, channels, 4 * width, 1, stride=stride, gain=1.0) if not block else x
            x, channels = net.op("Relu", net.op("Add", y, short)), 4 * width
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.save(path, "image", TensorProto.FLOAT, [batch, 3, 224, 224], net.gemm(x, 2048, 1000), [batch, 1000])


def vgg16(path, batch):
    net, x, channels = Net("vgg16"), "image", 3
    for width, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x, channels = net.conv_relu(x, channels, width, 3, pad=1), width
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Relu", net.gemm(net.op("Flatten", x), 25088, 4096))
    x = net.op("Relu", net.gemm(x, 4096, 4096))
    net.save(path, "image", TensorProto.FLOAT, [batch, 3, 224, 224], net.gemm(x, 4096, 1000), [batch, 1000])


def bert_base(path, batch, length=128, width=768, layers=12, heads=12, vocabulary=30522):
    net = Net("bert_base")
    x = net.op("Gather", net.noise((vocabulary, width), 1.0), "ids", axis=0)
    x = net.norm(net.op("Add", x, net.noise((1, length, width), 1.0)), width)
    for _ in range(layers):
        x = net.norm(net.op("Add", x, net.attention(x, width, heads)), width)
        x = net.norm(net.op("Add", x, net.feed_forward(x, width)), width)
    net.save(path, "ids", TensorProto.INT64, [batch, length], x, [batch, length, width])


def vit_b16(path, batch, width=768, layers=12, heads=12):
    net = Net("vit_b16")
    x = net.conv("image", 3, width, 16, stride=16, gain=1.0)
    x = net.op("Transpose", net.op("Reshape", x, net.constant(np.array([0, width, 196], np.int64))), perm=[0, 2, 1])
    first = net.noise((batch, 1, width), 1.0)
    x = net.op("Add", net.op("Concat", first, x, axis=1), net.noise((1, 197, width), 1.0))
    for _ in range(layers):
        x = net.op("Add", x, net.attention(net.norm(x, width), width, heads))
        x = net.op("Add", x, net.feed_forward(net.norm(x, width), width))
    x = net.op("Gather", net.norm(x, width), net.constant(np.array(0, np.int64)), axis=1)
    net.save(path, "image", TensorProto.FLOAT, [batch, 3, 224, 224], net.gemm(x, width, 1000), [batch, 1000])


BUILDERS = {"resnet50": resnet50, "vgg16": vgg16, "bert_base": bert_base, "vit_b16": vit_b16}
IMAGE = {"kind": "normal", "dtype": "float32"}


def make(name, batch, cache):
    """Builds a network unless its file exists, and returns its entry as in the zoo's index."""
    path = pathlib.Path(cache) / f"{name}_b{batch}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        BUILDERS[name](fresh, batch)
        fresh.replace(path)
    model = onnx.load(str(path), load_external_data=False).graph
    x = model.input[0]
    dims = [d.dim_value for d in x.type.tensor_type.shape.dim]
    ids = x.type.tensor_type.elem_type == TensorProto.INT64
    spec = {"kind": "ids", "dtype": "int64", "high": 1000} if ids else IMAGE
    return {"file": path.name, "inputs": [{"name": x.name, "dims": dims, "symbols": {}, **spec}], "outputs": [model.output[0].name]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("networks", nargs="+", help="NAME:BATCH")
    chosen = parser.parse_args()
    for text in chosen.networks:
        made, _, size = text.partition(":")
        print(make(made, int(size or 1), chosen.cache))
