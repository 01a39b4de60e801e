"""tern.load and tern.Predictor: arguments, results, errors."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import support
import tern
from onnx import TensorProto, helper
from support import add, model, node, one_op, ones, value


class Import(unittest.TestCase):
    def test_does_not_import_numpy(self):
        code = "import sys, tern; print([m for m in ('numpy', 'typing', 'asyncio') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")

    def test_every_public_name_exists(self):
        for name in tern.__all__:
            self.assertTrue(hasattr(tern, name), name)
            self.assertIn(name, dir(tern))
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'"):
            tern.nothing  # noqa: B018

    def test_command(self):
        done = subprocess.run([sys.executable, "-m", "tern", "--version"], capture_output=True, text=True, check=True)
        self.assertIn(tern.__version__, done.stdout)


class Load(unittest.TestCase):
    def test_path_bytes_and_view(self):
        data = support.DIGITS.read_bytes()
        for source in (support.DIGITS, str(support.DIGITS), bytes(support.DIGITS), data, bytearray(data), memoryview(data)):
            with self.subTest(type(source).__name__):
                if isinstance(source, bytes) and source is not data:
                    continue  # bytes are a model, never a path
                self.assertEqual([info.name for info in tern.load(source).inputs()], ["image"])

    def test_model_proto_and_graph(self):
        proto = onnx.load(support.DIGITS)
        for source in (proto, tern.Graph(proto), tern.Graph(support.DIGITS)):
            p = tern.load(source)
            self.assertEqual((p.inputs()[0].name, p.source), ("image", ""))
            self.assertIn("tern.Predictor", repr(p))

    def test_missing_file(self):
        with self.assertRaises(FileNotFoundError) as caught:
            tern.load("no/such/model.onnx")
        self.assertIsInstance(caught.exception, tern.NotFound)
        self.assertIn("no/such/model.onnx", str(caught.exception))

    def test_damaged_bytes(self):
        data = support.DIGITS.read_bytes()
        for bad in (b"", b"not a model", data[:100], data[:-7]):
            with self.subTest(len(bad)), self.assertRaises(tern.Error):
                tern.load(bad)

    def test_unknown_option(self):
        with self.assertRaisesRegex(tern.InvalidArgument, "no option 'thread'.*threads, plan_cache"):
            tern.load(one_op("Relu"), thread=1)

    def test_bad_option_values(self):
        for option, bad, text in (("threads", -1, "threads"), ("threads", "two", "must be an int"), ("optimize", "all", "'all'"),
                                  ("precision", "fp64", "'fp64'"), ("memory_limit", -1, "memory_limit"), ("parallel", 9999, "1024"),
                                  ("batch", -2, "batch"), ("reference", 3, "a bool")):
            with self.subTest(option), self.assertRaisesRegex(tern.InvalidArgument, text):
                tern.load(one_op("Relu"), **{option: bad})

    def test_options_take_effect(self):
        self.assertEqual(tern.load(support.DIGITS, batch=3).inputs()[0].shape, (3, 1, 28, 28))
        with self.assertRaises(tern.ResourceExhausted):
            tern.load(support.DIGITS, memory_limit=1)(np.zeros((1, 1, 28, 28), np.float32))

    def test_wrong_type_of_model(self):
        for read in (tern.load, tern.Graph, tern.Pipeline, lambda m: tern.quantize(m, "q.tern")):
            with self.assertRaisesRegex(tern.InvalidArgument, r"a model is a path.*, got builtins\.int$") as caught:
                read(3)
            self.assertIsInstance(caught.exception, TypeError)

    def test_models_of_other_frameworks(self):
        def made(name, module, *bases):
            return type(name, bases, {"__module__": module})

        module, estimator = made("Module", "torch.nn.modules.module"), made("BaseEstimator", "sklearn.base")
        trackable = made("AutoTrackable", "tensorflow.python.trackable.autotrackable")
        for model, text in ((made("Net", "__main__", module), r'got __main__\.Net; write it with torch\.export\.save\(torch\.export\.export\(model.*'
                                                              r'torch\.compile\(model, backend="tern"\)$'),
                            (made("ScriptModule", "torch.jit._script", module), r'torch\.jit\.save\(model, "model\.pt"\)'),
                            (made("ExportedProgram", "torch.export.exported_program"), r"torch\.export\.save\(program"),
                            (made("Sequential", "keras.src.models.sequential", made("Model", "keras.src.models.model", trackable)), r'model\.export\("folder"\)'),
                            (made("_UserObject", "tensorflow.python.saved_model.load", trackable), r"tf\.saved_model\.save"),
                            (made("SVC", "sklearn.svm", estimator), r"skl2onnx\.to_onnx"),
                            (made("XGBModel", "xgboost.sklearn", estimator), r"convert_xgboost")):
            with self.subTest(text), self.assertRaisesRegex(TypeError, text):
                tern.load(model())


class Describe(unittest.TestCase):
    def test_inputs_and_outputs(self):
        p = tern.load(add(TensorProto.INT64, ("N", 3)))
        self.assertEqual(p.inputs()[0], ("a", "tensor", "int64", ("N", 3), "i64[N,3]"))
        self.assertEqual([i.name for i in p.inputs()], ["a", "b"])
        self.assertEqual(p.outputs()[0].dtype, "int64")
        self.assertEqual(p.overridable(), [])
        self.assertEqual(p.states(), [])
        self.assertIn("input  a: i64[N,3]", repr(p))
        self.assertIn("shape=('N', 3)", repr(p.inputs()[0]))

    def test_open_rank_and_dims(self):
        p = tern.load(model([node("Relu", "x", "y")], [value("x", shape=(None, 2))], [value("y", shape=(None, 2))]))
        self.assertEqual(p.inputs()[0].shape[1], 2)
        self.assertNotIsInstance(p.inputs()[0].shape[0], int)

    def test_memory_and_warnings(self):
        p = tern.load(support.DIGITS)
        p(np.zeros((1, 1, 28, 28), np.float32))
        self.assertGreater(p.memory()["weights"] + p.memory()["packed"], 1000)
        self.assertEqual(p.warnings(), [])


class Call(unittest.TestCase):
    def setUp(self):
        self.p = tern.load(add())
        self.a, self.b = ones(2, 4), np.arange(8, dtype=np.float32).reshape(2, 4)

    def test_all_forms_of_arguments(self):
        a, b = self.a, self.b
        for outputs in (self.p(a, b), self.p(a, b=b), self.p(a=a, b=b), self.p({"a": a, "b": b}), self.p.run({"a": a, "b": b}),
                        self.p.run([a, b]), self.p.run((a, b), ["sum"])):
            np.testing.assert_array_equal(outputs["sum"], a + b)
            self.assertIs(outputs[0], outputs["sum"])

    def test_outputs_is_a_dict(self):
        outputs = self.p(self.a, self.b)
        self.assertIsInstance(outputs, dict)
        self.assertEqual(list(outputs), ["sum"])
        self.assertIn("sum: float32(2, 4)", repr(outputs))
        with self.assertRaisesRegex(KeyError, "no output 'other'; there are: sum"):
            outputs["other"]
        with self.assertRaises(IndexError):
            outputs[1]

    def test_results_are_independent(self):
        first = self.p(self.a, self.b)["sum"]
        kept = first.copy()
        self.p(self.b, self.b)
        np.testing.assert_array_equal(first, kept)
        first[:] = 7  # results are writable
        self.assertTrue(first.flags.owndata)

    def test_large_results_are_independent(self):
        p = tern.load(one_op("Relu", shape=("N", 1000)))
        results = [p(np.full((100, 1000), i, np.float32))["y"] for i in range(5)]
        for i, y in enumerate(results):
            self.assertTrue((y == i).all())
            self.assertTrue(y.flags.writeable)

    def test_shapes_may_change(self):
        for n in (1, 5, 0, 300, 2):
            self.assertEqual(self.p(ones(n, 4), ones(n, 4))["sum"].shape, (n, 4))

    def test_missing_unknown_and_surplus(self):
        with self.assertRaisesRegex(tern.InvalidArgument, r"input 'b' \(f32\[N,4\]\) is missing"):
            self.p(self.a)
        with self.assertRaisesRegex(tern.NotFound, "no input 'c'; it has: a, b"):
            self.p(a=self.a, b=self.b, c=self.b)
        with self.assertRaisesRegex(tern.InvalidArgument, r"takes 2 inputs \(a, b\), got 3"):
            self.p(self.a, self.b, self.b)
        with self.assertRaisesRegex(tern.InvalidArgument, "given twice"):
            self.p(self.a, self.b, a=self.a)
        with self.assertRaisesRegex(tern.NotFound, "no output 'total'; it has: sum"):
            self.p.run([self.a, self.b], ["total"])

    def test_wrong_dtype_and_shape(self):
        wide = self.a.astype(np.float64)
        text = r"input 'a' must be f32\[N,4\], got f64\[2,4\]; convert it with \.astype\(np\.float32\)"
        for run in (lambda: self.p(wide, self.b), lambda: self.p(wide[::-1], self.b), lambda: self.p.run({"a": wide, "b": self.b})):
            with self.assertRaisesRegex(tern.InvalidArgument, text + "$"):
                run()
        with self.assertRaisesRegex(tern.InvalidArgument, text + r"[\s\S]*run 'request 7'"):
            self.p.run([wide, self.b], tag="request 7")
        for dtype, fix in ((TensorProto.INT64, "np.int64"), (TensorProto.BOOL, "np.bool_"), (TensorProto.BFLOAT16, "ml_dtypes.bfloat16")):
            with self.subTest(fix), self.assertRaisesRegex(tern.InvalidArgument, rf"convert it with \.astype\({fix}\)$"):
                tern.load(one_op("Identity", dtype))(wide)
        with self.assertRaisesRegex(tern.InvalidArgument, r"got string\[1\]$"):
            self.p(np.array(["1"]), self.b)
        with self.assertRaisesRegex(tern.InvalidArgument, "'a'"):
            self.p(ones(2, 5), self.b)
        np.testing.assert_array_equal(self.p(self.a, self.b)["sum"], self.a + self.b)  # the predictor stays usable

    def test_lists_and_numbers(self):
        p = tern.load(model([node("Add", "a b", "sum")], [value("a", shape=[3]), value("b", shape=[])], [value("sum", shape=[3])]))
        np.testing.assert_array_equal(p([1, 2, 3], 0.5)["sum"], np.float32([1.5, 2.5, 3.5]))
        ints = tern.load(one_op("Neg", TensorProto.INT8, [2]))
        np.testing.assert_array_equal(ints([1, -3])["y"], np.int8([-1, 3]))
        with self.assertRaisesRegex(tern.InvalidArgument, "1 to 300"):
            ints([1, 300])
        with self.assertRaisesRegex(tern.InvalidArgument, "takes int8, got float64"):
            ints([1.5, 2])

    def test_bound_outputs(self):
        out = np.empty((2, 4), np.float32)
        outputs = self.p.run([self.a, self.b], out={"sum": out})
        self.assertIs(outputs["sum"], out)
        np.testing.assert_array_equal(out, self.a + self.b)
        out[:] = -1
        self.p(self.a, self.b)
        self.assertTrue((out == -1).all())  # the binding ended with its run

    def test_bad_bound_outputs(self):
        read_only = np.empty((2, 4), np.float32)
        read_only.flags.writeable = False
        for bad in (np.empty((3, 4), np.float32), np.empty((2, 4), np.float64), np.empty((4, 2), np.float32).T, read_only, [1]):
            with self.subTest(str(type(bad))), self.assertRaisesRegex(tern.InvalidArgument, "'sum'"):
                self.p.run([self.a, self.b], out={"sum": bad})
        with self.assertRaises(tern.NotFound):
            self.p.run([self.a, self.b], out={"other": read_only})

    def test_bound_outputs_share_no_memory(self):
        base = ones(4, 4)
        with self.assertRaisesRegex(tern.InvalidArgument, "shares memory with an input"):
            self.p.run([base[:2], self.b], out={"sum": base[1:3]})
        self.p.run([base[:2], self.b], out={"sum": base[2:]})
        np.testing.assert_array_equal(base[2:], 1 + self.b)
        two = tern.load(model([node("Neg", "x", "y"), node("Abs", "x", "z")], [value("x")], [value("y"), value("z")]))
        with self.assertRaisesRegex(tern.InvalidArgument, "that of another output"):
            two.run([self.a], out={"y": base[:2], "z": base[:2]})

    def test_a_clone_takes_no_options(self):
        with self.assertRaisesRegex(tern.InvalidArgument, "got threads"):
            tern.Predictor(self.p, threads=1)

    def test_clone(self):
        clone = self.p.clone()
        self.assertIsInstance(clone, tern.Predictor)
        np.testing.assert_array_equal(clone(self.a, self.b)["sum"], self.p(self.a, self.b)["sum"])

    def test_overridable_constants(self):
        bias = helper.make_tensor("b", support.FLOAT, [4], [1, 2, 3, 4])
        p = tern.load(model([node("Add", "x b", "y")], [value("x"), value("b", shape=[4])], [value("y")], [bias]))
        self.assertEqual([info.name for info in p.overridable()], ["b"])
        self.assertEqual([info.name for info in p.inputs()], ["x"])
        for _ in range(2):
            np.testing.assert_array_equal(p(ones(1, 4))["y"], [[2, 3, 4, 5]])
            np.testing.assert_array_equal(p(x=ones(1, 4), b=np.zeros(4, np.float32))["y"], [[1, 1, 1, 1]])


class Files(unittest.TestCase):
    def test_tern_model_in_memory_keeps_its_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "digits.tern")
            subprocess.run([sys.executable, "-m", "tern", "convert", support.DIGITS, "-o", path], capture_output=True, check=True)
            image = np.random.default_rng(1).random((1, 1, 28, 28), np.float32)
            expected = tern.load(support.DIGITS)(image)[0]
            p = tern.load(path.read_bytes())  # nothing else keeps the bytes alive
            np.testing.assert_allclose(p(image)[0], expected, rtol=1e-6)
            np.testing.assert_allclose(tern.load(path)(image)[0], expected, rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
