"""Files: shapes of inputs, names, conversion to other formats, and broken or hostile archives."""

import io
import os
import pathlib
import pickle
import struct
import unittest
import zipfile
from typing import Dict, List, Optional

import numpy as np
import torch
from script_case import ScriptCase, TernError, run_model, tern
from torch import nn


class Shapes(ScriptCase):
    def check(self, path, feeds, wanted):
        got = run_model(path, feeds)
        np.testing.assert_allclose(list(got.values())[0], wanted.detach().numpy(), rtol=1e-4, atol=1e-5)

    def convert(self, model, *args):
        torch.jit.save(model, self.path)
        out = self.path.with_suffix(".tern")
        tern("convert", self.path, "-o", out, *args)
        return out

    def test_traced_models_have_an_open_batch(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)).eval()
        path = self.convert(torch.jit.trace(model, torch.zeros(1, 3, 8, 8)))
        for batch in (1, 3):
            x = torch.randn(batch, 3, 8, 8)
            self.check(path, {"input": x.numpy()}, model(x))

    def test_scripted_models_take_shapes_from_the_first_use(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)).eval()
        path = self.convert(torch.jit.script(model))
        for shape in ((1, 3, 8, 8), (2, 3, 11, 9)):
            x = torch.randn(*shape)
            self.check(path, {"input": x.numpy()}, model(x))

    def test_tokens_are_integers(self):
        model = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 2)).eval()
        path = self.convert(torch.jit.script(model))
        x = torch.tensor([[1, 2, 3], [4, 5, 8]])
        self.check(path, {"input": x.numpy()}, model(x))

    def test_shape_options(self):
        class M(nn.Module):
            def forward(self, x):
                return x + 1

        path = self.convert(torch.jit.script(M()), "--shape", "x=i64[2,3,4]")
        x = torch.arange(24).reshape(2, 3, 4)
        self.check(path, {"x": x.numpy()}, x + 1)
        path = self.convert(torch.jit.script(M()), "--shape", "x=2x3x4x1")
        self.check(path, {"x": x.float().reshape(2, 3, 4, 1).numpy()}, x.float().reshape(2, 3, 4, 1) + 1)

    def test_loops_over_open_dims(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.LSTMCell(3, 4)

            def forward(self, x):
                h, c = torch.zeros(x.size(1), 4), torch.zeros(x.size(1), 4)
                outs: List[torch.Tensor] = []
                for t in range(x.size(0)):
                    h, c = self.cell(x[t], (h, c))
                    outs.append(h)
                return torch.stack(outs)

        model = torch.jit.script(M().eval())
        path = self.convert(model, "--shape", "x=f32[T,N,3]")
        for steps in (1, 5):
            x = torch.randn(steps, 2, 3)
            self.check(path, {"x": x.numpy()}, model(x))

    def test_results_of_loops_over_open_dims(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.GRUCell(3, 4)
                self.out = nn.Linear(4, 2)

            def forward(self, x):
                h = torch.zeros(x.size(0), 4)
                outs: List[torch.Tensor] = []
                for t in range(x.size(1)):
                    h = self.cell(x[:, t], h)
                    outs.append(h)
                y = torch.stack(outs, 1).transpose(0, 1)
                return self.out(y)[-1] + torch.cat(outs, 1).size(1)

        model = torch.jit.script(M().eval())
        path = self.convert(model, "--shape", "x=f32[N,T,3]")
        for steps in (1, 5):
            x = torch.randn(2, steps, 3)
            self.check(path, {"x": x.numpy()}, model(x))

    def test_file_without_a_name(self):
        torch.jit.save(torch.jit.script(nn.Linear(3, 2).eval()), self.path)
        np.save(pathlib.Path(self.folder.name, "x.npy"), np.zeros((4, 3), np.float32))
        text = tern("run", self.path, "--input", pathlib.Path(self.folder.name, "x.npy"))
        self.assertIn("output_0", text)

    def test_onnx(self):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
        torch.jit.save(torch.jit.trace(model, torch.zeros(1, 3, 8, 8)), self.path)
        out = self.path.with_suffix(".onnx")
        tern("convert", self.path, "-o", out)
        x = torch.randn(2, 3, 8, 8)
        self.check(out, {"input": x.numpy()}, model(x))

    def test_unknown_input(self):
        torch.jit.save(torch.jit.script(nn.Linear(3, 2).eval()), self.path)
        with self.assertRaisesRegex(TernError, "has no input 'y'; its inputs are 'input'"):
            tern("convert", self.path, "-o", self.path.with_suffix(".tern"), "--shape", "y=1x3")

    def test_names(self):
        class M(nn.Module):
            def forward(self, batch: Dict[str, torch.Tensor], mask: Optional[torch.Tensor]):
                return {"logits": batch["ids"] * 2.0, "parts": batch["ids"] + 1}

        torch.jit.save(torch.jit.script(M()), self.path)
        got = run_model(self.path, {"ids": np.ones((2, 2), np.float32)})
        self.assertEqual(list(got), ["logits", "parts"])

    def test_training_mode(self):
        torch.jit.save(torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).train()), self.path)
        with self.assertRaisesRegex(TernError, "training mode; call model.eval"):
            tern("inspect", self.path)

    def test_raised_error(self):
        class M(nn.Module):
            def forward(self, x):
                if x.dim() != 7:
                    raise ValueError("seven dims, please")
                return x

        torch.jit.save(torch.jit.script(M()), self.path)
        with self.assertRaisesRegex(TernError, "raises an error: \"seven dims, please\""):
            run_model(self.path, {"x": np.ones((2, 2), np.float32)})

    def test_unsupported_operator(self):
        class M(nn.Module):
            def forward(self, x):
                return torch.linalg.eigvalsh(x)

        torch.jit.save(torch.jit.script(M()), self.path)
        with self.assertRaisesRegex(TernError, "linalg_eigvalsh"):
            run_model(self.path, {"x": np.ones((2, 2), np.float32)})


class Evil:
    def __init__(self, function, *args):
        self.function, self.args = function, args

    def __reduce__(self):
        return self.function, self.args


def text(value):
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


class Hostile(ScriptCase):
    """Archives that must be refused without running anything."""

    CODE = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n"
    MODEL = b"\x80\x02c__torch__\nM\n)\x81}b."

    def archive(self, data=MODEL, code=CODE, constants=b"\x80\x02).", compress=False, **entries):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as files:
            files.writestr("m/data.pkl", data)
            files.writestr("m/code/__torch__.py", code)
            files.writestr("m/constants.pkl", constants)
            files.writestr("m/version", "3\n")
            for name, contents in entries.items():
                files.writestr("m/" + name, contents)
        self.path.write_bytes(buffer.getvalue())
        return self.path

    def refused(self, says, *args, **kwargs):
        with self.assertRaisesRegex(TernError, f"exit 2: .*{says}"):
            tern("run", self.archive(*args, **kwargs), "--random", "1", "--shape", "x=f32[2]")

    def test_the_model_without_tricks_runs(self):
        tern("run", self.archive(), "--random", "1", "--shape", "x=f32[2]")

    def test_calls(self):
        mark = pathlib.Path(self.folder.name, "mark")
        for function, name in ((os.system, "system"), (eval, "eval"), (exec, "exec"), (__import__, "__import__"), (os.popen, "popen")):
            with self.subTest(name):
                payload = f"touch {mark}" if function in (os.system, os.popen) else f"open('{mark}', 'w')"
                for protocol in (2, 4, 5):
                    self.refused(f"{name}.*not allowed", data=pickle.dumps(Evil(function, payload), protocol))
                self.refused(f"{name}.*not allowed", constants=pickle.dumps((Evil(function, payload),), 2))
                self.assertFalse(mark.exists())

    def test_other_classes(self):
        for value, name in ((pathlib.PurePosixPath("/"), "PurePosixPath"), (np.zeros(2), "_reconstruct|numpy"), (complex(1, 2), "complex")):
            with self.subTest(name):
                self.refused(name, data=pickle.dumps(value, 2))

    def test_opcodes(self):
        for code in (b"(cos\nsystem\nX\x02\x00\x00\x00lso", b"(S'ls'\nios\nsystem\n", b"\x82\x01", b"P1\n", b"I1\n", b"V1\n"):
            with self.subTest(code):
                self.refused("not allowed", data=b"\x80\x02" + code + b".")

    def test_recursive_data(self):
        state = b"}" + text("a") + b"]q\x00h\x00as"
        self.refused("contains itself", data=b"\x80\x02c__torch__\nM\n)\x81" + state + b"b.")

    def test_deep_data(self):
        self.refused("nested more than", data=b"\x80\x02" + b"]" * 100000 + b"a" * 99999 + b".")

    def test_shared_lists(self):
        doubling = b"]q\x00" + b"".join(b"]q" + bytes([i]) + b"h" + bytes([i - 1]) + b"ah" + bytes([i - 1]) + b"a" for i in range(1, 60))
        self.refused("instead of", data=b"\x80\x02" + doubling + b"(l\x94.")

    def test_memo(self):
        self.refused("memo 4294967295 is empty", data=b"\x80\x02j\xff\xff\xff\xff.")
        self.refused("instead of a module", data=b"\x80\x02Nr\xff\xff\xff\xff.")

    def test_cut_short(self):
        for size in range(len(self.MODEL)):
            self.refused("", data=self.MODEL[:size])

    def test_large_sizes(self):
        self.refused("bytes are needed", data=b"\x80\x02X\xff\xff\xff\xffabc.")
        self.refused("bytes are needed", data=b"\x80\x04\x8d" + b"\xff" * 8 + b"abc.")
        self.refused("too large", data=b"\x80\x02\x8a\xff" + b"\x00" * 255 + b".")

    def tensor(self, offset, dims, strides, key="0"):
        def number(n):
            return b"\x8a\x08" + struct.pack("<q", n)

        def numbers(values):
            return b"(" + b"".join(map(number, values)) + b"t"

        storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(4) + b"tQ"
        value = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + numbers(dims) + numbers(strides) + b"\x89N" + b"tR"
        return b"\x80\x02c__torch__\nM\n)\x81}" + text("w") + value + b"sb."

    def test_tensors_outside_of_their_storage(self):
        for offset, dims, strides in ((1, [4], [1]), (-1, [2], [1]), (0, [5], [1]), (0, [2, 2], [3, 1]), (0, [-1], [1]), (0, [1 << 62, 4], [1, 1]),
                                      (0, [2], [-1]), (1 << 62, [2], [1]), (0, [1 << 40], [0]), (0, [2], [1 << 62])):
            with self.subTest((offset, dims, strides)):
                self.refused("", data=self.tensor(offset, dims, strides), **{"data/0": b"\0" * 16})
        self.refused("has no entry", data=self.tensor(0, [4], [1], "../../etc/passwd"), **{"data/0": b"\0" * 16})

    def test_zip_bomb(self):
        self.refused("", data=b"\0" * (1 << 27), compress=True)

    def forward(self, *lines):
        return self.CODE.replace("    return torch.relu(x)\n", "".join(f"    {line}\n" for line in lines))

    def test_endless_code(self):
        self.refused("statements at import time", code=self.forward("while True:", "  pass", "return x"))
        self.refused("nested too deep", code=self.forward("return (self).forward(x, )"))
        self.refused("more than", code=self.forward("l = [x]", "for i in range(200):", "  l = torch.add(l, l)", "return x"))
        self.refused("more than", code=self.forward("t = 'aa'", "for i in range(200):", "  t = torch.add(t, t)", "return x"))
        self.refused("", code=self.forward("l = [x]", "_ = torch.append(l, l)", "return l"))

    def test_deep_code(self):
        self.refused("nested|too long", code=self.forward("return " + "(" * 100000 + "x"))
        self.refused("nested|too long", code=self.forward("return x" + "[0]" * 100000))
        self.refused("nested|too long", code=self.forward("return " + "-" * 100000 + "x"))
        self.refused("nested|too long", code=self.forward("return x" + " + x" * 100000))
        blocks = [" " * i + "if True:" for i in range(5000)]
        self.refused("nested", code=self.forward(*blocks, " " * 5000 + "pass", "return x"))

    def test_broken_code(self):
        for line in ("return (x", "return x)", "return 'abc", "x y", "for in range(2):", "def f(", "return torch.", "import os; os.system('ls')",
                     "return __import__('os')", "return open('x')", "return os.system('ls')", "return lambda: 1", "1 = x", "return \x01"):
            with self.subTest(line):
                self.refused("", code=self.forward(line))


if __name__ == "__main__":
    unittest.main()
