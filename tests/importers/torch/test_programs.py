"""Programs as a whole: archives of older versions, names, sizes of inputs, buffers that a program writes, control flow, conversions."""

import collections
import dataclasses
import pathlib
import tempfile
import unittest
import zipfile

import numpy as np
import onnxruntime
import torch
from harness import Function, check, compare, output_names, run_program, to_numpy
from run_model import TernError, run_model, tern
from torch import nn
from torch._export.serde.serialize import serialize
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch.utils import _pytree as pytree
from transformers.modeling_outputs import BaseModelOutputWithPast

AUTO = torch.export.Dim.AUTO


def save_older(program, path, extension="pt"):
    """Writes the layout of PyTorch 2.7 and older, which torch.export.load still reads."""
    parts = serialize(program)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", parts.exported_program)
        archive.writestr(f"serialized_state_dict.{extension}", parts.state_dict)
        archive.writestr(f"serialized_constants.{extension}", parts.constants)
        archive.writestr(f"serialized_example_inputs.{extension}", parts.example_inputs)
        archive.writestr("version", "8.8")


class OlderArchives(unittest.TestCase):
    def test_layout_of_2_7(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Linear(8, 3)).eval()
        with torch.no_grad():
            net[1].running_mean.normal_()
        program = torch.export.export(net, (torch.randn(5, 4),), dynamic_shapes=({0: AUTO},))
        x = torch.randn(3, 4)
        with tempfile.TemporaryDirectory() as folder:
            for extension in ("pt", "json"):
                path = pathlib.Path(folder, f"{extension}.pt2")
                save_older(program, path, extension)
                compare(self, net(x), run_model(path, {"input": x.numpy()}), 1e-3, 1e-5)

    def test_constants_and_tied_weights(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
                self.head.weight = self.words.weight
                self.register_buffer("mask", torch.ones(5, 5).tril(), persistent=False)

            def forward(self, ids):
                return self.head(self.mask @ self.words(ids)) * torch.tensor([2.0])

        net, ids = Net().eval(), torch.randint(0, 7, (2, 5))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.pt2")
            save_older(torch.export.export(net, (ids,)), path)
            compare(self, net(ids), run_model(path, {"ids": ids.numpy()}), 1e-3, 1e-5)


@dataclasses.dataclass
class Found:
    boxes: torch.Tensor
    masks: torch.Tensor | None
    scores: torch.Tensor


Pair = collections.namedtuple("Pair", "first second")
torch.export.register_dataclass(Found, serialized_type_name="test_programs.Found")
pytree._register_namedtuple(Pair, serialized_type_name="test_programs.Pair")


class OutputNames(unittest.TestCase):
    def check(self, function, *wanted):
        """`wanted` are the names of the outputs of a function of x[2,3]. `None` is the name in the program."""
        x = torch.randn(2, 3)
        program = torch.export.export(Function(function), (x,))
        given = [s.arg.name for s in program.graph_signature.output_specs]
        wanted = [name or given[i] for i, name in enumerate(wanted)]
        with tempfile.TemporaryDirectory() as folder:
            older = pathlib.Path(folder, "older.pt2")
            save_older(program, older)
            for got in (run_program(program, (x,), None), run_model(older, {program.graph_signature.user_inputs[0]: x.numpy()})):
                self.assertEqual(list(got), wanted)
                compare(self, function(x), got, 1e-5, 1e-6)
        return program

    def test_dicts(self):
        names = ["logits", "hidden_0", "hidden_1", "more_a_0", "more_b"]
        program = self.check(lambda x: {"logits": x + 1, "hidden": (x * 2, x * 3), "more": {"a": [x - 1], "b": x.sum()}}, *names)
        self.assertEqual(output_names(program), names)
        self.check(lambda x: collections.OrderedDict(b=x + 1, a=x * 2), "b", "a")
        self.check(lambda x: collections.defaultdict(list, {"k": [x + 1, x * 2]}), "k_0", "k_1")
        self.check(lambda x: {3: x + 1, "4": x * 2}, "3", "4")

    def test_classes(self):
        self.check(lambda x: Found(x + 1, None, x * 2), "boxes", "scores")
        self.check(lambda x: Pair(x + 1, {"second": x * 2}), "first", "second_second")
        self.check(lambda x: BaseModelOutputWithPast(last_hidden_state=x + 1, hidden_states=(x * 2, x * 3)),
                   "last_hidden_state", "hidden_states_0", "hidden_states_1")

    def test_without_keys(self):
        self.check(lambda x: x + 1, None)
        self.check(lambda x: (x + 1, [x * 2, x * 3]), None, None, None)
        self.check(lambda x: (x + 1, {"k": x * 2}), None, "k")

    def test_names_stay_unique(self):
        self.check(lambda x: [{"k": x + 1}, {"k": x * 2}], "k", "k_1")
        self.check(lambda x: {"a": [x + 1], "a_0": x * 2}, "a_0", "a_0_1")

        class Net(nn.Module):
            def forward(self, x, y):
                return {"x": x + y, "y": x, "z": y}

        x, y = torch.randn(2, 3), torch.randn(2, 3)
        got = run_program(torch.export.export(Net(), (x, y)), (x, y), None)
        self.assertEqual(list(got), ["x_1", "y_1", "z"])
        compare(self, Net()(x, y), got, 1e-5, 1e-6)

    def test_names_of_states(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("sums", torch.zeros(2, 3))

            def forward(self, x):
                self.sums.add_(x)
                return {"sums": self.sums * 2, "x": x}

        x = torch.randn(2, 3)
        for core in (False, True):
            program = torch.export.export(Net(), (x,))
            got = run_program(program.run_decompositions() if core else program, (x,), None)
            self.assertEqual(list(got), ["sums_1", "x_1"])
            compare(self, {"sums": x * 2, "x": x}, got, 1e-5, 1e-6)


class SharedSizes(unittest.TestCase):
    def test_inputs_with_one_symbol(self):
        class Net(nn.Module):
            def forward(self, x, y):
                return x.sum(1) + y.sum()

        net, batch = Net(), torch.export.Dim("batch")
        program = torch.export.export(net, (torch.randn(3, 4), torch.randn(3, 5)), dynamic_shapes=({0: batch}, {0: batch}))
        x, y, other = torch.randn(2, 4), torch.randn(2, 5), torch.randn(4, 5)
        with self.assertRaises((AssertionError, RuntimeError)):
            program.module()(x, other)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.pt2")
            torch.export.save(program, path)
            models = [path, path.with_suffix(".tern"), path.with_suffix(".onnx")]
            for model in models:
                if model != path:
                    tern("convert", path, "-o", model)
                compare(self, net(x, y), run_model(model, {"x": x.numpy(), "y": y.numpy()}), 1e-5, 1e-5)
                with self.assertRaisesRegex(TernError, r"input 'y': dimension 0 \(\w+\) is 4, but input 'x' has 2 for \w+ in dimension 0"):
                    run_model(model, {"x": x.numpy(), "y": other.numpy()})

    def test_sizes_with_an_expression(self):
        class Net(nn.Module):
            def forward(self, x, y):
                return x.sum() + y[1:].sum()

        net, length = Net(), torch.export.Dim("length", min=3)
        program = torch.export.export(net, (torch.randn(5), torch.randn(6)), dynamic_shapes=({0: length}, {0: length + 1}))
        x = torch.randn(4)
        compare(self, net(x, torch.ones(5)), run_program(program, (x, torch.ones(5)), None), 1e-5, 1e-5)
        with self.assertRaisesRegex(TernError, r"input 'y' must be .*: dimension 0 is 7 instead of 5"):
            run_program(program, (x, torch.ones(7)), None)


class Cache(nn.Module):
    """Three buffers: one starts at zero, one does not, one is written in part."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sums", torch.zeros(2, 3))
        self.register_buffer("count", torch.full((1,), 5, dtype=torch.int64))
        self.register_buffer("ring", torch.zeros(4, 3))
        self.register_buffer("factor", torch.full((3,), 1.5))

    def forward(self, x):
        self.sums.add_(x)
        self.count += 1
        self.ring[1:3] = x * self.factor
        return self.sums * self.count + self.ring[:2]


class Buffers(unittest.TestCase):
    def check(self, core):
        torch.manual_seed(0)
        net, xs = Cache(), [torch.randn(2, 3) for _ in range(3)]
        program = torch.export.export(Cache(), (xs[0],))
        program = program.run_decompositions() if core else program
        wanted = [net(x).numpy() for x in xs]
        with tempfile.TemporaryDirectory() as folder:
            path, converted = pathlib.Path(folder, "model.pt2"), pathlib.Path(folder, "model.onnx")
            torch.export.save(program, path)
            first = run_model(path, {"x": xs[0].numpy()})
            self.assertEqual(len(first), 1)
            np.testing.assert_allclose(next(iter(first.values())), wanted[0], rtol=1e-5)
            # ONNX has no states: they are inputs and outputs there.
            tern("convert", path, "-o", converted)
            states = {"sums": np.zeros((2, 3), "f4"), "count": np.zeros(1, "i8"), "ring": np.zeros((4, 3), "f4"), "started": np.array(False)}
            for x, w in zip(xs, wanted):
                got = run_model(converted, {"x": x.numpy(), **states})
                np.testing.assert_allclose(got[next(iter(first))], w, rtol=1e-5)
                states = {name: got[f"{name}.next"] for name in states}
            np.testing.assert_allclose(states["ring"], net.ring.numpy(), rtol=1e-5)

    def test_in_place(self):
        self.check(core=False)

    def test_returned(self):
        self.check(core=True)


class ControlFlow(unittest.TestCase):
    def test_scan(self):
        def step(carry, x):
            carry = carry * 0.5 + x.sum(-1, keepdim=True)
            return carry, torch.sin(carry) * x

        for core in (False, True):
            check(self, lambda c, x: scan(step, c, x), (torch.randn(3, 1), torch.randn(5, 3, 4)), decompose=core)

    def test_scan_of_several_values(self):
        def step(carry, xs):
            a, b = carry
            x, y = xs
            return [a + x, b * y], [a * b, x - y]

        for core in (False, True):
            args = ([torch.randn(2), torch.randn(2)], [torch.randn(6, 2), torch.randn(6, 2)])
            check(self, lambda c, x: scan(step, c, x), args, decompose=core)

    def test_reversed_scan(self):
        check(self, lambda c, x: scan(lambda c, x: (c + x, c * x), c, x, reverse=True), (torch.randn(3), torch.randn(4, 3)))

    def test_map(self):
        for core in (False, True):
            check(self, lambda x, w: torch_map(lambda row, w: torch.relu(row @ w).cumsum(0), x, w),
                  (torch.randn(5, 3, 4), torch.randn(4, 2)), decompose=core)


class ProjectedLstm(unittest.TestCase):
    def test_projections(self):
        torch.manual_seed(0)
        for options in ({}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True, "batch_first": True}, {"bias": False}):
            with self.subTest(**options):
                batch = 0 if options.get("batch_first") else 1
                more = [(torch.randn(5, 2, 3) if batch == 0 else torch.randn(4, 5, 3),)]
                check(self, nn.LSTM(3, 6, proj_size=2, **options), (torch.randn(4, 2, 3),), dynamic=({batch: AUTO},), more=more)
        check(self, nn.LSTM(3, 6, proj_size=2), (torch.randn(4, 3),))


class Conversions(unittest.TestCase):
    def test_tern_and_onnx(self):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.SiLU(), nn.Flatten(2), nn.TransformerEncoderLayer(9, 3, 16, batch_first=True)).eval()
        x = torch.randn(2, 3, 8, 8)
        for core in (False, True):
            program = torch.export.export(net, (x,), dynamic_shapes=({0: AUTO},))
            program = program.run_decompositions() if core else program
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "model.pt2")
                names = list(run_program(program, (x,), None, keep=path))
                for extension in ("tern", "onnx"):
                    converted = pathlib.Path(folder, f"model.{extension}")
                    tern("convert", path, "-o", converted)
                    got = run_model(converted, {"input": to_numpy(x)})
                    self.assertEqual(list(got), names)
                    compare(self, net(x), got, 1e-3, 1e-5)
                session = onnxruntime.InferenceSession(str(converted), providers=["CPUExecutionProvider"])
                results = session.run(names, {"input": to_numpy(x)})
                compare(self, net(x), dict(zip(names, results)), 1e-3, 1e-5)


if __name__ == "__main__":
    unittest.main()
