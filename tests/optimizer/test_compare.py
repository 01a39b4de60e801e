"""Tests the comparison: that it counts nodes, measures differences of outputs, and fails if Tern is worse than a
peer."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import child  # noqa: E402
import graphs  # noqa: E402
import outputs  # noqa: E402
import peers  # noqa: E402
from data import Model  # noqa: E402

# A fake tern. It copies the model, and reports the number of nodes that the test chooses.
FAKE = """#!{python}
import json, shutil, sys
assert sys.argv[1] == "optimize" and sys.argv[5:7] == ["--level", "extended"], sys.argv
shutil.copy({result!r} or sys.argv[2], sys.argv[4])
print(json.dumps({{"nodes_before": 2, "nodes_after": {nodes}, "rules": {{}}}}))
"""


def tensor(name, dims=(2, 3)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def small_model(ops=("Relu", "Neg"), functions=()):
    nodes = [helper.make_node(op, [f"v{k}"], [f"v{k + 1}"], domain="own" if op == "Twice" else "")
             for k, op in enumerate(ops)]
    graph = helper.make_graph(nodes, "g", [tensor("v0")], [tensor(f"v{len(ops)}")])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=8)


class Counting(unittest.TestCase):
    def test_constants_are_not_counted_and_subgraphs_are(self):
        one = helper.make_node("Constant", [], ["c"], value_float=1.0)
        branch = helper.make_graph([one, helper.make_node("Add", ["x", "c"], ["r"])], "b", [], [tensor("r")])
        node = helper.make_node("If", ["p"], ["y"], then_branch=branch, else_branch=branch)
        given = [helper.make_tensor_value_info("p", TensorProto.BOOL, []), tensor("x")]
        model = helper.make_model(helper.make_graph([node], "g", given, [tensor("y")]))
        self.assertEqual(graphs.ops(model), {"If": 1, "Add": 2})

    def test_functions_are_inlined(self):
        body = [helper.make_node("Add", ["a", "a"], ["s"]), helper.make_node("Abs", ["s"], ["b"])]
        twice = helper.make_function("own", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 18)])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(small_model(("Twice", "Relu", "Twice"), [twice]), path)
            self.assertEqual(graphs.ops(graphs.load(path)), {"Add": 2, "Abs": 2, "Relu": 1})


class Distance(unittest.TestCase):
    def distance(self, wanted, got):
        return outputs.distance({"y": np.array(wanted, "f4")}, {"y": np.array(got, "f4")})

    def test_is_relative_to_the_largest_magnitude(self):
        self.assertAlmostEqual(self.distance([1, -100], [2, -100]), 0.01)
        self.assertEqual(self.distance([0, 0], [0, 0]), 0)

    def test_nans_belong_to_their_places(self):
        self.assertEqual(self.distance([np.nan, np.inf, 1], [np.nan, np.inf, 1]), 0)
        self.assertEqual(self.distance([np.nan, 1], [1, np.nan]), float("inf"))
        self.assertEqual(self.distance([np.inf], [-np.inf]), float("inf"))

    def test_other_shapes_types_and_names_differ(self):
        self.assertEqual(self.distance([1, 2], [[1, 2]]), float("inf"))
        self.assertEqual(outputs.distance({"y": np.zeros(2, "f4")}, {"y": np.zeros(2, "f8")}), float("inf"))
        self.assertEqual(outputs.distance({"y": np.zeros(2)}, {"z": np.zeros(2)}), float("inf"))

    def test_maps_and_texts(self):
        self.assertEqual(outputs.distance({"y": [{1: 2.0, 0: 1.0}]}, {"y": [{0: 1.0, 1: 2.0}]}), 0)
        self.assertEqual(outputs.distance({"y": np.array(["a"], object)}, {"y": np.array(["b"], object)}), float("inf"))


class Children(unittest.TestCase):
    def reason(self, function, *args):
        with self.assertRaises(child.Failure) as caught:
            child.call(function, *args, limit=0.5)
        return str(caught.exception)

    def test_result_exception_death_and_hang(self):
        self.assertEqual(child.call(max, 1, 2, limit=5), 2)
        self.assertIn("ValueError", self.reason(int, "x"))
        self.assertIn("SIGSEGV", self.reason(lambda: os.kill(os.getpid(), signal.SIGSEGV)))
        self.assertIn("time limit", self.reason(time.sleep, 30))


class WholeScript(unittest.TestCase):
    """These tests write made-up results of peers to the cache, so that no peer needs to be installed."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)
        folder = self.dir / "models" / "small"
        folder.mkdir(parents=True)
        onnx.save(small_model(), folder / "model.onnx")
        np.save(folder / "input_0.npy", np.array([[1, -2, 3], [4, 5, -6]], "f4"))
        self.model = Model("small", folder / "model.onnx", False)

    def compare(self, nodes, peer, result=None):
        known = {f"{name} {version}": peer for name, version in peers.versions().items()}
        (self.dir / "models" / "peers.json").write_text(json.dumps({self.model.sha: known}))
        fake = self.dir / "tern"
        fake.write_text(FAKE.format(python=sys.executable, nodes=nodes, result=result and str(result)))
        fake.chmod(0o755)
        done = subprocess.run([sys.executable, HERE / "compare.py", "--tern", fake, "--models", self.dir / "models",
                               "--no-zoo", "--json"], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(bool(report["summary"]["failed"]), done.returncode == 1)
        return report["models"][0]["problems"]

    def test_as_few_nodes_pass(self):
        self.assertEqual(self.compare(2, {"nodes": 2, "ops": {}, "error": 0.0}), [])

    def test_one_node_more_fails(self):
        problems = self.compare(3, {"nodes": 2, "ops": {}, "error": 0.0})
        self.assertEqual(problems, [f"1 nodes more than {peer}" for peer in peers.OPTIMIZERS])

    def test_wrong_and_failed_peers_do_not_count(self):
        self.assertEqual(self.compare(3, {"nodes": 2, "ops": {}, "broken": "does not load"}), [])
        self.assertEqual(self.compare(3, {"nodes": 2, "ops": {}, "error": 0.5}), [])
        self.assertEqual(self.compare(3, {"reason": "time limit"}), [])

    def test_other_outputs_fail(self):
        other = self.dir / "other.onnx"
        onnx.save(small_model(("Abs", "Neg")), other)
        problems = self.compare(1, {"nodes": 2, "ops": {}, "error": 0.0}, other)
        self.assertEqual(len(problems), 1)
        self.assertIn("from the original's", problems[0])

    def test_a_broken_result_fails(self):
        broken = self.dir / "broken.onnx"
        onnx.save(small_model(("Abs", "NoSuchOperator")), broken)
        self.assertIn("NoSuchOperator", self.compare(1, {"nodes": 2, "ops": {}}, broken)[0])


if __name__ == "__main__":
    unittest.main()
