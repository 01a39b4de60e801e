"""Element types, strings, sequences, maps, DLPack, data frames; and that arrays are not copied."""

import resource
import unittest

import numpy as np
import support
import tern
from onnx import TensorProto, helper
from support import model, node, one_op, ones, value

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

NUMPY_TYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
               "complex64", "complex128"]


def identity(dtype, shape=("N",)):
    """Two nodes, so that the output is not the fed memory itself."""
    return model([node("Identity", "x", "h"), node("Concat", "h h", "y", axis=0)], [value("x", dtype, shape)], [value("y", dtype, shape)])


class Numpy(unittest.TestCase):
    def test_every_dtype_makes_a_round_trip(self):
        for name in NUMPY_TYPES:
            if name.startswith("complex"):
                continue  # no op of ONNX that Tern runs takes them
            dtype = np.dtype(name)
            with self.subTest(name):
                p = tern.load(identity(helper.np_dtype_to_tensor_dtype(dtype)))
                x = np.array([0, 1, 1, 0, 100], dtype)
                y = p(x)["y"]
                self.assertEqual(y.dtype, dtype)
                self.assertEqual(p.inputs()[0].dtype, name)
                np.testing.assert_array_equal(y, np.concatenate([x, x]))

    def test_strided_swapped_and_unaligned_arrays(self):
        p = tern.load(one_op("Neg", shape=("N", "M")))
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        unaligned = np.frombuffer(b"\0" + base.tobytes(), np.float32, 6, offset=1).reshape(2, 3)
        fortran = np.asfortranarray(base)
        for x in (base[::2, ::3], base[::-1], base.T, fortran, base.astype(">f4"), unaligned, base[:0]):
            np.testing.assert_array_equal(p(x)["y"], -x)

    def test_scalar_keeps_rank_0(self):
        p = tern.load(one_op("Neg", shape=()))
        self.assertEqual(p(np.float32(3))["y"].shape, ())
        self.assertEqual(p(np.array(3, ">f4"))["y"], -3)

    def test_inputs_are_not_copied(self):
        """The pages of an untouched array take no memory until they are read, and a copy would read them all."""
        p = tern.load(model([node("Gather", "x i", "y")], [value("x", shape=("N",)), value("i", TensorProto.INT64, [1])], [value("y", shape=[1])]))
        x = np.zeros(1 << 27, np.float32)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for i in range(3):
            p(x, np.array([i]))
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 100_000)  # KiB; the array has 524,288

    def test_identity_returns_a_copy(self):
        p = tern.load(one_op("Identity"))
        for n in (1, 100_000):
            x = ones(n, 4)
            self.assertFalse(np.shares_memory(p(x)["y"], x))
            self.assertFalse(np.shares_memory(p(x)["y"], x))

    def test_refuses_other_dtypes(self):
        p = tern.load(one_op("Neg"))
        for bad in (np.zeros((1, 4), "datetime64[s]"), np.zeros((1, 4), object), np.zeros((1, 4), "f4,i4"), "text", b"bytes", None,
                    np.array([["a"] * 4]), object()):
            with self.subTest(repr(bad)), self.assertRaises((tern.InvalidArgument, TypeError)):
                p(bad)


class ForeignTypes(unittest.TestCase):
    def test_bfloat16_as_bits(self):
        p = tern.load(identity(TensorProto.BFLOAT16))
        bits = np.array([0x3F80, 0x4000], np.uint16)  # 1 and 2
        y = p(bits)["y"]
        self.assertEqual(p.inputs()[0].dtype, "bfloat16")
        np.testing.assert_array_equal(y.view(np.uint16), np.tile(bits, 2))

    @unittest.skipUnless(ml_dtypes, "ml_dtypes is not installed")
    def test_ml_dtypes(self):
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
            with self.subTest(name):
                dtype = np.dtype(getattr(ml_dtypes, name))
                p = tern.load(identity(helper.np_dtype_to_tensor_dtype(dtype)))
                x = np.array([0, 1, -2], dtype)
                for fed in (x, np.stack([x, x])[:, ::-1][0, ::-1], [0, 1, -2]):
                    y = p(fed)["y"]
                    self.assertEqual(y.dtype, dtype)
                    np.testing.assert_array_equal(y.astype(np.float32), [0, 1, -2, 0, 1, -2])

    def test_int4_is_one_element_per_byte(self):
        p = tern.load(model([node("Cast", "x", "y", to=TensorProto.INT32), node("Identity", "x", "z")],
                            [value("x", TensorProto.INT4, ("N",))],
                            [value("y", TensorProto.INT32, ("N",)), value("z", TensorProto.INT4, ("N",))]))
        x = np.array([-8, 7, -1, 0, 3], np.int8)
        outputs = p(x)
        np.testing.assert_array_equal(outputs["y"], x)
        np.testing.assert_array_equal(outputs["z"].astype(np.int32), x)
        np.testing.assert_array_equal(p(outputs["z"])["y"], x)  # what comes out may go in
        with self.assertRaisesRegex(tern.InvalidArgument, "element 1 is 8, but i4 represents only -8 to 7"):
            p(np.array([0, 8], np.int8))
        np.testing.assert_array_equal(p(x.tolist())["y"], x)
        for wrong in ([0, 8], [-9], [300], [0.5]):  # a list must not wrap
            with self.subTest(wrong), self.assertRaisesRegex(tern.InvalidArgument, "represents only -8 to 7|not in the range of int|values; convert them first"):
                p(wrong)

    def test_bound_bfloat16(self):
        p = tern.load(identity(TensorProto.BFLOAT16))
        x, wanted = np.array([0x3F80, 0xC000], np.uint16), [0x3F80, 0xC000] * 2
        outputs = [np.zeros(4, np.uint16)]
        if ml_dtypes:
            outputs.append(np.zeros(4, ml_dtypes.bfloat16))
            with self.assertRaisesRegex(tern.InvalidArgument, "bind a writable, C-contiguous array"):
                p.run({"x": x}, out={"y": np.zeros(8, ml_dtypes.bfloat16)[::2]})
            with self.assertRaises(tern.InvalidArgument):
                p.run({"x": x}, out={"y": np.zeros(4, ml_dtypes.float8_e5m2)})
        for y in outputs:
            for _ in range(2):
                y[...] = 0
                self.assertIs(p.run({"x": x}, out={"y": y})["y"], y)
                np.testing.assert_array_equal(y.view(np.uint16), wanted)
        with self.assertRaises(tern.InvalidArgument):
            p.run({"x": x}, out={"y": np.zeros(4, np.int32)})


class Strings(unittest.TestCase):
    def setUp(self):
        self.p = tern.load(identity(TensorProto.STRING))

    def test_forms(self):
        words = ["a", "", "grün", "長い" * 50]
        for x in (words, np.array(words), np.array(words, object), tuple(words)):
            y = self.p.run({"x": x})["y"]
            self.assertEqual(y.dtype, object)
            self.assertEqual(list(y), words * 2)

    def test_bytes_keep_their_bits(self):
        y = self.p.run({"x": [b"\xff\x00x", b"ok"]})["y"]
        self.assertEqual(y[0].encode("utf-8", "surrogateescape"), b"\xff\x00x")
        self.assertEqual(list(self.p.run({"x": y})["y"][:2]), list(y[:2]))

    def test_refuses_other_elements(self):
        with self.assertRaisesRegex(tern.InvalidArgument, "takes strings, got a value of the type float"):
            self.p.run({"x": ["a", float("nan")]})


class Containers(unittest.TestCase):
    def test_sequence(self):
        sequence = helper.make_tensor_sequence_value_info("s", support.FLOAT, None)
        p = tern.load(model([node("SequenceInsert", "s t", "longer"), node("SequenceLength", "longer", "n")],
                            [sequence, value("t", shape=(None,))],
                            [helper.make_tensor_sequence_value_info("longer", support.FLOAT, None), value("n", TensorProto.INT64, [])]))
        outputs = p([ones(2), ones(3)], ones(1))
        self.assertEqual([item.shape for item in outputs["longer"]], [(2,), (3,), (1,)])
        self.assertEqual(outputs["n"], 3)
        self.assertEqual(p.inputs()[0].kind, "sequence")
        with self.assertRaisesRegex(tern.InvalidArgument, "is a sequence, got a value of the type int"):
            p(3, ones(1))

    def test_maps_of_a_classifier(self):
        zipmap = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog"])
        made = helper.make_graph([zipmap], "g", [value("x", shape=("N", 2))], [helper.make_empty_tensor_value_info("y")])
        made.output[0].CopyFrom(helper.make_value_info("y", helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(support.FLOAT, [])))))
        data = helper.make_model(made, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 15)])
        y = tern.load(data.SerializeToString())(np.float32([[0.25, 0.75], [1, 0]]))["y"]
        self.assertEqual(y, [{"cat": 0.25, "dog": 0.75}, {"cat": 1.0, "dog": 0.0}])
        self.assertIsInstance(y[0]["cat"], float)

    def test_dict_vectorizer(self):
        vectorizer = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"])
        graph = helper.make_graph([vectorizer], "g", [helper.make_value_info("x", helper.make_map_type_proto(
            TensorProto.STRING, helper.make_tensor_type_proto(support.FLOAT, [])))], [value("y", shape=(1, 3))])
        p = tern.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 15)])
                      .SerializeToString())
        self.assertEqual(p({"c": 2.0, "a": 1.0})["y"].ravel().tolist(), [1, 0, 2])
        self.assertEqual(p(x={"b": 5.0})["y"].ravel().tolist(), [0, 5, 0])

    def test_optional(self):
        optional = helper.make_value_info("x", helper.make_optional_type_proto(helper.make_tensor_type_proto(support.FLOAT, [None])))
        p = tern.load(model([node("OptionalHasElement", "x", "y")], [optional], [value("y", TensorProto.BOOL, [])]))
        self.assertTrue(p.run({"x": ones(3)})["y"])
        self.assertFalse(p.run({"x": None})["y"])


class Exporter:
    """An object whose memory is available only through DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Dlpack(unittest.TestCase):
    def test_input_and_bound_output(self):
        p = tern.load(one_op("Neg"))
        out = np.empty((2, 4), np.float32)
        p.run([Exporter(ones(2, 4))], out={"y": Exporter(out)})
        self.assertTrue((out == -1).all())

    def test_strided_tensor_is_copied(self):
        p = tern.load(one_op("Neg"))
        x = np.arange(8, dtype=np.float32).reshape(4, 2).T

        class Strided(Exporter):
            def __array__(self, dtype=None, copy=None):
                return self.array if dtype is None else self.array.astype(dtype)

        np.testing.assert_array_equal(p(Strided(x))["y"], -x)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        x = torch.arange(-4, 4, dtype=torch.float32).reshape(2, 4)
        p = tern.load(one_op("Relu"))
        for fed in (x, x.t().contiguous().t()):
            np.testing.assert_array_equal(p(fed)["y"], torch.relu(x).numpy())
        out = torch.empty(2, 4, dtype=torch.bfloat16)
        tern.load(one_op("Relu", TensorProto.BFLOAT16)).run([x.bfloat16()], out={"y": out})
        self.assertTrue(torch.equal(out, torch.relu(x).bfloat16()))

    def test_results_export_dlpack(self):
        y = tern.load(one_op("Neg"))(ones(1, 4))["y"]
        np.testing.assert_array_equal(np.from_dlpack(y), y)


class Frame:
    """The part of pandas.DataFrame that the package uses."""

    def __init__(self, columns):
        self.data = columns
        self.columns = list(columns)

    def __getitem__(self, name):
        column = Frame({})
        column.to_numpy = lambda: np.asarray(self.data[name])
        return column

    def to_numpy(self):
        return np.stack([np.asarray(c) for c in self.data.values()], axis=1)


class DataFrames(unittest.TestCase):
    def test_columns_are_inputs(self):
        p = tern.load(model([node("Cast", "age", "age_f", to=support.FLOAT), node("Add", "age_f fare", "y"), node("Identity", "sex", "z")],
                            [value("age", TensorProto.INT64, ("N", 1)), value("fare", support.FLOAT, ("N", 1)), value("sex", TensorProto.STRING, ("N", 1))],
                            [value("y", shape=("N", 1)), value("z", TensorProto.STRING, ("N", 1))]))
        frame = Frame({"age": [30, 40], "fare": [7.5, 8.0], "sex": ["m", "f"], "unused": [0, 0]})
        outputs = p(frame)
        self.assertEqual(outputs["y"].ravel().tolist(), [37.5, 48])
        self.assertEqual(outputs["z"].ravel().tolist(), ["m", "f"])
        with self.assertRaisesRegex(tern.InvalidArgument, "no column 'sex'"):
            p(Frame({"age": [1], "fare": [1.0]}))

    def test_all_columns_are_the_only_input(self):
        p = tern.load(one_op("Neg", shape=("N", 2)))
        np.testing.assert_array_equal(p(Frame({"a": [1.0, 2.0], "b": [3.0, 4.0]}))["y"], np.float32([[-1, -3], [-2, -4]]))

    def test_pandas(self):
        try:
            import pandas as pd
        except ImportError:
            self.skipTest("pandas is not installed")
        p = tern.load(one_op("Neg", shape=("N", 1)))
        frame = pd.DataFrame({"x": [1, 2], "w": [3, 4]})
        np.testing.assert_array_equal(p(frame)["y"].ravel(), [-1, -2])


if __name__ == "__main__":
    unittest.main()
