"""Tests standard input and output as files, NaN results, full disks and symbolic links."""

import io
import json
import os
import resource
import subprocess

import numpy as np
from onnx import TensorProto, helper

from support import FLOAT, TERN, CliTest, add, make_model, mlp, picture_model
from test_run import png


def unary(op, dims=(3,)):
    return make_model([helper.make_node(op, ["x"], ["y"])], {"x": (FLOAT, list(dims))}, {"y": (FLOAT, list(dims))})


class Streams(CliTest):
    def piped(self, data, *args):
        done = subprocess.run([TERN, *map(str, args)], input=data, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def outputs(self, data, *args):
        return {name: value["data"] for name, value in json.loads(self.piped(data, *args, "--json"))["outputs"].items()}

    def test_standard_input_of_every_kind(self):
        path, x = self.save(unary("Neg")), np.array([1, 2, 3], np.float32)
        npy, npz = io.BytesIO(), io.BytesIO()
        np.save(npy, x)
        np.savez(npz, x=x)
        for data in (npy.getvalue(), npz.getvalue(), b"[1, 2, 3]", b"1 2 3\n", b"1,2,3\n", b"1\n2\n3"):
            for argument in ("x=-", "-"):
                self.assertEqual(self.outputs(data, "run", path, "--input", argument), {"y": [-1, -2, -3]}, data)
        self.assertEqual(self.outputs(b'{"x": [1, 2, 3]}', "run", path, "--input", "-"), {"y": [-1, -2, -3]})

    def test_a_picture_and_strings(self):
        pixels = np.zeros((8, 8, 3))
        pixels[..., 1] = 255
        done = self.outputs(png(pixels), "run", self.save(picture_model()), "--input", "-", "--resize", "8")
        np.testing.assert_allclose(np.ravel(done["y"]), [0, 1, 0])
        text = make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": (TensorProto.STRING, ["N"])},
                          {"y": (TensorProto.STRING, ["N"])})
        self.assertEqual(self.outputs(b"hello, world\n[x]\n", "run", self.save(text), "--input", "x=-"), {"y": ["hello, world", "[x]"]})

    def test_named_tables(self):
        self.assertEqual(self.outputs(b"a,b\n1,2\n3,4\n", "run", self.save(add(dims=("N", 1))), "--input", "-"), {"y": [[3], [7]]})

    def test_standard_input_is_read_once(self):
        self.refused("run", self.save(add()), "--input", "a=-", "--input", "b=-", input="1 2", says=["standard input", "twice"])
        self.refused("bench", self.save(unary("Neg")), "--input", "x=-", "--rounds", input="1 2 3", says=["--rounds", "standard input"])
        self.refused("run", self.save(unary("Neg")), "--input", "x=-", input="one", says="standard input")

    def test_standard_output(self):
        path = self.save(unary("Neg"))
        for kind, read in {"npy": np.load, "npz": lambda f: np.load(f)["y"], "txt": np.loadtxt,
                           "json": lambda f: json.load(f)["y"]["data"]}.items():
            out = self.piped(b"1 2 3", "run", path, "--input", "x=-", "--output-dir", "-", "--format", kind)
            np.testing.assert_array_equal(read(io.BytesIO(out)), [-1, -2, -3])
        self.assertEqual(self.files(), ["model.onnx"])
        self.refused("run", path, "--random", 1, "--output-dir", "-", "--json", says=["--output-dir -", "--json"])

    def test_standard_output_of_many(self):
        nodes = [helper.make_node("Neg", ["x"], ["y"]), helper.make_node("Abs", ["x"], ["z"])]
        path = self.save(make_model(nodes, {"x": (FLOAT, [2])}, {"y": (FLOAT, [2]), "z": (FLOAT, [2])}))
        self.refused("run", path, "--random", 1, "--output-dir", "-", says=["one tensor", "2 outputs", "npz"])
        out = np.load(io.BytesIO(self.piped(b"1 -2", "run", path, "--input", "-", "--output-dir", "-", "--format", "npz")))
        np.testing.assert_array_equal(out["z"], [1, 2])


class NotNumbers(CliTest):
    def test_a_note(self):
        x = self.npy("x.npy", np.array([-1, -2, -3], np.float32))
        done = self.ok("run", self.save(unary("Sqrt")), "--input", f"x={x}", "--json")
        self.assertEqual(done.stderr, "tern: note: output 'y': all 3 elements are NaN\n")
        output = json.loads(done.stdout)["outputs"]["y"]
        self.assertEqual([output["nan"], output["inf"]], [3, 0])
        x = self.npy("x.npy", np.array([-1, 0, 1], np.float32))
        done = self.ok("run", self.save(unary("Log")), "--input", f"x={x}")
        self.assertEqual(done.stderr, "tern: note: output 'y': 1 of 3 elements are NaN, 1 infinite\n")
        done = self.ok("verify", self.save(unary("Log")), "--reference", "--random", 1)
        self.assertIn("NaN", done.stderr)

    def test_no_note(self):
        done = self.ok("run", self.save(unary("Abs")), "--random", 1, "--json")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("nan", json.loads(done.stdout)["outputs"]["y"])


class Files(CliTest):
    def large(self):
        w = np.random.default_rng(0).standard_normal((200, 200)).astype(np.float32)
        return make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (FLOAT, [1, 200])}, {"y": (FLOAT, [1, 200])}, {"w": w})

    def test_a_full_disk_is_told_and_leaves_nothing(self):
        path = self.save(self.large())

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

        for command in ("optimize", "convert"):
            for name, *options in (("out.tern",), ("out.onnx",), ("out.onnx", "--external-data")):
                self.refused(command, path, "-o", self.dir / name, *options, preexec_fn=small_files,
                             says=[f"cannot write '{self.dir / name}", os.strerror(27)])
                self.assertEqual([p.name for p in self.dir.iterdir()], ["model.onnx"])
        self.refused("optimize", path, "--html", "/dev/full", says=["/dev/full", os.strerror(28)])

    def test_links_stay_and_their_target_is_written(self):
        path = self.save(mlp()[0])
        (self.dir / "far").mkdir()
        for name in ("m.tern", "m.onnx"):
            link, file = self.dir / name, self.dir / "far" / f"real_{name}"
            link.symlink_to(file)
            for command in ("convert", "optimize"):
                self.ok(command, path, "-o", link)
                self.assertTrue(link.is_symlink())
                self.ok("inspect", file)
                file.unlink()
        self.assertEqual(list((self.dir / "far").iterdir()), [])
        self.refused("convert", path, "-o", self.dir / "m.onnx", "--external-data", says=["m.onnx", "symbolic link"])
        (self.dir / "self.onnx").symlink_to(path)
        self.refused("convert", path, "-o", self.dir / "self.onnx", says="the input itself")
