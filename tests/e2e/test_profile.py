"""Tests tern profile: the table, the keys of its JSON, the HTML page and the trace."""

import json
import re
import xml.etree.ElementTree as xml

import numpy as np
from onnx import helper

from support import FLOAT, CliTest, make_model, run


def two_products():
    weight = np.ones((64, 64), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "first<&>"), helper.make_node("Softmax", ["h"], ["s"], "soft"),
             helper.make_node("MatMul", ["s", "w"], ["y"], "second")]
    return make_model(nodes, {"x": (FLOAT, ["batch", 64])}, {"y": (FLOAT, ["batch", 64])}, {"w": weight})


class Profile(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.save(two_products())

    def test_json_has_every_node_with_its_rate(self):
        found = self.json("profile", self.model, "--runs", "3", "--dim", "batch=32", "--threads", "1", "--json")
        by_name = {node["name"]: node for node in found["nodes"]}
        self.assertEqual(set(by_name), {"first<&>", "soft", "second"})
        product = by_name["second"]
        self.assertEqual((product["op"], product["calls"], product["flops"]), ("MatMul", 1, 2 * 32 * 64 * 64))
        self.assertTrue(product["kernel"].startswith("cpu."))
        rounding = 1e-4 / product["ms"]  # "ms" is rounded, and this is its relative error
        self.assertAlmostEqual(product["gflops"], product["flops"] / product["ms"] / 1e6, delta=(rounding + 0.01) * product["gflops"])
        self.assertAlmostEqual(product["percent_of_peak"], 100 * product["gflops"] / found["peak_gflops"], delta=0.5)
        self.assertAlmostEqual(sum(node["ms"] for node in found["nodes"]), found["ms"], delta=0.001)
        self.assertEqual((found["runs"], found["threads"]), (3, 1))

    def test_page_and_trace(self):
        page, trace = self.dir / "p.html", self.dir / "t.json"
        table = self.ok("profile", self.model, "--runs", "2", "--dim", "batch=32", "--html", page, "--trace", trace).stdout
        self.assertIn("second", table)
        roofs = [float(line.split()[-1]) for line in table.splitlines() if re.match(r"first<&>|soft|second", line)]
        self.assertEqual(len(roofs), 3)
        self.assertEqual("% roof above 100: the step's data came from a cache" in table, max(roofs) > 100)
        text = page.read_text()
        self.assertIn("above 100: the data came from a cache", text)
        chart = xml.fromstring(text[text.index("<svg"):text.index("</svg>") + 6])
        self.assertEqual(len([e for e in chart if e.tag == "circle"]), 3)
        self.assertIn("first&lt;&amp;&gt;", text)
        events = json.loads(trace.read_text())["traceEvents"]
        self.assertEqual([e["name"] for e in events], ["first<&>", "soft", "second"])
        for before, after in zip(events, events[1:]):
            self.assertGreaterEqual(after["ts"] + 1e-3, before["ts"] + before["dur"])

    def test_a_step_of_two_nodes(self):
        weights = {"w": np.ones((64, 64, 3, 3), np.float32)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["h"], "filter", pads=[1, 1, 1, 1]),
                 helper.make_node("MaxPool", ["h"], ["y"], "pool", kernel_shape=[2, 2], strides=[2, 2])]
        model = self.save(make_model(nodes, {"x": (FLOAT, [1, 64, 56, 56])}, {"y": (FLOAT, [1, 64, 28, 28])}, weights))
        found = self.json("profile", model, "--runs", "2", "--threads", "1", "--json")
        step = next(node for node in found["nodes"] if node["op"] == "Conv")
        self.assertEqual((step["name"], step["next"], step["next_op"]), ("filter", "pool", "Pool.max"))
        self.assertEqual(step["output"], "f32[1,28,28,64]")
        self.assertNotIn("pool", [node["name"] for node in found["nodes"] if node["op"] != "Transpose"])
        image, pooled = 56 * 56 * 64, 28 * 28 * 64
        self.assertEqual(step["flops"], 2 * image * 64 * 9 + 4 * pooled)
        self.assertEqual(step["bytes"], 4 * (image + 64 * 64 * 9 + pooled))
        self.assertIn("Conv + Pool.max", self.ok("profile", model, "--runs", "2").stdout)

    def test_bad_options(self):
        self.refused("profile", self.model, "--seconds", "-1", says=["--seconds -1"])

    def test_a_missing_isa_names_a_value_of_the_option(self):
        done = run("profile", self.model, "--isa", "avx512", "--runs", "1")
        if done.returncode == 0:
            self.skipTest("this machine has avx512")
        self.assertRegex(done.stderr, r"--isa avx512: this machine has only (base|sse4|avx2)\n")

    def test_bf16_is_rated_as_what_it_is(self):
        weights = {"w": np.ones((256, 256), np.float32)}
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "product"), helper.make_node("Softmax", ["h"], ["y"], "soft")]
        model = self.save(make_model(nodes, {"x": (FLOAT, [64, 256])}, {"y": (FLOAT, [64, 256])}, weights))
        page = self.dir / "p.html"
        found = self.json("profile", model, "--runs", "2", "--threads", "1", "--precision", "bf16", "--json", "--html", page)
        self.assertEqual((found["precision"], found["isa"]), ("bf16", self.json("bench", model, "--seconds", "0", "--json")["isa"]))
        self.assertIn("bf16", page.read_text())
        product, soft = sorted(found["nodes"], key=lambda node: node["name"])
        self.assertTrue(product["kernel"].endswith(".bf16"), product)
        # An element of the packed weights has two bytes. An element of a node's input or output has four bytes.
        self.assertEqual(product["bytes"], 2 * 256 * 256 + 2 * 4 * 64 * 256)
        self.assertEqual(soft["bytes"], 2 * 4 * 64 * 256)
        for node, peak in ((soft, found["peak_gflops"]), (product, found.get("peak_gflops_bf16", found["peak_gflops"]))):
            self.assertAlmostEqual(node["percent_of_peak"], 100 * node["gflops"] / peak, delta=0.01 * node["percent_of_peak"] + 0.01)
        plain = self.json("profile", model, "--runs", "2", "--threads", "1", "--json")
        self.assertEqual(plain["precision"], "fp32")
        self.assertNotIn("peak_gflops_bf16", plain)

    def test_bf16_between_convolutions_counts_two_bytes(self):
        shape = {"kernel_shape": [1, 1]}
        nodes = [helper.make_node("Conv", ["x", "v"], ["g"], "first", **shape), helper.make_node("Relu", ["g"], ["h"], "relu"),
                 helper.make_node("Conv", ["h", "w"], ["y"], "second", **shape)]
        weights = {name: np.ones((64, 64, 1, 1), np.float32) for name in "vw"}
        for batch, cut in ((1, False), (64, True)):  # a batch of 64 is split into slices
            dims = [batch, 64, 28, 28]
            model = self.save(make_model(nodes, {"x": (FLOAT, dims)}, {"y": (FLOAT, dims)}, weights))
            found = self.json("profile", model, "--runs", "2", "--threads", "1", "--precision", "bf16", "--json")
            products = [node for node in found["nodes"] if node["op"] == "Conv"]
            self.assertEqual((len(products), {node["calls"] > 1 for node in products}), (2, {cut}))
            values = 64 * 28 * 28 * batch
            for node in products:
                self.assertEqual(node["bytes"], 4 * values + 2 * values + 2 * 64 * 64)
