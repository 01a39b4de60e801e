"""Well-known networks with random weights, compared with OpenCV, and after conversion to .tern and ONNX."""

import gzip
import os
import pathlib
import re
import tempfile
import unittest

import networks
import numpy as np
import onnxruntime
from caffe_net import caffemodel
from layer_test import LayerTest, numbers, opencv
from run_model import run_model, tern

ZOO = os.environ.get("TERN_ZOO")


class Networks(LayerTest):
    def check_network(self, net, size, rtol=1e-3, atol=1e-5, onnx=True):
        x = numbers(1, 3, size, size, low=-1, high=1)
        with tempfile.TemporaryDirectory() as folder:
            text, model = net.write(folder)
            got = run_model(text, {"data": x})
            wanted = opencv(text, model, {"data": x}, got)
            for name, array in got.items():
                self.close(array, wanted[name].reshape(array.shape), rtol, atol, name)
            stored = pathlib.Path(folder, "net.tern")
            tern("convert", text, "-o", stored)
            for name, array in run_model(stored, {"data": x}).items():
                self.close(got[name], array, rtol, atol, name)
            if onnx:
                self.check_onnx(folder, text, x, got)
        return got

    def check_onnx(self, folder, text, x, got):
        stored = pathlib.Path(folder, "net.onnx")
        tern("convert", text, "-o", stored)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(stored), options, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        for name, array in zip(names, session.run(None, {"data": x})):
            self.close(got[name], array, 1e-3, 1e-5, name)

    def test_alexnet(self):
        self.check_network(networks.alexnet(), 227)

    def test_vgg16(self):
        self.check_network(networks.vgg16(), 224)

    def test_googlenet(self):
        self.check_network(networks.googlenet(), 224)

    def test_resnet50(self):
        self.check_network(networks.resnet50(), 224)

    def test_squeezenet(self):
        self.check_network(networks.squeezenet(), 227)

    def test_mobilenet_v1(self):
        self.check_network(networks.mobilenet_v1(), 224)

    def test_mobilenet_v2(self):
        self.check_network(networks.mobilenet_v2(), 224)

    def test_mobilenet_ssd(self):
        x = numbers(1, 3, 300, 300, low=-1, high=1)
        with tempfile.TemporaryDirectory() as folder:
            text, model = networks.mobilenet_ssd().write(folder)
            got = run_model(text, {"data": x})["detection_out"].reshape(-1, 7)
            rows = opencv(text, model, {"data": x}, ["detection_out"])["detection_out"].reshape(-1, 7)
            stored = pathlib.Path(folder, "net.tern")
            tern("optimize", text, "-o", stored)
            again = run_model(stored, {"data": x})["detection_out"].reshape(-1, 7)
        rows = rows[rows[:, 2] > 0]
        rows = rows[np.lexsort((-rows[:, 2], rows[:, 1]))]
        self.assertGreater(len(rows), 5)
        self.close(got, rows, 1e-3, 1e-4)
        self.close(again, rows, 1e-3, 1e-4)


def fields(text):
    """Parses the text of a message to a list of (name, value), where a value is a text or such a list."""
    tokens = re.findall(r'"[^"]*"|\'[^\']*\'|[{}]|[\w.+-]+', re.sub(r"#.*", "", text))

    def message(at):
        out = []
        while at < len(tokens) and tokens[at] != "}":
            name, value = tokens[at], tokens[at + 1]
            if value == "{":
                value, at = message(at + 2)
            else:
                value, at = value.strip("\"'"), at + 2
            out.append((name, value))
        return out, at + 1

    return message(0)[0]


def random_weights(text, seed=0):
    """Weights for the convolutions, BatchNorm and Scale layers of a .prototxt."""
    rng, channels, blobs = np.random.default_rng(seed), {}, {}
    top = fields(text)
    dims = [int(v) for n, v in top if n == "input_dim"]
    inputs = [v for n, v in top if n == "input"]
    if inputs:
        channels[inputs[0]] = dims[1] if dims else int(dict(fields(text))["input_shape"][1][1])
    for layer in (v for n, v in top if n == "layer"):
        first = dict(reversed(layer))
        bottoms, tops, kind = [v for n, v in layer if n == "bottom"], [v for n, v in layer if n == "top"], first["type"]
        if kind == "Input":
            count = int(first["input_param"][0][1][1][1])
        else:
            count = sum(channels[b] for b in bottoms) if kind == "Concat" else channels[bottoms[0]]
        if kind == "Convolution":
            p = dict(first["convolution_param"])
            outputs, group, kernel = int(p["num_output"]), int(p.get("group", 1)), int(p["kernel_size"])
            w = rng.standard_normal((outputs, count // group, kernel, kernel)) * np.sqrt(2 / (count // group * kernel * kernel))
            blobs[first["name"]] = (kind, [w] + ([rng.standard_normal(outputs) * 0.1] if p.get("bias_term") != "false" else []))
            count = outputs
        elif kind == "BatchNorm":
            blobs[first["name"]] = (kind, [rng.standard_normal(count) * 0.1, rng.uniform(0.5, 1.5, count), np.ones(1)])
        elif kind == "Scale":
            blobs[first["name"]] = (kind, [rng.uniform(0.5, 1.5, count), rng.standard_normal(count) * 0.1])
        for name in tops:
            channels[name] = count
    return blobs


@unittest.skipUnless(ZOO, "TERN_ZOO is not set")
class Zoo(LayerTest):
    folder = pathlib.Path(ZOO or ".", "models/caffe")

    def check_files(self, text, model, x, name):
        got = run_model(text, {name: x}, "--weights", model)
        wanted = opencv(text, model, {name: x}, got)
        for output, array in got.items():
            self.close(array, wanted[output].reshape(array.shape), 1e-3, 1e-5, output)

    def test_lenet(self):
        def read(name, offset):
            return np.frombuffer(gzip.open(pathlib.Path(ZOO, "data/mnist", name)).read(), np.uint8, offset=offset)
        images = read("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28).astype(np.float32) / 256
        labels = read("t10k-labels-idx1-ubyte.gz", 8)
        text, model = self.folder / "lenet.prototxt", self.folder / "lenet_iter_10000.caffemodel"
        prob = run_model(text, {"data": images}, "--weights", model, "--batch", 10000)["prob"]
        self.assertEqual((prob.argmax(1) == labels).sum(), 9914)

    def test_ultraface(self):
        for name in ("ultraface_RFB-320", "ultraface_slim-320"):
            self.check_files(self.folder / f"{name}.prototxt", self.folder / f"{name}.caffemodel", numbers(1, 3, 240, 320), "input")

    def test_networks_without_weights(self):
        for name, size in (("mobilenet_v1_deploy", 224), ("mobilenet_v2_deploy", 224), ("squeezenet_v1.1_deploy", 227)):
            text = self.folder / f"{name}.prototxt"
            batch = int(re.search(r"dim: *(\d+)", text.read_text()).group(1))
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder, "net.caffemodel")
                model.write_bytes(caffemodel({k: (t, [np.asarray(b, np.float32) for b in v]) for k, (t, v) in random_weights(text.read_text()).items()}))
                self.check_files(text, model, numbers(batch, 3, size, size, low=-1, high=1), "data")
