"""Tests tern quantize and tern eval: files, errors, accuracy of small classifiers, and other engines."""

import json
import pathlib
import shutil
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper

from support import FLOAT, CliTest, make_model

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/digits"
METHODS = ("minmax", "ema", "percentile", "mse", "kl", "admm", "eq")


def network():
    """A convolutional network with a residual, batch normalization, a Concat and a classifier."""
    random = np.random.default_rng(3)
    weights = {}

    def weight(name, *dims):
        weights[name] = (random.standard_normal(dims) / np.sqrt(np.prod(dims[1:]) or 1)).astype(np.float32)
        return name

    def conv(name, x, y, out, channels, kernel):
        pad = kernel // 2
        return helper.make_node("Conv", [x, weight(f"{name}_w", out, channels, kernel, kernel), weight(f"{name}_b", out)], [y], name,
                                pads=[pad] * 4)

    for name in ("scale", "mean"):
        weight(name, 8)
    weights["variance"] = np.full(8, 0.5, np.float32)
    weights["shift"] = np.full(8, 0.1, np.float32)
    nodes = [
        conv("stem", "x", "a", 8, 3, 3),
        helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        conv("block", "r", "c", 8, 8, 3),
        helper.make_node("Add", ["c", "r"], ["s"]),
        helper.make_node("Relu", ["s"], ["t"]),
        helper.make_node("MaxPool", ["t"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Concat", ["p", "p"], ["d"], axis=1),
        conv("head", "d", "h", 8, 16, 1),
        helper.make_node("GlobalAveragePool", ["h"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", weight("fc_w", 5, 8), weight("fc_b", 5)], ["y"], "fc", transB=1),
    ]
    return make_model(nodes, {"x": (FLOAT, ["N", 3, 8, 8])}, {"y": (FLOAT, ["N", 5])}, weights)


def samples(count, seed=1):
    return np.random.default_rng(seed).standard_normal((count, 3, 8, 8)).astype(np.float32)


class Quantize(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.save(network())
        self.calib = self.dir / "calib.npz"
        np.savez(self.calib, x=samples(16))

    def run_model(self, model, x):
        np.save(self.dir / "x.npy", x)
        self.ok("run", model, "--input", f"x={self.dir / 'x.npy'}", "--output-dir", self.dir / "out")
        return np.load(self.dir / "out/y.npy")

    def test_every_method_keeps_the_labels(self):
        x = samples(64, seed=2)
        wanted = self.run_model(self.model, x)
        for method in METHODS:
            out = self.dir / f"{method}.tern"
            report = self.json("quantize", self.model, "-o", out, "--calib", self.calib, "--method", method, "--json")
            self.assertEqual((report["layers"], report["samples"], report["float_layers"]), (4, 16, []))
            got = self.run_model(out, x)
            self.assertGreater((got.argmax(1) == wanted.argmax(1)).mean(), 0.9, method)
            self.assertLess(np.abs(got - wanted).max(), 0.1 * np.abs(wanted).max(), method)
            self.assertGreater(np.abs(got - wanted).max(), 0, method)

    def test_bench_and_profile_name_the_precision(self):
        out = self.dir / "int8.tern"
        self.ok("quantize", self.model, "-o", out, "--calib", self.calib)
        for command in (("bench", "--runs", 1), ("profile", "--runs", 1)):
            self.assertIn("int8", self.json(command[0], out, *command[1:], "--json")["precision"])
            self.assertEqual(self.json(command[0], self.model, *command[1:], "--json")["precision"], "fp32")

    def test_onnx_output_runs_in_onnxruntime(self):
        import onnxruntime

        x = samples(32, seed=2)
        for options in ((), ("--symmetric",), ("--per-tensor",)):
            out = self.dir / "int8.onnx"
            self.ok("quantize", self.model, "-o", out, "--calib", self.calib, *options)
            model = onnx.load(out)
            onnx.checker.check_model(model)
            stored = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
            self.assertEqual(sum(a.dtype == np.int8 and a.ndim >= 2 for a in stored.values()), 4)
            self.assertFalse([n for n, a in stored.items() if a.dtype == np.float32 and a.ndim >= 2])
            got = self.run_model(out, x)
            other = onnxruntime.InferenceSession(str(out), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
            self.assertLess(np.abs(got - other).max(), 0.02 * np.abs(other).max())

    def test_layers_stay_float_on_request(self):
        out = self.dir / "some.onnx"
        report = self.json("quantize", self.model, "-o", out, "--calib", self.calib, "--keep-float", "block", "--json")
        self.assertEqual(report["float_layers"], [{"name": "block", "why": "--keep-float"}])
        self.assertEqual(report["layers"], 3)
        self.refused("quantize", self.model, "-o", self.dir / "x.tern", "--calib", self.calib, "--keep-float", "nothing",
                     says="no Conv or MatMul has this name")
        self.assertFalse((self.dir / "x.tern").exists())

    def test_report(self):
        page = self.dir / "report.html"
        report = self.json("quantize", self.model, "-o", self.dir / "q.tern", "--calib", self.calib, "--layers", "--sensitivity",
                           "--html", page, "--json")
        layers = {layer["name"]: layer for layer in report["layer_errors"]}
        self.assertEqual(list(layers), ["stem", "block", "head", "fc"])
        for layer in layers.values():
            self.assertGreater(layer["sqnr_db"], 20)
            self.assertGreater(layer["cosine"], 0.99)
            self.assertGreaterEqual(layer["alone_sqnr_db"], report["outputs"]["sqnr_db"])
            self.assertLessEqual(layer["weights_rms"], layer["weights_rms_nearest"])
        for key in ("memory", "ms"):
            self.assertGreater(report[key]["before"], 0)
            self.assertGreater(report[key]["after"], 0)
        text = page.read_text()
        self.assertEqual(text.count("<svg"), len(report["values"]))
        self.assertNotIn("@@", text)
        self.refused("quantize", self.model, "-o", self.dir / "r.tern", "--calib", self.calib, "--sensitivity",
                     says="is part of a report")

    def test_sensitive_layers_stay_float(self):
        arguments = ("quantize", self.model, "-o", self.dir / "q.tern", "--calib", self.calib, "--json")
        all_layers = self.json(*arguments)["outputs"]["sqnr_db"]
        report = self.json(*arguments, "--min-sqnr", f"{all_layers + 0.3:.2f}")
        self.assertGreater(report["outputs"]["sqnr_db"], all_layers + 0.29)
        self.assertIn("quantized alone, it leaves", report["float_layers"][0]["why"])
        (self.dir / "q.tern").unlink()
        self.refused(*arguments[:-1], "--min-sqnr", "150", says="fewer than the 150 dB that are wanted")
        self.assertFalse((self.dir / "q.tern").exists())

    def test_slow_layers_stay_float(self):
        report = self.json("quantize", self.model, "-o", self.dir / "q.tern", "--calib", self.calib, "--fastest", "--json")
        self.assertEqual(report["layers"] + len(report["float_layers"]), 4)
        for layer in report["float_layers"]:
            self.assertIn("its integer kernel takes", layer["why"])

    def test_an_interrupted_calibration_goes_on(self):
        folder = self.dir / "arrays"
        folder.mkdir()
        for i, x in enumerate(samples(20)):
            np.save(folder / f"{i:02}.npy", x[None])
        arguments = ("quantize", self.model, "--calib", folder)
        state = self.dir / "state.npz"
        self.ok(*arguments, "-o", self.dir / "whole.tern")
        last = (folder / "15.npy").read_bytes()
        (folder / "15.npy").write_bytes(b"")
        self.refused(*arguments, "-o", self.dir / "again.tern", "--state", state, says="15.npy")
        self.assertTrue(state.exists())
        (folder / "15.npy").write_bytes(last)
        self.refused(*arguments, "-o", self.dir / "other.tern", "--state", state, "--samples", "19", says="other samples")
        self.ok(*arguments, "-o", self.dir / "again.tern", "--state", state)
        self.assertFalse(state.exists())
        self.assertEqual((self.dir / "whole.tern").read_bytes(), (self.dir / "again.tern").read_bytes())

    def refused_data(self, says, data=None, options=()):
        if data is not None:
            np.savez(self.dir / "bad.npz", **data)
        out = self.dir / "never.tern"
        self.refused("quantize", self.model, "-o", out, "--calib", self.dir / "bad.npz", *options, says=says)
        self.assertFalse(out.exists())

    def test_bad_data_is_refused_and_nothing_is_written(self):
        self.refused_data("no such file or folder")
        self.refused_data("contains no samples", {"x": samples(0)})
        self.refused_data("dim 2 is 9, but must be 8", {"x": np.zeros((4, 3, 9, 8), np.float32)})
        self.refused_data("input 'x' is f32", {"x": np.zeros((4, 3, 8, 8), np.float64)})
        self.refused_data("the model has no input 'z'", {"z": samples(2)})
        broken = samples(3)
        broken[1, 2, 0, 0] = np.nan
        self.refused_data(["bad.npz[1]", "element 128 of input 'x' is NaN"], {"x": broken})
        broken[1, 2, 0, 0] = -np.inf
        self.refused_data("is infinite", {"x": broken})

    def test_bad_folders_are_refused(self):
        folder = self.dir / "empty"
        folder.mkdir()
        self.refused("quantize", self.model, "-o", self.dir / "q.tern", "--calib", folder, says="contains no samples")
        (folder / "0.jpg").write_bytes(b"not a picture")
        self.refused("quantize", self.model, "-o", self.dir / "q.tern", "--calib", folder, says="0.jpg")
        self.assertFalse((self.dir / "q.tern").exists())

    def test_wrong_options_are_refused(self):
        for options, says in ((("--bits", "12"), "must be 8 or 16"), (("--percentile", "99"), "is for --method percentile"),
                              (("--preprocess", "other"), "must be imagenet, none or a .json file"),
                              (("--method", "best"), "--method")):
            self.refused("quantize", self.model, "-o", self.dir / "q.tern", "--calib", self.calib, *options, says=says)
        self.refused("quantize", self.model, "--calib", self.calib, says="no output given")
        self.refused("quantize", self.model, "-o", self.dir / "q.tern", says="no calibration data given")

    def test_folder_of_arrays_equals_one_archive(self):
        folder = self.dir / "arrays"
        folder.mkdir()
        for i, x in enumerate(samples(16)):
            np.save(folder / f"{i:02}.npy", x[None])
        for calib, name in ((self.calib, "a.tern"), (folder, "b.tern")):
            self.ok("quantize", self.model, "-o", self.dir / name, "--calib", calib)
        self.assertEqual((self.dir / "a.tern").read_bytes(), (self.dir / "b.tern").read_bytes())


class Half(CliTest):
    def test_weights_of_16_bits(self):
        model = self.save(network())
        x = samples(8)
        np.save(self.dir / "x.npy", x)
        results = {}
        for name, options in (("fp32", ()), ("fp16", ("--precision", "fp16")), ("bf16", ("--precision", "bf16"))):
            out = self.dir / f"{name}.onnx"
            report = self.json("convert", model, "-o", out, *options, "--json")
            self.assertEqual(report.get("weights_kept", []), [])
            self.ok("run", out, "--input", f"x={self.dir / 'x.npy'}", "--output-dir", self.dir / name)
            results[name] = np.load(self.dir / name / "y.npy")
        self.assertLess((self.dir / "fp16.onnx").stat().st_size, 0.75 * (self.dir / "fp32.onnx").stat().st_size)
        largest = np.abs(results["fp32"]).max()
        self.assertLess(np.abs(results["fp16"] - results["fp32"]).max(), 2e-3 * largest)
        self.assertLess(np.abs(results["bf16"] - results["fp32"]).max(), 2e-2 * largest)
        onnx.checker.check_model(onnx.load(self.dir / "fp16.onnx"))

    def test_overflowing_weights_stay_f32(self):
        model = network()
        for constant in model.graph.initializer:
            if constant.name == "block_w":
                values = numpy_helper.to_array(constant).copy()
                values[0, 0, 0, 0] = 1e5
                constant.CopyFrom(numpy_helper.from_array(values, "block_w"))
        report = self.json("convert", self.save(model), "-o", self.dir / "half.tern", "--precision", "fp16", "--json")
        self.assertEqual([(k["name"], k["why"]) for k in report["weights_kept"]],
                         [("block_w", "element 0, 1e+05, overflows f16")])
        self.assertIn("block", report["weights_kept"][0]["node"])


class Eval(CliTest):
    def test_digits_before_and_after(self):
        out = self.dir / "digits8.tern"
        self.ok("quantize", DIGITS / "digits.onnx", "-o", out, "--calib", DIGITS / "samples", "--preprocess", "none")
        report = self.json("eval", out, "--images", DIGITS / "samples", "--preprocess", "none", "--against",
                           DIGITS / "digits.onnx", "--json")
        self.assertEqual((report["n"], report["top1"], report["top5"]), (20, 1, 1))
        self.assertEqual(report["against"], {"n": 20, "top1": 1, "top5": 1})
        self.assertEqual((report["paired"]["same"], report["paired"]["lost"], report["paired"]["mcnemar_p"]), (20, 0, 1))
        report = self.json("quantize", DIGITS / "digits.onnx", "-o", out, "--calib", DIGITS / "samples", "--preprocess", "none",
                           "--images", DIGITS / "samples", "--json")
        self.assertEqual((report["accuracy"]["n"], report["accuracy"]["same"]), (20, 20))
        # The labels of 5 pictures are replaced by wrong ones.
        names = sorted(p.name for p in (DIGITS / "samples").glob("*.png"))
        labels = self.dir / "labels.txt"
        labels.write_text("".join(f"{n} {(int(n[0]) + (i < 5)) % 10}\n" for i, n in enumerate(names)))
        report = self.json("eval", DIGITS / "digits.onnx", "--images", DIGITS / "samples", "--labels", labels, "--preprocess",
                           "none", "--json")
        self.assertEqual(report["top1"], 0.75)
        labels.write_text("".join(f"{n[0]}\n" for n in names))
        self.assertEqual(self.json("eval", DIGITS / "digits.onnx", "--images", DIGITS / "samples", "--labels", labels,
                                   "--preprocess", "none", "--json"), {"n": 20, "top1": 1, "top5": 1})

    def test_mistakes(self):
        images = self.dir / "images"
        shutil.copytree(DIGITS / "samples", images)
        model = DIGITS / "digits.onnx"
        self.refused("eval", model, says="no samples given")
        (self.dir / "labels.txt").write_text("1\n2\n")
        self.refused("eval", model, "--images", images, "--labels", self.dir / "labels.txt", "--preprocess", "none",
                     says="2 labels, but there are 20 samples")
        (images / "11_a.png").write_bytes((images / "0_0.png").read_bytes())
        self.refused("eval", model, "--images", images, "--preprocess", "none", says="11 is not one of the 10 classes")
        (images / "a.png").write_bytes((images / "0_0.png").read_bytes())
        self.refused("eval", model, "--images", images, "--preprocess", "none", says="--labels stem needs a file name")

    def test_preprocess_file(self):
        settings = self.dir / "p.json"
        settings.write_text(json.dumps({"scale": 1 / 255, "mean": [0], "std": [1], "channels": "gray"}))
        arguments = ("eval", DIGITS / "digits.onnx", "--images", DIGITS / "samples", "--preprocess", settings)
        self.assertEqual(self.json(*arguments, "--json")["top1"], 1)
        settings.write_text(json.dumps({"scales": 1}))
        self.refused(*arguments, says="unknown key 'scales'")


if __name__ == "__main__":
    unittest.main()
