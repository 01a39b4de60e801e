"""Tests tern quantize --weights and --dynamic: files, errors, accuracy, and the same results in onnxruntime."""

import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from support import FLOAT, CliTest, make_model

INPUTS, HIDDEN, OUTPUTS = 80, 128, 64
FORMS = {
    # options: least signal-to-noise ratio of the result in dB, and the largest share of the weights' bytes
    ("--weights", "int4"): (15, 0.16),
    ("--weights", "int4", "--block", "64"): (14, 0.15),
    ("--weights", "int8"): (35, 0.27),
    ("--weights", "int8", "--block", "32"): (38, 0.29),
    ("--dynamic",): (33, 0.27),
}


def network():
    random = np.random.default_rng(5)
    weights = {"w1": random.standard_normal((INPUTS, HIDDEN)).astype(np.float32) / 9,
               "b1": random.standard_normal(HIDDEN).astype(np.float32),
               "w2": random.standard_normal((OUTPUTS, HIDDEN)).astype(np.float32) / 11}
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h"], "first"), helper.make_node("Add", ["h", "b1"], ["s"]),
             helper.make_node("Tanh", ["s"], ["t"]), helper.make_node("Gemm", ["t", "w2"], ["y"], "second", transB=1)]
    return make_model(nodes, {"x": (FLOAT, ["N", INPUTS])}, {"y": (FLOAT, ["N", OUTPUTS])}, weights)


def rows(count, seed=1):
    """Rows of correlated numbers, as in networks."""
    random = np.random.default_rng(seed)
    mix = np.random.default_rng(0).standard_normal((10, INPUTS))
    return (random.standard_normal((count, 10)) @ mix + 0.3 * random.standard_normal((count, INPUTS))).astype(np.float32)


def decibels(want, got):
    return 10 * np.log10((want**2).sum() / ((want - got)**2).sum())


def run_onnxruntime(model, x):
    """Runs the model as it is. When onnxruntime fuses DequantizeLinear and MatMul, it rounds rows to 8 bits."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


class QuantizeWeights(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.save(network())
        self.x = rows(40)
        np.save(self.dir / "x.npy", self.x)
        self.want = run_onnxruntime(self.model, self.x)

    def run_tern(self, model):
        self.ok("run", model, "--input", f"x={self.dir / 'x.npy'}", "--output-dir", self.dir / "out")
        return np.load(self.dir / "out/y.npy")

    def test_results_stay_near_those_of_f32(self):
        for options, (least, share) in FORMS.items():
            with self.subTest(options=options):
                out = self.dir / "q.tern"
                report = self.json("quantize", self.model, "-o", out, *options, "--json")
                self.assertEqual(len(report["layers"]), 2)
                self.assertLess(report["weight_bytes"]["after"], share * report["weight_bytes"]["before"])
                self.assertGreater(decibels(self.want, self.run_tern(out)), least)

    def test_onnxruntime_gives_the_same_results(self):
        for options in FORMS:
            with self.subTest(options=options):
                out = self.dir / "q.onnx"
                self.ok("quantize", self.model, "-o", out, *options)
                np.testing.assert_allclose(self.run_tern(out), run_onnxruntime(out, self.x), rtol=1e-4, atol=1e-4)

    def test_the_file_keeps_four_bits(self):
        self.ok("quantize", self.model, "-o", self.dir / "q.onnx", "--weights", "int4")
        types = {tensor.data_type for tensor in onnx.load(self.dir / "q.onnx").graph.initializer}
        self.assertIn(onnx.TensorProto.INT4, types)
        self.ok("optimize", self.dir / "q.onnx", "-o", self.dir / "o.onnx")
        self.assertIn("MatMulNBits", [node.op_type for node in onnx.load(self.dir / "o.onnx").graph.node])
        np.testing.assert_allclose(self.run_tern(self.dir / "o.onnx"), self.run_tern(self.dir / "q.onnx"), rtol=1e-4, atol=1e-4)

    def test_gptq_and_adaround_beat_rounding_to_nearest_on_every_layer(self):
        np.savez(self.dir / "calib.npz", x=rows(300, 2))
        means = {}
        for method in ("nearest", "gptq", "awq", "adaround"):
            report = self.json("quantize", self.model, "-o", self.dir / "q.tern", "--weights", "int4", "--weight-method", method,
                               "--calib", self.dir / "calib.npz", "--json")
            means[method] = [layer["sqnr_db"] for layer in report["layers"]]
        for method in ("gptq", "adaround"):
            for nearest, better in zip(means["nearest"], means[method]):
                self.assertGreater(better, nearest, method)
            self.assertGreater(np.mean(means[method]), np.mean(means["nearest"]) + 2, method)
        self.assertGreaterEqual(np.mean(means["awq"]), np.mean(means["nearest"]) - 0.1)

    def test_keeps_named_layers_float(self):
        report = self.json("quantize", self.model, "-o", self.dir / "q.tern", "--weights", "int8", "--keep-float", "first", "--json")
        self.assertEqual([layer["name"] for layer in report["layers"]], ["second"])
        self.refused("quantize", self.model, "-o", self.dir / "r.tern", "--weights", "int8", "--keep-float", "third", says="third")

    def test_refuses_bad_options_and_data_without_a_file(self):
        out = self.dir / "r.tern"
        np.savez(self.dir / "nan.npz", x=np.full((3, INPUTS), np.nan, np.float32))
        np.savez(self.dir / "narrow.npz", x=rows(3)[:, 1:])
        np.savez(self.dir / "empty.npz", x=rows(0))
        cases = [(("--weights", "int4", "--block", "20"), "multiple of 32"),
                 (("--weights", "int4", "--weight-method", "gptq"), "calibration data"),
                 (("--weights", "int4", "--method", "kl", "--calib", self.dir / "nan.npz"), "--method"),
                 (("--dynamic", "--weights", "int4"), "--dynamic"),
                 (("--block", "32", "--calib", self.dir / "nan.npz"), "--block"),
                 (("--weights", "int4", "--weight-method", "gptq", "--calib", self.dir / "nan.npz"), "NaN"),
                 (("--weights", "int4", "--weight-method", "gptq", "--calib", self.dir / "narrow.npz"), "79"),
                 (("--weights", "int4", "--weight-method", "awq", "--calib", self.dir / "none.npz"), "none.npz"),
                 (("--weights", "int4", "--weight-method", "adaround"), "calibration data"),
                 (("--weights", "int4", "--weight-method", "adaround", "--calib", self.dir / "empty.npz"), "contains no samples"),
                 (("--dynamic", "--calib", self.dir / "nan.npz"), "NaN")]
        for options, says in cases:
            with self.subTest(options=options):
                self.refused("quantize", self.model, "-o", out, *options, says=says)
                self.assertFalse(out.exists())

    def test_refuses_options_that_have_no_effect(self):
        out = self.dir / "r.tern"
        np.savez(self.dir / "calib.npz", x=rows(3))
        page = self.dir / "page.html"
        unused = (("--percentile", "99"), ("--bits", "16"), ("--symmetric",), ("--per-tensor",), ("--equalize",), ("--no-bias-correction",),
                  ("--rounding", "nearest"), ("--state", self.dir / "state.npz"), ("--min-sqnr", "20"), ("--fastest",), ("--layers",),
                  ("--sensitivity",), ("--html", page), ("--images", self.dir / "calib.npz"), ("--labels", "stem"))
        for form in (("--weights", "int4"), ("--dynamic",)):
            for option in unused:
                with self.subTest(form=form, option=option):
                    self.refused("quantize", self.model, "-o", out, *form, "--calib", self.dir / "calib.npz", *option,
                                 says=[option[0], "cannot be used with --weights or --dynamic"])
                    self.assertFalse(out.exists() or page.exists())
            for option in (("--samples", "2"), ("--preprocess", "none")):
                self.refused("quantize", self.model, "-o", out, *form, *option, says=[option[0], "has no effect without calibration data"])
            self.ok("quantize", self.model, "-o", out, *form, "--calib", self.dir / "calib.npz", "--samples", "2")
            out.unlink()


if __name__ == "__main__":
    unittest.main()
