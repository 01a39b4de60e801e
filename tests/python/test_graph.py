"""tern.Graph, tern.optimize, tern.bench, tern.profile."""

import gc
import pathlib
import tempfile
import threading
import unittest

import numpy as np
import onnx
import support
import tern
from support import add, model, node, ones, value

TEXT = """graph @small(%x: f32[N,4]) -> (%y) {
  #w: f32[4] = (1, 2, 3, 4)
  %h = %x * #w
  %y = Relu(%h)
}"""
IMAGE = np.random.default_rng(0).random((2, 1, 28, 28), np.float32)


class Inspect(unittest.TestCase):
    def setUp(self):
        self.g = tern.Graph.parse(TEXT)

    def test_parts(self):
        g = self.g
        self.assertEqual((g.name, len(g), [v.name for v in g.inputs], [v.name for v in g.outputs]), ("small", 2, ["x"], ["y"]))
        multiply, relu = g.nodes
        self.assertEqual((multiply.op, multiply.attributes["kind"]), ("Binary", "mul"))
        self.assertEqual([v.name for v in multiply.inputs], ["x", "w"])
        self.assertEqual(multiply.outputs[0].users, [relu])
        self.assertEqual(relu.inputs[0].producer, multiply)
        self.assertIsNone(g["x"].producer)
        self.assertEqual(g["y"].type, "f32[N,4]")
        self.assertEqual(g["y"].info[3], ("N", 4))
        self.assertTrue(g["w"].is_constant and g["x"].is_input and not g["y"].is_constant)
        np.testing.assert_array_equal(g["w"].numpy(), [1, 2, 3, 4])
        self.assertEqual([c.name for c in g.constants], ["w"])
        self.assertEqual(len({multiply, relu, g.nodes[0]}), 2)  # hashable, compared by identity
        with self.assertRaisesRegex(tern.NotFound, "no value 'q'"):
            g["q"]
        with self.assertRaisesRegex(tern.InvalidArgument, "not a constant"):
            g["y"].numpy()

    def test_texts(self):
        self.assertIn("input  x: f32[N,4]", repr(self.g))
        self.assertIn("graph @small", str(self.g))
        again = tern.Graph.parse(self.g.exact_text())
        self.assertEqual(again.exact_text(), self.g.exact_text())
        page = self.g._repr_html_()
        self.assertIn("<table>", page)
        self.assertIn("kind=&#x27;mul&#x27;", page)

    def test_html_escapes_names(self):
        self.g["h"].name = "<script>"
        self.assertNotIn("<script>", self.g._repr_html_())

    def test_syntax_errors_name_the_place(self):
        with self.assertRaisesRegex(tern.Error, "line 1"):
            tern.Graph.parse("graph @broken(")

    def test_subgraphs(self):
        g = tern.Graph(support.endless())
        loop = next(n for n in g.nodes if n.subgraphs)
        body = loop.subgraphs[0]
        self.assertIn("Unary", [n.op for n in body.nodes])
        with self.assertRaises(tern.Unsupported):
            body.save("body.onnx")
        with self.assertRaises(tern.Unsupported):
            tern.load(body)

    def test_ops(self):
        names = {op.name for op in tern.ops()}
        self.assertLess({"Conv", "MatMul", "Binary"}, names)


class Edit(unittest.TestCase):
    def setUp(self):
        self.g = tern.Graph.parse(TEXT)

    def run_graph(self, *inputs):
        return tern.load(self.g)(*inputs)[0]

    def test_insert_a_node(self):
        g = self.g
        y = g.outputs[0]
        twice = g.add("Binary", [y, np.float32(2)], kind="mul", name="twice")
        self.assertEqual(twice.type, "f32[N,4]")
        g.replace(y, twice)
        self.assertEqual([v.name for v in g.outputs], ["y"])  # the output keeps its name
        np.testing.assert_array_equal(self.run_graph(ones(1, 4)), [[2, 4, 6, 8]])
        g.verify()

    def test_remove_a_node(self):
        g = self.g
        relu = g.nodes[1]
        with self.assertRaisesRegex(tern.InvalidArgument, "'y' is still read; replace it first"):
            g.remove(relu)
        g.replace(relu.outputs[0], relu.inputs[0])
        g.remove(relu)
        self.assertEqual(len(g), 1)
        np.testing.assert_array_equal(self.run_graph(-ones(1, 4)), [[-1, -2, -3, -4]])
        with self.assertRaisesRegex(tern.InvalidArgument, "no longer in the graph"):
            relu.op  # noqa: B018

    def test_attributes(self):
        multiply = self.g.nodes[0]
        multiply.set(kind="add")
        np.testing.assert_array_equal(self.run_graph(ones(1, 4)), [[2, 3, 4, 5]])
        with self.assertRaisesRegex(tern.InvalidArgument, "no attribute 'axis'; it has: kind"):
            multiply.set(axis=1)
        with self.assertRaises(tern.InvalidArgument):
            multiply.set(kind="nonsense")
        self.assertEqual(multiply.attributes["kind"], "add")

    def test_constants(self):
        self.g["w"].set([4, 3, 2, 1])
        np.testing.assert_array_equal(self.run_graph(ones(1, 4)), [[4, 3, 2, 1]])
        with self.assertRaises(tern.Error):
            self.g["w"].set([1, 2, 3])  # does not broadcast with x
        np.testing.assert_array_equal(self.run_graph(ones(1, 4)), [[4, 3, 2, 1]])
        with self.assertRaisesRegex(tern.InvalidArgument, "'x' is not a constant"):
            self.g["x"].set([1])

    def test_names_and_outputs(self):
        self.g["y"].name = "result"
        self.assertEqual(list(tern.load(self.g)(ones(1, 4))), ["result"])
        with self.assertRaisesRegex(tern.InvalidArgument, "already has a value 'w'"):
            self.g["x"].name = "w"
        self.g.outputs = ["result", self.g["h"]]
        self.assertEqual(list(tern.load(self.g)(ones(1, 4))), ["result", "h"])
        self.g.outputs = ["h"]
        self.assertEqual(self.g.clean(), 1)
        self.assertEqual(len(self.g), 1)

    def test_build_a_graph(self):
        g = tern.Graph.empty("built")
        x = g.add_input("x", "f32[N,3]")
        w = g.add_constant(np.eye(3, dtype=np.float32) * 2, "w")
        g.outputs = [g.add("MatMul", [x, w], name="y")]
        np.testing.assert_array_equal(tern.load(g)(ones(1, 3))["y"], [[2, 2, 2]])

    def test_errors_leave_the_graph_unchanged(self):
        g = self.g
        before = g.exact_text()
        for action in (lambda: g.add("NoSuchOp", ["x"]), lambda: g.add("MatMul", ["x"]), lambda: g.add("Concat", ["x", "w"], axis=9),
                       lambda: g.add("Binary", ["x", "w"], kind=3), lambda: g.add("Binary", ["x", "nothing"]), lambda: g.add("If", ["x"]),
                       lambda: g.add_input("x", "f32[2]"), lambda: g.add_input("z", "f32["), lambda: g.nodes[0].set_input(5, g["x"]),
                       lambda: setattr(g, "outputs", [None]), lambda: g.nodes[0].set_input(0, None),
                       lambda: g.replace(g["h"], g["y"]) or g.nodes[1].set_input(0, g["y"])):
            with self.subTest(action), self.assertRaises((tern.Error, TypeError)):
                action()
            g.verify()
        self.assertEqual(before.splitlines()[0], g.exact_text().splitlines()[0])

    def test_a_failed_edit_leaves_no_constants(self):
        before = self.g.exact_text()
        for inputs in ([self.g["x"], np.ones(3, np.float32)], [np.ones(4, np.float32), "nothing"]):
            with self.assertRaises(tern.Error):
                self.g.add("Add", inputs)
            self.assertEqual(self.g.exact_text(), before)

    def test_values_of_other_graphs(self):
        other = tern.Graph.parse(TEXT)
        with self.assertRaisesRegex(tern.InvalidArgument, "another graph"):
            self.g.add("Relu", [other["x"]])
        with self.assertRaisesRegex(tern.InvalidArgument, "another graph"):
            self.g.replace(self.g["h"], other["x"])

    def test_parts_keep_the_graph_alive(self):
        relu = tern.Graph.parse(TEXT).nodes[1]
        gc.collect()
        self.assertEqual(relu.inputs[0].name, "h")

    def test_clone_is_independent(self):
        clone = self.g.clone()
        clone["y"].name = "z"
        self.assertEqual(self.g.outputs[0].name, "y")


class Passes(unittest.TestCase):
    def test_optimize(self):
        graph, report = tern.optimize(support.DIGITS, "layout")
        self.assertLess(len(graph), report.nodes_before)
        self.assertEqual(report.nodes_after, len(graph))
        self.assertEqual(report.hits["FuseActivationIntoConv"], 6)
        self.assertIn("FuseActivationIntoConv", repr(report))
        self.assertIn("<table>", report._repr_html_())
        np.testing.assert_allclose(tern.load(graph, optimize="none")(IMAGE)[0], tern.load(support.DIGITS)(IMAGE)[0], rtol=1e-4, atol=1e-6)

    def test_the_given_graph_stays(self):
        g = tern.Graph(support.DIGITS)
        text = g.exact_text()
        tern.optimize(g)
        self.assertEqual(g.exact_text(), text)

    def test_parts_become_invalid(self):
        g = tern.Graph(support.DIGITS)
        first = g.nodes[0]
        g.run_passes("extended", disable=["FuseActivationIntoConv"])
        with self.assertRaisesRegex(tern.InvalidArgument, "no longer in the graph"):
            first.name  # noqa: B018
        self.assertIn("Unary", [n.op for n in g.nodes])

    def test_bad_arguments(self):
        with self.assertRaisesRegex(tern.InvalidArgument, "'most' is not an optimization level"):
            tern.optimize(support.DIGITS, "most")
        with self.assertRaisesRegex(tern.Error, "NoSuchRule"):
            tern.optimize(support.DIGITS, disable=["NoSuchRule"])

    def test_threads_do_not_share_a_graph_that_is_optimized(self):
        g = tern.Graph(support.DIGITS)
        errors = []

        def work():
            for _ in range(20):
                try:
                    g.run_passes("basic")
                    len(g.nodes)
                except tern.InvalidArgument as error:
                    errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(all("work on a clone" in text for text in errors), errors[:1])
        g.verify()


class Save(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)

    def test_both_formats(self):
        g = tern.Graph(support.DIGITS)
        expected = tern.load(g)(IMAGE)[0]
        for name in ("a.onnx", "a.tern"):
            g.save(self.dir / name)
            np.testing.assert_allclose(tern.load(self.dir / name)(IMAGE)[0], expected, rtol=1e-5)
            np.testing.assert_allclose(tern.load(g.to_bytes(name[2:]))(IMAGE)[0], expected, rtol=1e-5)
        onnx.checker.check_model(str(self.dir / "a.onnx"))
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["a.onnx", "a.tern"])

    def test_external_data(self):
        tern.Graph(support.DIGITS).save(self.dir / "a.onnx", external_data=True)
        self.assertTrue((self.dir / "a.onnx.data").exists())
        self.assertEqual(tern.load(self.dir / "a.onnx")(IMAGE)[0].shape, (2, 10))

    def test_errors(self):
        g = tern.Graph.parse(TEXT)
        with self.assertRaisesRegex(tern.InvalidArgument, "must end in .onnx or .tern"):
            g.save(self.dir / "a.txt")
        with self.assertRaises(OSError):
            g.save(self.dir / "no/such/folder.tern")
        with self.assertRaisesRegex(tern.InvalidArgument, "choose onnx or tern"):
            g.to_bytes("text")
        self.assertEqual(list(self.dir.iterdir()), [])


class Measure(unittest.TestCase):
    def test_bench(self):
        result = tern.bench(support.DIGITS, dims={"N": 2}, runs=7, threads=1)
        self.assertEqual(len(result.latencies), 7)
        self.assertEqual(result.latencies, sorted(result.latencies))
        self.assertEqual(result.fastest, result.percentile(0))
        self.assertGreater(result.load_ms, 0)
        self.assertIn("median", repr(result))
        self.assertIn("median", result._repr_html_())
        self.assertGreater(len(tern.bench(tern.load(add()), [ones(1, 4), ones(1, 4)], seconds=0.02).latencies), 10)

    def test_bad_arguments(self):
        with self.assertRaisesRegex(tern.InvalidArgument, "no input has a dim 'M'; open dims are: N"):
            tern.bench(support.DIGITS, dims={"M": 1})
        with self.assertRaises(tern.InvalidArgument):
            tern.bench(support.DIGITS, runs=-1)
        with self.assertRaisesRegex(tern.InvalidArgument, "already loaded"):
            tern.bench(tern.load(add()), threads=1)
        strings = model([node("Identity", "x", "y")], [value("x", onnx.TensorProto.STRING)], [value("y", onnx.TensorProto.STRING)])
        with self.assertRaisesRegex(tern.InvalidArgument, "no random values; pass `inputs`"):
            tern.bench(strings)

    def test_profile(self):
        result = tern.profile(tern.load(support.DIGITS, batch=1), runs=3)
        self.assertEqual(len(result.latencies), 3)
        self.assertAlmostEqual(sum(row.ms for row in result.by_op()), result.ms)
        self.assertAlmostEqual(sum(row.percent for row in result.by_op()), 100)
        self.assertGreater(max(n.flops for n in result.nodes), 1e5)
        self.assertIn("Conv", repr(result))
        self.assertIn("<table>", result._repr_html_())


if __name__ == "__main__":
    unittest.main()
