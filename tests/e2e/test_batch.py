"""Tests --batch, which overrides a fixed batch size. Each item must have the same result as in a batch of 1. If this is
not possible, an error must name the node that prevents it."""

import numpy as np
import onnx
from onnx import helper

from support import FLOAT, CliTest, add, make_model, mlp


def head(target):
    """Returns a model with a Reshape to the constant shape `target` and a matrix product: x [1, 2, 3], y [1, 4]."""
    w = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"), helper.make_node("Reshape", ["r", "s"], ["f"], name="flat"),
             helper.make_node("MatMul", ["f", "w"], ["y"], name="product")]
    return make_model(nodes, {"x": (FLOAT, [1, 2, 3])}, {"y": (FLOAT, [1, 4])}, {"w": w, "s": np.array(target)})


def first_item():
    return make_model([helper.make_node("Gather", ["x", "i"], ["y"], axis=0, name="pick")], {"x": (FLOAT, [1, 4])}, {"y": (FLOAT, [4])},
                      {"i": np.array(0)})


def along_items(op, **attributes):
    """Returns a model with one node that computes along axis 0, such as CumSum with axis=0."""
    axis = ["axis"] if op == "CumSum" else []
    ones = ["scale"] if op == "LayerNormalization" else []
    return make_model([helper.make_node(op, ["x"] + axis + ones, ["y"], name="mix", **attributes)], {"x": (FLOAT, [1, 3])}, {"y": (FLOAT, [1, 3])},
                      {"axis": np.array(0)} if axis else {"scale": np.ones((1, 3), np.float32)} if ones else {})


def merged_softmax():
    """Returns a model that reshapes [1, 3, 4] to [3, 4] and then computes Softmax along axis 0. With a larger batch,
    axis 0 would contain the rows of all items."""
    nodes = [helper.make_node("Reshape", ["x", "rows"], ["r"]), helper.make_node("Softmax", ["r"], ["s"], axis=0, name="mix"),
             helper.make_node("Reshape", ["s", "back"], ["y"])]
    return make_model(nodes, {"x": (FLOAT, [1, 3, 4])}, {"y": (FLOAT, [1, 3, 4])}, {"rows": np.array([3, 4]), "back": np.array([1, 3, 4])})


class Batch(CliTest):
    def test_items_give_what_they_give_alone(self):
        x = np.random.default_rng(1).standard_normal((5, 2, 3)).astype(np.float32)
        for target in ([1, 6], [1, -1], [-1, 6]):
            path = self.save(head(target))
            self.ok("run", path, "--batch", 5, "--input", f"x={self.npy('x.npy', x)}", "--output-dir", self.dir / "all")
            for i in range(5):
                self.ok("run", path, "--input", f"x={self.npy('one.npy', x[i:i + 1])}", "--output-dir", self.dir / "one")
                np.testing.assert_allclose(np.load(self.dir / "all/y.npy")[i], np.load(self.dir / "one/y.npy")[0], rtol=1e-5)

    def test_every_command(self):
        path = self.save(head([1, 6]))
        self.assertEqual(self.json("run", path, "--random", 1, "--batch", 4, "--json")["outputs"]["y"]["shape"], [4, 4])
        self.assertEqual(self.json("inspect", path, "--batch", 4, "--json")["inputs"][0]["shape"], [4, 2, 3])
        self.assertEqual(self.json("bench", path, "--batch", 4, "--runs", 1, "--json")["batch"], 4)
        nodes = self.json("profile", path, "--batch", 4, "--runs", 1, "--json")["nodes"]
        self.assertTrue(any("[4,4]" in node["output"] for node in nodes))
        self.assertTrue(self.json("verify", path, "--reference", "--batch", 4, "--json")["ok"])
        for command in ("convert", "optimize"):
            for name in ("four.tern", "four.onnx"):
                self.ok(command, path, "-o", self.dir / name, "--batch", 4)
                done = self.json("run", self.dir / name, "--random", 1, "--json")
                self.assertEqual(done["outputs"]["y"]["shape"], [4, 4])
        onnx.checker.check_model(str(self.dir / "four.onnx"), full_check=True)

    def test_an_open_batch_too(self):
        self.assertEqual(self.json("run", self.save(mlp()[0]), "--random", 1, "--batch", 7, "--json")["outputs"]["y"]["shape"], [7, 3])

    def test_the_node_that_cannot_follow_is_named(self):
        path = self.save(first_item())
        self.refused("run", path, "--random", 1, "--batch", 2, says=["invalid argument", "batch of 2 in place of 1", "'pick'", "f32[batch,4]"])
        self.refused("convert", path, "-o", self.dir / "two.tern", "--batch", 2, says="'pick'")
        self.assertFalse((self.dir / "two.tern").exists())
        self.refused("run", path, "--random", 1, "--batch", 0, says="--batch")

    def test_a_node_that_mixes_items_is_named(self):
        for model in (along_items("CumSum"), along_items("LayerNormalization", axis=0), along_items("Softmax", axis=0), merged_softmax()):
            self.refused("run", self.save(model), "--random", 1, "--batch", 2, says=["invalid argument", "'mix'", "works along axis 0, which contains the items"])


class Sizes(CliTest):
    """Wrong sizes of inputs are reported as an invalid argument, not as an invalid model."""

    def test_a_batch_that_differs(self):
        path = self.save(head([1, 6]))
        x = self.npy("x.npy", np.zeros((2, 2, 3), np.float32))
        done = self.refused("run", path, "--input", f"x={x}", says=["invalid argument", "'x'", "f32[1,2,3]", "f32[2,2,3]"])
        self.assertNotIn("invalid model", done.stderr)

    def test_open_dims_that_do_not_fit(self):
        model = head([1, 6])
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
        path = self.save(model)
        x = self.npy("x.npy", np.zeros((2, 2, 3), np.float32))
        done = self.refused("run", path, "--input", f"x={x}", says=["invalid argument", "'x'", "f32[2,2,3]", "f32[N,2,3]", "'flat'"])
        self.assertNotIn("invalid model", done.stderr)
        done = self.refused("run", path, "--random", 1, "--dim", "N=2", says=["invalid argument", "--dim", "'flat'"])
        self.assertNotIn("invalid model", done.stderr)
        a, b = (self.npy(f"{n}.npy", np.zeros((n, 2), np.float32)) for n in (2, 3))
        self.refused("run", self.save(add(dims=(None, 2))), "--input", f"a={a}", "--input", f"b={b}",
                     says=["invalid argument", "'a' got f32[2,2]", "'b' got f32[3,2]", "'sum'"])
