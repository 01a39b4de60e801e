"""Tests how tern inspect shows a model's metadata and nested graphs."""

import numpy as np
import onnx
from onnx import TensorProto, helper

from support import FLOAT, CliTest, make_model, mlp


def described():
    model = mlp()[0]
    model.producer_name, model.producer_version = "pytorch", "2.4.0"
    model.domain, model.model_version, model.doc_string = "org.example", 7, "Tells apples\nfrom pears."
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    helper.set_model_props(model, {"author": "Ann", "task": "fruit"})
    return model


def nested():
    """Returns a model with an If whose then branch contains a Loop."""
    info = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Add", ["v", "x"], ["next"], name="step"), helper.make_node("Identity", ["on"], ["go"])], "body",
                             [info("i", TensorProto.INT64, []), info("on", TensorProto.BOOL, []), info("v", FLOAT, [2])],
                             [info("go", TensorProto.BOOL, []), info("next", FLOAT, [2])])
    then = helper.make_graph([helper.make_node("Loop", ["n", "", "x"], ["a"], name="repeat", body=body)], "many", [], [info("a", FLOAT, [2])])
    other = helper.make_graph([helper.make_node("Relu", ["x"], ["b"], name="once")], "one", [], [info("b", FLOAT, [2])])
    node = helper.make_node("If", ["c"], ["y"], name="choose", then_branch=then, else_branch=other)
    return make_model([node], {"c": (TensorProto.BOOL, []), "x": (FLOAT, [2])}, {"y": (FLOAT, [2])}, {"n": np.array(3)})


class Inspect(CliTest):
    def test_what_a_model_says(self):
        path = self.save(described())
        self.ok("convert", path, "-o", self.dir / "m.tern")
        for file in (path, self.dir / "m.tern"):
            text = self.ok("inspect", file).stdout
            for line in ("source     ONNX, ir_version 8", "opset      ai.onnx 17, ai.onnx.ml 3", "producer   pytorch 2.4.0",
                         "domain     org.example", "version    7", "doc        Tells apples from pears.", "metadata   author = Ann"):
                self.assertIn(f"\n{line}\n", text)
            done = self.json("inspect", file, "--json")
            self.assertEqual(done["opsets"], {"ai.onnx": 17, "ai.onnx.ml": 3})
            self.assertEqual(done["source"], {"ir_version": "8", "producer_name": "pytorch", "producer_version": "2.4.0",
                                              "domain": "org.example", "model_version": "7", "doc_string": "Tells apples\nfrom pears."})
            self.assertEqual(done["metadata"], {"author": "Ann", "task": "fruit"})

    def test_kept_on_the_way_back(self):
        self.ok("convert", self.save(described()), "-o", self.dir / "m.tern")
        self.ok("convert", self.dir / "m.tern", "-o", self.dir / "back.onnx")
        back = onnx.load(self.dir / "back.onnx")
        self.assertEqual((back.domain, back.model_version, back.doc_string), ("org.example", 7, "Tells apples\nfrom pears."))
        self.assertEqual({p.key: p.value for p in back.metadata_props}, {"author": "Ann", "task": "fruit"})

    def test_nested_graphs(self):
        path = self.save(nested())
        lines = self.ok("inspect", path).stdout.splitlines()
        order = [next(i for i, line in enumerate(lines) if line.strip().startswith(word))
                 for word in ("choose", "then graph ()", "repeat", "body graph (", "step", "else graph ()", "once")]
        self.assertEqual(order, sorted(order))
        self.assertIn("body graph (i i64[], on bool[], v f32[2]) -> (go bool[], next f32[2])", "\n".join(lines))
        done = self.json("inspect", path, "--json")
        self.assertEqual([(b["node"], b["role"], b["name"], b["nodes"]) for b in done["bodies"]],
                         [("choose", "then", "then", 3), ("repeat", "body", "body", 2), ("choose", "else", "else", 1)])
        self.assertEqual({layer["name"]: layer.get("body") for layer in done["layers"] if layer["name"] in ("choose", "repeat", "step", "once")},
                         {"choose": None, "repeat": 0, "step": 1, "once": 2})

    def test_an_inlined_graph(self):
        """The condition depends only on a shape, so that the nodes of the chosen branch run instead of the If."""
        info = helper.make_tensor_value_info
        then = helper.make_graph([helper.make_node("Relu", ["x"], ["a"], name="kept")], "t", [], [info("a", FLOAT, [2])])
        other = helper.make_graph([helper.make_node("Neg", ["x"], ["b"], name="never")], "e", [], [info("b", FLOAT, [2])])
        nodes = [helper.make_node("Size", ["x"], ["s"]), helper.make_node("Greater", ["s", "one"], ["c"]),
                 helper.make_node("If", ["c"], ["y"], name="choose", then_branch=then, else_branch=other)]
        model = make_model(nodes, {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}, {"one": np.array(1)})
        kernels = {layer["name"]: layer.get("kernel", "") for layer in self.json("inspect", self.save(model), "--json")["layers"]}
        self.assertEqual(kernels["choose"], "inlined")
        self.assertRegex(kernels["kept"], r"^cpu\.")
