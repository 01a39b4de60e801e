"""Writes the sample models of tests/importers/mindir/samples, which the default tests run without MindSpore."""

import pathlib
import shutil
import tempfile

import mindspore as ms
import networks_flow as flow
import networks_text as text
import networks_vision as vision
import numpy as np
from mind import export, flat, input_names, tensors
from mindspore import Tensor, nn, ops

HERE = pathlib.Path(__file__).resolve().parent
_random = np.random.default_rng(5)


def f(*shape):
    return _random.normal(0, 1, shape).astype(np.float32)


class TinyConvNet(nn.Cell):
    """Padding modes, depthwise convolution, normalisation and pooling."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(vision.conv(2, 4, 3, 2), nn.BatchNorm2d(4), nn.ReLU6(), vision.conv(4, 4, 3, 1, group=4),
                                        nn.HSwish(), nn.MaxPool2d(2, 2, pad_mode="same"))
        self.head = nn.Dense(4, 3)

    def construct(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class TinyLstm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(2, 3, batch_first=True)

    def construct(self, x):
        y, (h, c) = self.layer(x)
        return y, h, c


class Batch(nn.Cell):
    """A batch of any size."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 2)

    def construct(self, x):
        y = self.layer(x)
        return ops.concat((y, x[:, :1]), 1), ops.softmax(y, -1).sum(0)


def i32(value):
    return np.array(value, np.int32)


# Name → (network, inputs, declared inputs or None).
SAMPLES = {
    "convnet": (TinyConvNet, [f(1, 2, 9, 9)], None),
    "mlp": (flow.MLP, [f(2, 6)], None),
    "attention": (lambda: text.Attention(4, 2, causal=True), [f(1, 3, 4), f(1, 3, 4)], None),
    "lstm": (TinyLstm, [f(1, 4, 2)], None),
    "branches": (flow.Branches, [f(2, 3)], None),
    "while": (flow.WhileLoop, [f(1, 4), i32(3)], None),
    "nested_loops": (flow.NestedLoops, [f(2, 2), i32(4)], None),
    "break": (flow.BreakingLoop, [np.full((2, 2), 1.5, np.float32)], None),
    "dynamic": (Batch, [f(3, 4)], [Tensor(shape=[None, 4], dtype=ms.float32)]),
    "half": (flow.Half, [f(2, 8)], None),
    "shared_weights": (flow.SharedWeights, [f(4, 4), f(4, 4)], None),
}


def main():
    for name, (make, inputs, declared) in SAMPLES.items():
        ms.set_seed(1)
        network = make()
        for parameter in network.get_parameters():
            low, high = (0.5, 1.5) if "variance" in parameter.name else (-0.5, 0.5)
            parameter.set_data(Tensor(_random.uniform(low, high, parameter.shape).astype(np.float32)))
        folder = HERE / "samples" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as temporary:
            path = export(network, declared or tensors(inputs), temporary)
            (folder / "model.mindir").write_bytes(path.read_bytes())
        wanted = flat(network(*tensors(inputs)))
        names = output_names(folder / "model.mindir")
        assert len(names) == len(wanted)
        arrays = {f"in.{k}": v for k, v in zip(input_names(folder / "model.mindir"), inputs)}
        np.savez_compressed(folder / "data.npz", **arrays, **{f"out.{k}": v for k, v in zip(names, wanted)})
        if name == "half":
            (folder / "options.json").write_text('{"rtol": 1e-2, "atol": 1e-2}\n')


def output_names(path):
    import json

    from run_model import tern

    return [o["name"] for o in json.loads(tern("inspect", path, "--json"))["outputs"]]


if __name__ == "__main__":
    main()
