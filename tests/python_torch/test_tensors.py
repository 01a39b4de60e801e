"""torch tensors as inputs and outputs of predictors, and models that torch exports."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch
from torch import nn

import tern

ROOT = pathlib.Path(__file__).resolve().parents[2]


def graph(dtype):
    return tern.Graph.parse(f"graph @twice(%x: {dtype}[N,M]) -> (%y) {{\n  %y = Concat(%x, %x)\n}}")


class Tensors(unittest.TestCase):
    def test_types(self):
        for dtype, name in ((torch.float32, "f32"), (torch.float64, "f64"), (torch.float16, "f16"), (torch.bfloat16, "bf16"),
                            (torch.int64, "i64"), (torch.int8, "i8"), (torch.uint8, "u8"), (torch.bool, "bool")):
            with self.subTest(name):
                predictor = tern.load(graph(name))
                for x in (torch.randint(0, 2, (2, 3)).to(dtype), torch.randint(0, 2, (3, 2)).to(dtype).t(),
                          torch.randint(0, 2, (4, 6)).to(dtype)[::2, ::2], torch.zeros(0, 3, dtype=dtype)):
                    y = torch.from_dlpack(predictor(x)["y"]) if name != "bf16" else self.bf16(predictor(x)["y"])
                    torch.testing.assert_close(y, torch.cat([x, x]))

    @staticmethod
    def bf16(array):
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)

    def test_bound_output(self):
        for dtype, name in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
            x, y = torch.randn(2, 3).to(dtype), torch.empty(4, 3, dtype=dtype)
            tern.load(graph(name)).run({"x": x}, out={"y": y})
            torch.testing.assert_close(y, torch.cat([x, x]))

    def test_a_tensor_that_requires_grad(self):
        x = torch.ones(2, 3, requires_grad=True)
        self.assertEqual(tern.load(graph("f32"))(x)["y"].tolist(), [[1.0] * 3] * 4)

    def test_bf16_for_an_input_of_another_type(self):
        self.assertEqual(tern.load(graph("f32"))(torch.ones(3, 2, dtype=torch.bfloat16).t())["y"].tolist(), [[1.0] * 3] * 4)

    def test_a_tensor_of_another_type(self):
        with self.assertRaisesRegex(tern.InvalidArgument, r"must be f32\[N,M\], got f64\[2,3\]; convert it with \.to\(torch\.float32\)$"):
            tern.load(graph("f32"))(torch.ones(2, 3, dtype=torch.float64))

    def test_bf16_is_not_converted_to_integers(self):
        x = torch.ones(3, 2, dtype=torch.bfloat16).t()
        self.assertEqual(self.bf16(tern.load(graph("bf16"))(x)["y"]).tolist(), [[1.0] * 3] * 4)
        for name in ("i16", "u16", "i32", "bool"):
            for error in (TypeError, tern.InvalidArgument):
                with self.assertRaisesRegex(error, "input 'x' takes [a-z]*[0-9]*, got a bfloat16 tensor; convert it first"):
                    tern.load(graph(name))(x)


class Models(unittest.TestCase):
    """Objects of torch that tern.load does not read. What the errors say works."""

    def setUp(self):
        self.model, self.x = nn.Linear(3, 2).eval(), torch.ones(1, 3)

    def refuse(self, model, text):
        with self.assertRaisesRegex(TypeError, text):
            tern.load(model)

    def check(self, path):
        torch.testing.assert_close(torch.from_dlpack(tern.load(path)(self.x)[0]), self.model(self.x).detach(), atol=1e-5, rtol=1e-5)

    def test_programs(self):
        program = torch.export.export(self.model, (self.x,))
        self.refuse(self.model, r"torch\.export\.save\(torch\.export\.export\(model.*torch\.compile\(model, backend=\"tern\"\)")
        self.refuse(torch.compile(self.model), "torch.export.save")
        self.refuse(program, r"torch\.export\.save\(program")
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(program, pathlib.Path(folder, "model.pt2"))
            self.check(pathlib.Path(folder, "model.pt2"))

    def test_scripts(self):
        for script in (torch.jit.script(self.model), torch.jit.trace(self.model, self.x)):
            self.refuse(script, r"torch\.jit\.save\(model, \"model\.pt\"\)")
            with tempfile.TemporaryDirectory() as folder:
                torch.jit.save(script, str(pathlib.Path(folder, "model.pt")))
                self.check(pathlib.Path(folder, "model.pt"))


class Exports(unittest.TestCase):
    def test_export_with_external_data(self):
        torch.manual_seed(0)
        model, x = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.LazyLinear(5)).eval(), torch.randn(2, 3, 16, 16)
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            expected = model(x)
            path = pathlib.Path(folder, "model.onnx")
            torch.onnx.export(model, (x,), path, dynamo=True, external_data=True, verbose=False, dynamic_shapes=({0: "batch"},))
            self.assertTrue(pathlib.Path(folder, "model.onnx.data").exists())
            predictor = tern.load(path)
            torch.testing.assert_close(torch.from_dlpack(predictor(x)[0]), expected, atol=1e-4, rtol=1e-4)
            torch.testing.assert_close(torch.from_dlpack(predictor(x[:1])[0]), expected[:1], atol=1e-4, rtol=1e-4)


class EntryPoint(unittest.TestCase):
    def test_the_name_works_without_an_import(self):
        """Writes the metadata that an installed package has, with the entry point of pyproject.toml."""
        lines = (ROOT / "pyproject.toml").read_text().splitlines()
        at = lines.index("[project.entry-points.torch_dynamo_backends]")
        entry = lines[at + 1].replace('"', "")
        script = "import torch; print(torch.compile(torch.relu, backend='tern', options={'fallback': False})(torch.tensor([-1.0, 2.0])).tolist())"
        with tempfile.TemporaryDirectory() as folder:
            info = pathlib.Path(folder, "tern_entry-1.0.dist-info")
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tern-entry\nVersion: 1.0\n")
            (info / "entry_points.txt").write_text(f"[torch_dynamo_backends]\n{entry}\n")
            package = pathlib.Path(importlib.util.find_spec("tern").origin).parents[1]
            code = f"import sys; sys.path[:0] = {[folder, str(package)]!r}; {script}"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.strip(), "[0.0, 2.0]", done.stderr)


if __name__ == "__main__":
    unittest.main()
