"""Tests `tern mini`, which finds the ops and kernels that models need. tests/mini builds libraries from its results."""

import json
import os
import pathlib

from onnx import TensorProto, helper
from support import CliTest

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"


class Mini(CliTest):
    def test_lists_the_ops_and_kernels_of_a_model(self):
        found = self.json("mini", DIGITS, "--json")
        self.assertEqual(found["models"], ["digits.tern"])
        self.assertEqual(found["ops"], ["Conv", "MatMul", "Pool", "Reduce", "Reshape", "Softmax"])
        self.assertIn("cpu.softmax.f32", found["kernels"])
        self.assertTrue(any(name.startswith("cpu.conv.") for name in found["kernels"]))
        self.assertEqual([name for name in found["kernels"] if "bf16" in name], [])
        self.assertEqual(found["references"], [])
        self.assertEqual(self.files(), [])

    def test_the_kernels_depend_on_the_instruction_set(self):
        base = self.json("mini", DIGITS, "--json", env=dict(os.environ, TERN_ISA="base"))
        self.assertEqual(base["isa"], "base")

    def test_writes_models_that_need_no_more_optimization(self):
        out = self.dir / "out"
        self.ok("mini", DIGITS, "-o", out)
        self.assertEqual(self.files(), ["out/digits.tern", "out/needed.json"])
        ops = {layer["op"] for layer in self.json("inspect", out / "digits.tern", "--json")["layers"]}
        self.assertEqual(ops, set(json.loads((out / "needed.json").read_text())["ops"]))
        self.ok("verify", DIGITS, "--against", out / "digits.tern", "--dim", "N=2")

    def nested(self):
        """A Loop whose body has a MatMul, and an op on strings, which has no kernel."""
        info, node = helper.make_tensor_value_info, helper.make_node
        body = helper.make_graph(
            [node("Identity", ["go"], ["still"]), node("MatMul", ["s", "s"], ["t"])], "body",
            [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, [2, 2])],
            [info("still", TensorProto.BOOL, []), info("t", TensorProto.FLOAT, [2, 2])])
        graph = helper.make_graph([node("Loop", ["n", "", "x"], ["y"], body=body)], "g",
                                  [info("n", TensorProto.INT64, []), info("x", TensorProto.FLOAT, [2, 2])],
                                  [info("y", TensorProto.FLOAT, [2, 2])])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)

    def test_takes_all_kernels_of_ops_in_subgraphs(self):
        found = self.json("mini", self.save(self.nested()), DIGITS, "--json")
        self.assertLessEqual({"cpu.gemm", "cpu.gemm.packed.f32", "cpu.gemm.strassen.f32"}, set(found["kernels"]))
        self.assertLessEqual({"Loop", "MatMul", "Conv"}, set(found["ops"]))
        self.assertIn("Loop", found["references"])

    def test_refuses_models_with_the_same_name(self):
        copy = self.dir / "copy/digits.onnx"
        copy.parent.mkdir()
        copy.write_bytes(DIGITS.read_bytes())
        self.refused("mini", DIGITS, copy, "-o", self.dir / "out", says=("digits.tern", str(copy)))

    def test_refuses_to_overwrite_its_input(self):
        self.ok("mini", DIGITS, "-o", self.dir)
        self.refused("mini", self.dir / "digits.tern", "-o", self.dir, says="is the input itself")

    def test_refuses_a_missing_model(self):
        self.refused("mini", self.dir / "no.onnx", says="no.onnx")
