"""Compares whole networks with MindSpore's results on the CPU."""

import unittest

import mindspore as ms
import networks_flow as flow
import networks_text as text
import networks_vision as vision
import numpy as np
from mind import MindTest, export, flat, input_names, mind_ir_pb2, read_model, tensors
from mindspore import nn
from run_model import run_model, tern

_random = np.random.default_rng(3)


def f(*shape):
    return _random.normal(0, 1, shape).astype(np.float32)


def ids(*shape, high=20):
    return _random.integers(0, high, shape).astype(np.int32)


def i32(value):
    return np.array(value, np.int32)


# Name → (network, inputs).
NETWORKS = {
    "lenet": (vision.LeNet, [f(1, 1, 32, 32)]),
    "alexnet": (vision.AlexNet, [f(1, 3, 64, 64)]),
    "vgg": (vision.VGG, [f(2, 3, 32, 32)]),
    "resnet": (vision.ResNet, [f(1, 3, 32, 32)]),
    "mobilenet_v2": (vision.MobileNetV2, [f(1, 3, 32, 32)]),
    "mobilenet_v3": (vision.MobileNetV3, [f(1, 3, 24, 24)]),
    "squeezenet": (vision.SqueezeNet, [f(1, 3, 33, 33)]),
    "densenet": (vision.DenseNet, [f(1, 3, 16, 16)]),
    "inception": (vision.Inception, [f(1, 3, 16, 16)]),
    "unet": (vision.UNet, [f(1, 3, 16, 16)]),
    "shuffle": (vision.ShuffleBlock, [f(1, 8, 8, 8)]),
    "bert": (text.Bert, [ids(2, 8), ids(2, 8, high=2)]),
    "gpt": (text.GPT, [ids(2, 7)]),
    "vit": (text.ViT, [f(2, 3, 16, 16)]),
    "translator": (text.Translator, [ids(1, 6), ids(1, 5)]),
    "nn_transformer": (text.NnTransformer, [f(2, 5, 8), f(2, 4, 8)]),
    "lstm": (lambda: text.Recurrent(nn.LSTM, num_layers=2, bidirectional=True), [ids(2, 5)]),
    "lstm_with_state": (text.LstmWithState, [f(3, 2, 4), f(2, 2, 5), f(2, 2, 5)]),
    "gru": (lambda: text.Recurrent(nn.GRU), [ids(2, 5)]),
    "gru_two_layers": (lambda: text.Recurrent(nn.GRU, num_layers=2, bidirectional=True), [ids(2, 4)]),
    "rnn": (lambda: text.Recurrent(nn.RNN), [ids(2, 5)]),
    "cells": (text.Cells, [f(2, 4), f(2, 4), f(2, 4)]),
    "mlp": (flow.MLP, [f(3, 6)]),
    "norms": (vision.Norms, [f(2, 4, 6, 6)]),
    "upsampling": (vision.Upsampling, [f(1, 3, 5, 6)]),
    "conv1d": (vision.Conv1dNet, [f(1, 2, 40)]),
    "conv3d": (vision.Conv3dNet, [f(1, 1, 8, 8, 8)]),
    "padded_pools": (vision.PaddedPools, [f(1, 3, 7, 9)]),
    "detector": (vision.Detector, [f(1, 4, 4, 4)]),
    "shared_weights": (flow.SharedWeights, [f(4, 4), f(4, 4)]),
    "half": (flow.Half, [f(2, 8)]),
    "indexing": (flow.Indexing, [f(4, 5, 3), np.array([2, 0], np.int64)]),
    "for_loop": (flow.ForLoop, [f(2, 3)]),
}


class Networks(MindTest):
    def check_network(self, name):
        make, inputs = NETWORKS[name]
        ms.set_seed(1)
        network = make()
        for parameter in network.get_parameters():  # BatchNorm's statistics too
            low, high = (0.5, 1.5) if "variance" in parameter.name else (-0.5, 0.5)
            parameter.set_data(ms.Tensor(_random.uniform(low, high, parameter.shape).astype(parameter.asnumpy().dtype)))
        tolerance = {"rtol": 1e-2, "atol": 1e-2} if name == "half" else {"rtol": 1e-3, "atol": 2e-4}
        self.check(network, inputs, **tolerance)


for _name in NETWORKS:
    setattr(Networks, f"test_{_name}", lambda self, name=_name: self.check_network(name))


class ControlFlow(MindTest):
    """Exports once, and runs with inputs that take different paths."""

    def check_all(self, network, cases, declared=None):
        path = export(network, declared or tensors(cases[0]), self.folder)
        names = input_names(path)
        for inputs in cases:
            with self.subTest(inputs=[np.asarray(x).flat[0] for x in inputs]):
                self.compare(run_model(path, dict(zip(names, inputs))), flat(network(*tensors(inputs))))
        return path

    def test_branches(self):
        self.check_all(flow.Branches(), [[f(2, 3) + 3], [f(2, 3) - 3], [np.full((2, 3), 0.1, np.float32)]])

    def test_nested_branches(self):
        x = np.ones((2, 3), np.float32)
        self.check_all(flow.NestedBranches(), [[x, i32(1)], [-x, i32(1)], [x, i32(0)]])

    def test_while(self):
        self.check_all(flow.WhileLoop(), [[f(2, 4), i32(n)] for n in (3, 0, 7)])

    def test_nested_loops(self):
        self.check_all(flow.NestedLoops(), [[f(2, 3), i32(n)] for n in (4, 0, 6)])

    def test_break(self):
        self.check_all(flow.BreakingLoop(), [[np.full((2, 2), v, np.float32)] for v in (1, 100, 1e-9)])

    def test_dynamic_shapes(self):
        declared = [ms.Tensor(shape=[None, 3, None, None], dtype=ms.float32)]
        self.check_all(vision.Dynamic(), [[f(1, 3, 8, 8)], [f(3, 3, 10, 6)]], declared)

    def test_dynamic_transformer(self):
        declared = [ms.Tensor(shape=[None, None], dtype=ms.int32)]
        self.check_all(text.DynamicTransformer(), [[ids(1, 4)], [ids(3, 9)]], declared)


class Formats(MindTest):
    """What else the commands do with a MindIR model."""

    def test_convert_and_optimize(self):
        x = f(1, 3, 16, 16)
        network = vision.Inception()
        path = export(network, tensors([x]), self.folder)
        wanted = flat(network(ms.Tensor(x)))
        for suffix in (".tern", ".onnx"):
            other = self.folder / f"m{suffix}"
            tern("convert", path, "-o", other)
            self.compare(run_model(other, {"x": x}), wanted)
        tern("optimize", path, "-o", self.folder / "o.tern")
        self.compare(run_model(self.folder / "o.tern", {"x": x}), wanted)
        self.assertIn("mind_ir_version = 3", tern("inspect", path))

    def test_external_data(self):
        from mindspore.train import serialization

        x = f(2, 6)
        network = flow.MLP()
        limit = serialization.TOTAL_SAVE
        serialization.TOTAL_SAVE = 1
        self.addCleanup(setattr, serialization, "TOTAL_SAVE", limit)
        network.set_train(False)
        ms.export(network, ms.Tensor(x), file_name=str(self.folder / "m"), file_format="MINDIR")
        path = self.folder / "m_graph.mindir"
        self.assertTrue((self.folder / "m_variables" / "data_0").exists())
        self.compare(run_model(path, {"x": x}), flat(network(ms.Tensor(x))))

    def test_parameters_as_graphs(self):
        """Old versions of MindSpore write the parameters of large models as graphs."""
        x = f(2, 6)
        network = flow.MLP()
        path = export(network, tensors([x]), self.folder)
        model = read_model(path)
        variables = self.folder / "n_variables"
        variables.mkdir()
        for i in (0, 1):
            part = mind_ir_pb2.GraphProto()
            part.parameter.extend(model.graph.parameter[i::2])
            (variables / f"data_{i}").write_bytes(part.SerializeToString())
        del model.graph.parameter[:]
        (self.folder / "n_graph.mindir").write_bytes(model.SerializeToString())
        self.compare(run_model(self.folder / "n_graph.mindir", {"x": x}), flat(network(ms.Tensor(x))))

    def test_attributes_in_nodes(self):
        """In version 0, a node names its primitive and has its attributes."""
        for name in ("resnet", "unet", "bert", "lstm", "padded_pools", "detector"):
            with self.subTest(network=name):
                make, inputs = NETWORKS[name]
                network = make()
                path = export(network, tensors(inputs), self.folder)
                model = read_model(path)
                primitives = {p.name: p for p in model.primitives}
                for graph in [model.graph, *model.functions]:
                    for node in graph.node:
                        primitive = primitives.get(node.op_type.removeprefix("REF::"))
                        if primitive:
                            node.op_type = primitive.op_type
                            node.attribute.extend(primitive.attribute)
                del model.primitives[:]
                model.ClearField("mind_ir_version")
                path.write_bytes(model.SerializeToString())
                got = run_model(path, dict(zip(input_names(path), inputs)))
                self.compare(got, flat(network(*tensors(inputs))), atol=1e-4)

    def test_encrypted(self):
        from run_model import TernError

        for mode in ("AES-GCM", "AES-CBC", "SM4-CBC"):
            with self.subTest(mode=mode):
                path = self.folder / f"{mode}.mindir"
                ms.export(flow.MLP(), ms.Tensor(f(2, 6)), file_name=str(path.with_suffix("")), file_format="MINDIR", enc_key=b"0123456789ABCDEF", enc_mode=mode)
                with self.assertRaisesRegex(TernError, f"encrypted .{mode}"):
                    tern("inspect", path)


if __name__ == "__main__":
    unittest.main()
