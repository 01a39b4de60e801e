"""tern.onnxruntime: the same programs as with onnxruntime, which must give the same results."""

import json
import os
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np
import onnxruntime
import onnxruntime.datasets
import support
import tern.onnxruntime
from onnx import TensorProto, helper
from support import add, model, node, one_op, ones, value
from tern.onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph, NoSuchFile, NotImplemented

BOTH = (tern.onnxruntime, onnxruntime)


def zipmap():
    nodes = [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[5, 7])]
    output = helper.make_value_info("y", helper.make_sequence_type_proto(
        helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))
    return model(nodes, [value("x", shape=("N", 2))], [output], opset=15, extra_opsets=[helper.make_opsetid("ai.onnx.ml", 3)])


def with_bias():
    bias = helper.make_tensor("b", support.FLOAT, [4], [1, 2, 3, 4])
    return model([node("Add", "x b", "y")], [value("x"), value("b", shape=[4])], [value("y")], [bias])


class InBoth(unittest.TestCase):
    """Each test runs its body with both packages and compares what it returns."""

    def same(self, body):
        ours, theirs = (body(package) for package in BOTH)
        if isinstance(ours, list) and any(isinstance(item, np.ndarray) for item in ours):
            for a, b in zip(ours, theirs, strict=True):
                self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
                np.testing.assert_allclose(a, b, rtol=1e-5) if a.dtype.kind == "f" else np.testing.assert_array_equal(a, b)
        else:
            self.assertEqual(ours, theirs)

    def test_descriptions(self):
        models = [add(), support.DIGITS.read_bytes(), zipmap(), with_bias(), support.endless(), one_op("Identity", TensorProto.STRING),
                  model([node("Relu", "x", "y")], [value("x", shape=(None, 2, "b"))], [value("y", shape=(None, 2, None))]),
                  model([node("Relu", "x", "y")], [value("x", shape=None)], [value("y", shape=None)])]
        models += [one_op("Identity", dtype) for dtype in (TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT64)]
        for i, data in enumerate(models):
            with self.subTest(i):
                def describe(package, data=data):
                    s = package.InferenceSession(data, providers=["CPUExecutionProvider"])
                    return [[(a.name, a.type, a.shape) for a in args] for args in
                            (s.get_inputs(), s.get_outputs(), s.get_overridable_initializers())]
                self.same(describe)

    def test_metadata(self):
        made = helper.make_model(helper.make_graph([node("Relu", "x", "y")], "named", [value("x")], [value("y")]), producer_name="who",
                                 domain="org.test", model_version=7, doc_string="what", opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        helper.set_model_props(made, {"key": "value"})

        def read(package):
            m = package.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).get_modelmeta()
            return [m.producer_name, m.graph_name, m.domain, m.version, m.description, m.custom_metadata_map]
        self.same(read)

    def test_run(self):
        image = np.random.default_rng(1).random((3, 1, 28, 28), np.float32)
        self.same(lambda p: p.InferenceSession(str(support.DIGITS)).run(None, {"image": image}))
        self.same(lambda p: p.InferenceSession(support.DIGITS.read_bytes()).run(["probabilities"], {"image": image}))
        self.same(lambda p: p.InferenceSession(add()).run([], {"b": ones(1, 4), "a": ones(1, 4)}))
        self.same(lambda p: p.InferenceSession(zipmap()).run(None, {"x": np.float32([[0.25, 0.75]])}))
        self.same(lambda p: p.InferenceSession(one_op("Identity", TensorProto.STRING)).run(None, {"x": np.array([["a", "b", "c", "d"]])}))
        mixed = np.array([["a", 1, 2.5, None]], object)
        self.same(lambda p: p.InferenceSession(one_op("Identity", TensorProto.STRING)).run(None, {"x": mixed}))
        self.same(lambda p: p.InferenceSession(with_bias()).run(None, {"x": ones(1, 4), "b": ones(4)}))
        self.same(lambda p: p.InferenceSession(one_op("Identity", shape=())).run(None, {"x": np.array(3, np.float32)}))

    def test_errors(self):
        calls = [
            lambda p, s: s.run(None, {}),
            lambda p, s: s.run(None, {"a": ones(1, 4)}),
            lambda p, s: s.run(None, {"a": ones(1, 4), "b": ones(1, 4), "c": ones(1)}),
            lambda p, s: s.run(["other"], {"a": ones(1, 4), "b": ones(1, 4)}),
            lambda p, s: s.run(None, {"a": ones(1, 4).astype(np.float64), "b": ones(1, 4)}),
            lambda p, s: s.run(None, {"a": ones(1, 5), "b": ones(1, 4)}),
            lambda p, s: s.run(None, {"a": ones(4), "b": ones(1, 4)}),
            lambda p, s: p.InferenceSession("missing.onnx"),
            lambda p, s: p.InferenceSession(3),
        ]
        for i, call in enumerate(calls):
            with self.subTest(i):
                def name(package, call=call):
                    session = package.InferenceSession(add(), providers=["CPUExecutionProvider"])
                    try:
                        call(package, session)
                    except Exception as error:  # noqa: BLE001
                        return type(error).__name__
                    return "no error"
                ours, theirs = name(tern.onnxruntime), name(onnxruntime)
                self.assertNotEqual(ours, "no error")
                if (ours, theirs) != ("InvalidArgument", "ValueError"):
                    self.assertEqual(ours, theirs)

    def test_ort_values(self):
        def use(p):
            v = p.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
            empty = p.OrtValue.ortvalue_from_shape_and_type([2, 3], np.int64)
            facts = [v.shape(), v.data_type(), v.element_type(), v.device_name(), v.is_tensor(), v.has_value(), v.is_tensor_sequence(),
                     v.numpy().tolist(), empty.shape(), empty.data_type()]
            v.update_inplace(np.zeros((2, 3), np.float32))
            s = p.InferenceSession(one_op("Neg", shape=("N", "M")))
            results = s.run_with_ort_values(["y"], {"x": p.OrtValue.ortvalue_from_numpy(ones(2, 3))})
            return [*facts, v.numpy().tolist(), results[0].numpy().tolist(), s.run(None, {"x": v})[0].tolist()]
        self.same(use)

    def test_io_binding(self):
        def use(p):
            s = p.InferenceSession(add(), providers=["CPUExecutionProvider"])
            a, b = ones(2, 4), np.full((2, 4), 3, np.float32)
            io = s.io_binding()
            io.bind_cpu_input("a", a)
            io.bind_ortvalue_input("b", p.OrtValue.ortvalue_from_numpy(b))
            io.bind_output("sum")
            s.run_with_iobinding(io)
            got = [io.copy_outputs_to_cpu()[0].tolist(), io.get_outputs()[0].numpy().tolist()]
            target = np.zeros((2, 4), np.float32)
            io.clear_binding_outputs()
            io.bind_output("sum", "cpu", 0, np.float32, target.shape, target.ctypes.data)
            io.bind_input("a", "cpu", 0, np.float32, b.shape, b.ctypes.data)
            io.synchronize_inputs()
            s.run_with_iobinding(io)
            io.synchronize_outputs()
            value = p.OrtValue.ortvalue_from_shape_and_type([2, 4], np.float32)
            io.bind_ortvalue_output("sum", value)
            s.run_with_iobinding(io)
            return [*got, target.tolist(), value.numpy().tolist()]
        self.same(use)

    def test_run_async(self):
        def use(p):
            s = p.InferenceSession(add(), providers=["CPUExecutionProvider"])
            done, got = threading.Event(), []

            def callback(results, user_data, error):
                got.extend([results[0].tolist(), user_data, error])
                done.set()

            s.run_async(["sum"], {"a": ones(1, 4), "b": ones(1, 4)}, callback, "data", None)
            self.assertTrue(done.wait(20))
            return got
        self.same(use)

    def test_options(self):
        def use(p):
            o = p.SessionOptions()
            o.intra_op_num_threads = 1
            o.graph_optimization_level = p.GraphOptimizationLevel.ORT_ENABLE_BASIC
            o.execution_mode = p.ExecutionMode.ORT_SEQUENTIAL
            o.log_severity_level = 3
            o.enable_mem_pattern = False
            o.add_session_config_entry("session.intra_op.allow_spinning", "0")
            o.add_free_dimension_override_by_name("N", 5)
            s = p.InferenceSession(add(), sess_options=o, providers=["CPUExecutionProvider"])
            return [o.get_session_config_entry("session.intra_op.allow_spinning"), s.get_inputs()[0].shape, s.get_providers(),
                    s.get_session_options().intra_op_num_threads, p.get_device(), int(p.GraphOptimizationLevel.ORT_ENABLE_ALL)]
        self.same(use)

    def test_misspelt_options_are_refused(self):
        def use(p):
            for options, name in ((p.SessionOptions(), "intra_op_num_thread"), (p.RunOptions(), "log_severity")):
                with self.assertRaisesRegex(AttributeError, f"SessionOptions' object has no attribute '{name}'|RunOptions' object has no attribute '{name}'"):
                    setattr(options, name, 1)
            builds = ("training_mode",)  # some builds of onnxruntime have it
            return [sorted(n for n in dir(c) if not n.startswith("_") and n not in builds and not callable(getattr(c, n)))
                    for c in (p.SessionOptions(), p.RunOptions())]
        self.same(use)

    def test_add_initializer(self):
        def use(p):
            o = p.SessionOptions()
            bias = p.OrtValue.ortvalue_from_numpy(np.zeros(4, np.float32))
            o.add_initializer("b", bias)
            return p.InferenceSession(with_bias(), o).run(None, {"x": ones(1, 4)})
        self.same(use)

    def test_datasets(self):
        def use(p):
            import importlib
            datasets = importlib.import_module(p.__name__ + ".datasets")
            results = []
            for name in ("sigmoid.onnx", "mul_1.onnx"):
                s = p.InferenceSession(datasets.get_example(name), providers=p.get_available_providers())
                argument = s.get_inputs()[0]
                results += s.run(None, {argument.name: np.ones(argument.shape, np.float32)})
            return results
        self.same(use)

    def test_coefficients_that_no_feature_uses(self):
        """The file of onnxruntime has 12 coefficients for 3 classes and 2 features."""
        path = onnxruntime.datasets.get_example("logreg_iris.onnx")
        predictor = tern.load(path)
        self.assertIn("the first 6 of 12 coefficients", "".join(predictor.warnings()))
        x = np.array([[1, 2], [3, -4], [-5, 6]], np.float32)
        ours, theirs = (package.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"float_input": x}) for package in BOTH)
        np.testing.assert_array_equal(ours[0], theirs[0])
        for a, b in zip(ours[1], theirs[1], strict=True):
            np.testing.assert_allclose([a[k] for k in range(3)], [b[k] for k in range(3)], atol=1e-6)

    def test_regressor_with_more_coefficients_than_features(self):
        nodes = [helper.make_node("LinearRegressor", ["x"], ["y"], domain="ai.onnx.ml", coefficients=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], targets=2, intercepts=[0.5, -0.5])]
        data = model(nodes, [value("x", shape=("N", 3))], [value("y", shape=("N", 2))], opset=15, extra_opsets=[helper.make_opsetid("ai.onnx.ml", 1)])
        self.same(lambda package: package.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {"x": np.eye(3, dtype=np.float32)}))


class OnlyHere(unittest.TestCase):
    def test_bound_bfloat16(self):
        s = tern.onnxruntime.InferenceSession(one_op("Relu", TensorProto.BFLOAT16))
        bits = np.array([[0x3F80, 0xC000, 0x4000, 0]], np.uint16)  # 1, -2, 2, 0
        io, target = s.io_binding(), np.full((1, 4), 7, np.uint16)
        value = tern.onnxruntime.OrtValue.ortvalue_from_shape_and_type([1, 4], TensorProto.BFLOAT16)
        io.bind_cpu_input("x", bits)
        io.bind_ortvalue_output("y", value)
        s.run_with_iobinding(io)
        io.bind_output("y", "cpu", 0, TensorProto.BFLOAT16, target.shape, target.ctypes.data)
        s.run_with_iobinding(io)
        for got in (value.numpy().view(np.uint16), target):
            np.testing.assert_array_equal(got, [[0x3F80, 0, 0x4000, 0]])

    def test_exceptions(self):
        with self.assertRaises(NoSuchFile) as caught:
            tern.onnxruntime.InferenceSession("missing.onnx")
        self.assertIsInstance(caught.exception, FileNotFoundError)
        with self.assertRaises(Exception) as caught:
            tern.onnxruntime.InferenceSession(b"not a model")
        self.assertIsInstance(caught.exception, (Fail, InvalidGraph, InvalidArgument, NotImplemented))
        with self.assertRaises(NotImplemented):
            tern.onnxruntime.SessionOptions().register_custom_ops_library("lib.so")

    def test_other_providers_warn(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            s = tern.InferenceSession(add(), providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"])
        self.assertIn("CUDAExecutionProvider", str(caught[0].message))
        self.assertEqual(s.get_providers(), ["CPUExecutionProvider"])

    def test_terminate(self):
        s = tern.InferenceSession(support.endless())
        options = tern.onnxruntime.RunOptions()
        threading.Timer(0.05, lambda: setattr(options, "terminate", True)).start()
        with self.assertRaises(tern.onnxruntime.capi.onnxruntime_pybind11_state.Fail):
            s.run(None, {"go": np.array(True), "x": ones(1, 4)}, options)
        self.assertTrue(options.terminate)

    def test_profile_and_optimized_model(self):
        with tempfile.TemporaryDirectory() as folder:
            o = tern.onnxruntime.SessionOptions()
            o.enable_profiling = True
            o.profile_file_prefix = os.path.join(folder, "profile")
            o.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
            s = tern.InferenceSession(str(support.DIGITS), o)
            s.run(None, {"image": np.zeros((1, 1, 28, 28), np.float32)})
            path = s.end_profiling()
            with open(path, encoding="utf-8") as file:
                names = {event["cat"] for event in json.load(file)}
            self.assertEqual(names, {"Session", "Node"})
            image = {"image": np.ones((1, 1, 28, 28), np.float32)}
            theirs = onnxruntime.InferenceSession(o.optimized_model_filepath).run(None, image)[0]
            np.testing.assert_allclose(theirs, s.run(None, image)[0], rtol=1e-4, atol=1e-6)

    def test_threads(self):
        s = tern.InferenceSession(add())
        wrong = []

        def work(k):
            for _ in range(50):
                if not (s.run(None, {"a": ones(1, 4) * k, "b": ones(1, 4)})[0] == k + 1).all():
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_backend(self):
        from tern.onnxruntime import backend, datasets
        rep = backend.prepare(datasets.get_example("logreg_iris.onnx"), "CPU")
        label, probabilities = rep.run(np.float32([[-1, -2], [5, 3], [0, 0]]))
        self.assertEqual(label.shape, (3,))
        self.assertAlmostEqual(sum(probabilities[0].values()), 1, places=5)
        self.assertEqual(sorted(probabilities[0]), [0, 1, 2])

    def test_overhead_is_below_that_of_onnxruntime(self):
        feed = {"x": ones(1, 4)}

        def best(package):
            o = package.SessionOptions()
            o.intra_op_num_threads = 1
            run = package.InferenceSession(one_op("Relu"), o, providers=["CPUExecutionProvider"]).run
            times = []
            for _ in range(7):
                started = time.perf_counter()
                for _ in range(1000):
                    run(None, feed)
                times.append(time.perf_counter() - started)
            return min(times)

        self.assertLess(best(tern.onnxruntime), best(onnxruntime))


if __name__ == "__main__":
    unittest.main()
