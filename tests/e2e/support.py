"""Common code of the end-to-end tests: the command, small models, a scratch folder."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TERN = os.environ.get("TERN_BIN", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/tern"))


def run(*args, timeout=120, **kwargs):
    """Runs `tern` with these arguments. Returns the finished process, whose stdout and stderr are strings."""
    return subprocess.run([TERN, *map(str, args)], capture_output=True, text=True, timeout=timeout, check=False, **kwargs)


class CliTest(unittest.TestCase):
    """Base class of tests that run `tern`. Each test has its own scratch folder `dir`."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tern_e2e_")
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)

    def ok(self, *args, code=0, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, code, f"tern {args}\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *args, code=0, **kwargs):
        """Runs the command and returns the JSON object on stdout. Any other output on stdout fails the test."""
        return json.loads(self.ok(*args, code=code, **kwargs).stdout)

    def refused(self, *args, says=(), **kwargs):
        """Runs `tern`, which must exit with code 2, print nothing on stdout, and print one paragraph on stderr. The
        paragraph must contain the texts `says`."""
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 2, f"tern {args}\n{done.stdout}\n{done.stderr}")
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("tern: "), done.stderr)
        self.assertNotIn("\n\n", done.stderr.strip())
        self.assertLess(len(done.stderr), 4000)
        self.assertNotIn("internal error", done.stderr)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, done.stderr)
        return done

    def commands(self):
        """Returns the names of all commands that `tern --commands` lists."""
        return self.ok("--commands").stdout.split()

    def files(self):
        return sorted(str(p.relative_to(self.dir)) for p in self.dir.rglob("*") if p.is_file())

    def save(self, model, name="model.onnx"):
        path = self.dir / name
        onnx.save(model, path)
        return path

    def npy(self, name, array):
        path = self.dir / name
        np.save(path, array)
        return path


def make_model(nodes, inputs, outputs, weights=None, opset=17):
    """Returns an ONNX model. `inputs` and `outputs` are dicts from name to (type, dims)."""
    values = [[helper.make_tensor_value_info(n, t, d) for n, (t, d) in group.items()] for group in (inputs, outputs)]
    initializers = [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()]
    graph = helper.make_graph(nodes, "test", *values, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def mlp():
    """Returns (model, w, b). The model computes y = relu(x · w + b), with x [N, 4] and y [N, 3]."""
    rng = np.random.default_rng(0)
    w, b = rng.standard_normal((4, 3)).astype(np.float32), rng.standard_normal(3).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="mul"), helper.make_node("Add", ["h", "b"], ["s"], name="add"),
             helper.make_node("Relu", ["s"], ["y"], name="relu")]
    return make_model(nodes, {"x": (FLOAT, ["N", 4])}, {"y": (FLOAT, ["N", 3])}, {"w": w, "b": b}), w, b


def add(name_a="a", name_b="b", name_y="y", dtype=FLOAT, dims=("N", 2)):
    node = helper.make_node("Add", [name_a, name_b], [name_y], name="sum")
    dims = list(dims)
    return make_model([node], {name_a: (dtype, dims), name_b: (dtype, dims)}, {name_y: (dtype, dims)})


def picture_model(size=8):
    """Returns a model that computes the mean over height and width of a picture. Its output is y [1, 3, 1, 1]."""
    node = helper.make_node("GlobalAveragePool", ["image"], ["y"], name="mean")
    return make_model([node], {"image": (FLOAT, [1, 3, size, size])}, {"y": (FLOAT, [1, 3, 1, 1])})
