"""Memory of arguments and results: nothing that was freed or changed is read."""

import unittest

import numpy as np
import support
import tern
from onnx import TensorProto, helper


def optional_input():
    """has = whether the optional o has a value; y = o, or [-1]"""
    element = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    info = helper.make_value_info("o", helper.make_optional_type_proto(element))
    then = helper.make_graph([support.node("OptionalGetElement", "o", "t")], "then", [], [support.value("t", shape=("n",))])
    minus = helper.make_tensor("minus", TensorProto.FLOAT, [1], [-1.0])
    other = helper.make_graph([helper.make_node("Constant", [], ["e"], value=minus)], "other", [], [support.value("e", shape=("m",))])
    nodes = [support.node("OptionalHasElement", "o", "has"), helper.make_node("If", ["has"], ["y"], then_branch=then, else_branch=other)]
    return support.model(nodes, [info], [support.value("y", shape=("k",)), support.value("has", TensorProto.BOOL, [])])


class Memory(unittest.TestCase):
    def test_an_optional_input_does_not_keep_its_last_value(self):
        predictor = tern.load(optional_input(), parallel=1)
        first = predictor.run({})
        self.assertFalse(first["has"])
        self.assertEqual(predictor.run({"o": np.full(8, 5, np.float32)})["y"].tolist(), [5] * 8)
        again = predictor.run({})
        self.assertFalse(again["has"])
        self.assertEqual(again["y"].tolist(), [-1])

    def test_a_dict_that_its_values_change(self):
        predictor = tern.load(support.one_op("Neg", shape=("N",)))
        feeds = {}

        class Value:
            @property
            def __dlpack__(self):
                feeds.clear()
                raise AttributeError

            def __array__(self, dtype=None, copy=None):
                return np.ones(3, np.float32)
        feeds["x"] = Value()
        self.assertEqual(predictor.run(feeds)["y"].tolist(), [-1, -1, -1])

    def test_an_output_that_is_asked_for_twice(self):
        predictor = tern.load(support.one_op("Neg", shape=("N",)))
        for size in (4, 20_000):
            x, out = np.ones(size, np.float32), np.zeros(size, np.float32)
            predictor(x)
            predictor.run([x], ["y", "y"], out={"y": out})
            self.assertTrue((out == -1).all(), size)
        with self.assertRaisesRegex(tern.InvalidArgument, "out is a dict"):
            predictor.run([x], out=[out])

    def test_names_whose_comparison_fails(self):
        class Name:
            def __eq__(self, other):
                raise RuntimeError("no")

            def __hash__(self):
                return 1
        with self.assertRaisesRegex(RuntimeError, "no"):
            tern.load(support.one_op("Neg")).run([np.ones((1, 4), np.float32)], [Name()])

    def test_a_model_in_memory_that_changes(self):
        weights = np.full((64, 64), 3, np.float32)
        initial = helper.make_tensor("w", TensorProto.FLOAT, weights.shape, weights.tobytes(), raw=True)
        made = support.model([support.node("Add", "x w", "y")], [support.value("x", shape=(64, 64))], [support.value("y", shape=(64, 64))], [initial])
        stored = bytearray(tern.Graph(made).to_bytes("tern"))
        predictor = tern.load(stored)
        at = stored.find(np.full(64, 3, np.float32).tobytes())
        self.assertGreater(at, 0)
        stored[at:at + weights.nbytes] = np.full(weights.shape, 9, np.float32).tobytes()
        self.assertEqual(predictor(np.zeros((64, 64), np.float32))["y"].max(), 3)

    def test_the_time_limit_of_a_pipeline(self):
        pipeline = tern.Pipeline(support.DIGITS)
        path = support.ROOT / "examples/digits/samples/7_0.png"
        self.assertEqual(pipeline(path, timeout=float("inf"))["digit"][0]["label"], "7")
        with self.assertRaisesRegex(tern.InvalidArgument, "timeout is"):
            pipeline(path, timeout=float("nan"))


if __name__ == "__main__":
    unittest.main()
