"""Tests tern verify --layers, which compares each node with the reference evaluator."""

import numpy as np
from onnx import helper

from support import FLOAT, INT64, CliTest, make_model


def network():
    """Returns a model with a convolution and its epilogue, a sum along an axis, a loop and a random node."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.normal(size=(8, 3, 3, 3)).astype(np.float32), "b": rng.normal(size=8).astype(np.float32),
               "axes": np.array([2, 3]), "trips": np.array(3), "low": np.array(-1e30, np.float32)}
    body = helper.make_graph(
        [helper.make_node("Identity", ["on"], ["on_out"]), helper.make_node("Mul", ["state", "scale"], ["state_out"], "mul")],
        "body", [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("on", 9, []),
                 helper.make_tensor_value_info("state", FLOAT, [None, 8])],
        [helper.make_tensor_value_info("on_out", 9, []), helper.make_tensor_value_info("state_out", FLOAT, [None, 8])])
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("ReduceSum", ["r", "axes"], ["s"], "sum", keepdims=0),
        helper.make_node("Tanh", ["s"], ["scale"], "tanh"),
        helper.make_node("ReduceMax", ["s"], ["most"], "most", keepdims=0),
        helper.make_node("Less", ["low", "most"], ["go"], "go"),
        helper.make_node("Loop", ["trips", "go", "s"], ["y"], "loop", body=body),
        helper.make_node("RandomNormalLike", ["y"], ["z"], "noise"),
    ]
    return make_model(nodes, {"x": (FLOAT, ["N", 3, 9, 9])}, {"y": (FLOAT, ["N", 8]), "z": (FLOAT, ["N", 8])}, weights)


class VerifyLayers(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.save(network())

    def layers(self, *args, **kwargs):
        return self.json("verify", self.model, "--layers", "--dim", "N=2", "--json", *args, **kwargs)

    def test_every_node_is_compared(self):
        for args in ((), ("--accumulated",), ("--threads", 1), ("--precision", "bf16"), ("--level", "none")):
            done = self.layers(*args)
            self.assertTrue(done["ok"], done)
            found = {layer["name"]: layer for layer in done["layers"]}
            self.assertLessEqual({"conv", "sum", "tanh", "loop"}, set(found))
            self.assertEqual("relu" in found, "none" in args)
            self.assertEqual(done["layers_not_compared"], ["noise"])
            self.assertEqual(found["sum"]["output"], "f32[2,8]")
            self.assertEqual(found["conv"]["op"], "Conv")
            self.assertTrue(found["conv"]["kernel"].startswith("cpu.conv"), found["conv"])
            self.assertGreater(found["conv"]["max_abs"], 0)
            sizes = [layer["of_largest"] for layer in done["layers"]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_errors_add_up_only_when_asked_to(self):
        own, summed = ({layer["name"]: layer for layer in self.layers(*args, "--precision", "bf16")["layers"]}
                       for args in ((), ("--accumulated",)))
        self.assertLess(own["sum"]["of_largest"], 1e-6)
        self.assertGreater(summed["sum"]["of_largest"], 1e-5)

    def test_what_is_out_of_tolerance_comes_first(self):
        done = self.layers("--rtol", 0, "--atol", 0, code=1)
        right = [layer["ok"] for layer in done["layers"]]
        self.assertEqual(right, sorted(right))
        self.assertFalse(done["ok"])
        text = self.ok("verify", self.model, "--layers", "--dim", "N=2", "--rtol", 0, "--atol", 0, "--top", 1, code=1).stdout
        self.assertEqual(len(text.splitlines()), 3, text)
        self.assertIn("WRONG", text.splitlines()[1])
        self.assertIn("each fed with the reference's values; 1 not compared", text)

    def test_stored_inputs_and_outputs(self):
        x = np.random.default_rng(1).normal(size=(3, 3, 9, 9)).astype(np.float32)
        for case in ("a", "b"):
            (self.dir / "data" / case).mkdir(parents=True)
            self.npy(f"data/{case}/input_0.npy", x)
        done = self.json("verify", self.model, "--layers", "--data", self.dir / "data", "--json")
        self.assertEqual(len({layer["data"] for layer in done["layers"]}), 2)
        self.assertEqual(done["outputs"], [])
        self.assertEqual(done["layers"][0]["output"].count("3,"), 1)

    def test_options_that_make_no_sense(self):
        self.refused("verify", self.model, "--layers", "--against", self.model, says="exclude each other")
        self.refused("verify", self.model, "--accumulated", "--reference", says="--layers")
