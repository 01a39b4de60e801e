"""Tests --precision: which numbers are rounded, and what commands report about it."""

import json

import numpy as np
from onnx import helper, numpy_helper

from support import FLOAT, CliTest, make_model


def product():
    weight = np.random.default_rng(1).standard_normal((128, 64)).astype(np.float32)
    return make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], {"x": (FLOAT, ["batch", 128])},
                      {"y": (FLOAT, ["batch", 64])}, {"w": weight}), weight


def rounded(x):
    """Rounds to the nearest bf16, ties to even."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


class Precision(CliTest):
    def test_products_of_rounded_numbers(self):
        model, weight = product()
        x = np.random.default_rng(2).standard_normal((5, 128)).astype(np.float32)
        out = self.dir / "out"
        both = self.npy("x.npy", np.concatenate([np.eye(128, dtype=np.float32), x]))
        self.ok("run", self.save(model), "--input", f"x={both}", "--precision", "bf16", "--output-dir", out)
        # The first 128 rows of the input are the identity, so that `used` are the weights after rounding to bf16.
        used, got = np.split(np.load(out / "y.npy"), [128])
        np.testing.assert_array_equal(used, rounded(used))
        self.assertTrue((np.abs(used - weight) < np.spacing(np.abs(weight)) * 2**16).all(), "not a neighbour in bf16")
        # Weights are rounded up or down such that the sum of each column is preserved. If every weight were rounded to
        # the nearest bf16, the error of the sums would be 5e-2.
        np.testing.assert_allclose(used.sum(0), weight.sum(0), atol=5e-3)
        np.testing.assert_allclose(got, rounded(x).astype(np.float64) @ used, atol=2e-5)
        self.assertGreater(np.abs(got - x @ weight).max(), 1e-3)

    def test_kernels(self):
        model = self.save(product()[0])
        for precision, kernel in (("fp32", "cpu.gemm.packed.f32"), ("bf16", "cpu.gemm.packed.bf16")):
            found = self.json("profile", model, "--runs", 1, "--precision", precision, "--json")
            self.assertEqual([node["kernel"] for node in found["nodes"]], [kernel])
        self.ok("bench", model, "--runs", 1, "--precision", "auto")

    def test_verify_compares_with_fp32(self):
        model = self.save(product()[0])
        done = self.ok("verify", model, "--reference", "--json", "--precision", "bf16", "--atol", 1, "--dim", "batch=3")
        moved = json.loads(done.stdout)["outputs"][0]["max_abs"]
        self.assertTrue(1e-4 < moved < 0.2, moved)

    def test_verify_allows_what_bf16_does(self):
        verify = ("verify", self.save(product()[0]), "--reference", "--dim", "batch=3")
        bf16 = (*verify, "--precision", "bf16")
        self.assertIn("within rtol 0.01, atol 0.02 of the largest value, in bf16\n", self.ok(*bf16).stdout)
        found = self.json(*bf16, "--json")
        self.assertEqual([found[key] for key in ("rtol", "atol", "atol_of_largest", "precision")], [0.01, 0, 0.02, "bf16"])
        found = self.json(*verify, "--json")
        self.assertEqual([found[key] for key in ("rtol", "atol", "atol_of_largest", "precision")], [0.001, 0.0001, 0, "fp32"])

    def test_tolerances_that_are_given_win(self):
        bf16 = ("verify", self.save(product()[0]), "--reference", "--dim", "batch=3", "--precision", "bf16")
        wrong = self.ok(*bf16, "--atol", 1e-4, code=1).stdout
        for words in ("within rtol 0.01, atol 0.0001, in bf16", "rounding to bf16", "--rtol and --atol"):
            self.assertIn(words, wrong)
        found = self.json(*bf16, "--rtol", 1e-5, "--json")
        self.assertEqual([found[key] for key in ("rtol", "atol", "atol_of_largest")], [1e-5, 0, 0.02])

    def test_wrong_is_wrong_in_bf16_too(self):
        model, weight = product()
        path, other = self.save(model), self.dir / "other.onnx"
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weight * np.float32(1.05), "w"))
        self.save(model, other.name)
        self.ok("verify", path, "--against", other, "--dim", "batch=3", "--precision", "bf16", code=1)

    def test_unknown_ones_are_refused(self):
        for command in ("run", "bench", "verify", "profile"):
            self.refused(command, self.save(product()[0]), "--precision", "fp8", says=("--precision", "bf16"))
