"""Tests tern optimize and tern passes: the report, the files, the options, and that optimizing an optimized model
changes nothing."""

import collections
import contextlib
import pathlib
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from support import FLOAT, TERN, CliTest, make_model

ARCHITECTURES = pathlib.Path(__file__).resolve().parents[1] / "data/architectures"


def gelu_mlp():
    """Returns a model of an Identity, a matrix product with a bias, a GELU written as small ops, and a matrix
    product."""
    rng = np.random.default_rng(1)
    weight = lambda *dims: rng.normal(size=dims).astype(np.float32)
    nodes = [
        helper.make_node("Identity", ["x"], ["i"], "pass"),
        helper.make_node("MatMul", ["i", "w1"], ["h"], "first"),
        helper.make_node("Add", ["h", "b1"], ["a"], "bias"),
        helper.make_node("Div", ["a", "root"], ["d"], "div"),
        helper.make_node("Erf", ["d"], ["e"], "erf"),
        helper.make_node("Add", ["e", "one"], ["p"], "plus"),
        helper.make_node("Mul", ["a", "half"], ["f"], "halve"),
        helper.make_node("Mul", ["f", "p"], ["g"], "gelu"),
        helper.make_node("MatMul", ["g", "w2"], ["y"], "second"),
    ]
    constants = {"w1": weight(8, 16), "b1": weight(16), "w2": weight(16, 4), "root": np.float32(2 ** 0.5),
                 "one": np.float32(1), "half": np.float32(0.5)}
    constants = {name: np.asarray(value) for name, value in constants.items()}
    return make_model(nodes, {"x": (FLOAT, ["batch", 8])}, {"y": (FLOAT, ["batch", 4])}, constants)


def mapped(pid, path):
    """Returns the fields of /proc/PID/smaps for a mapped file, in kB."""
    held, here = collections.Counter(), False
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            here = line.endswith(str(path))
        elif here and rest[1:] == ["kB"]:
            held[first[:-1]] += int(rest[0])
    return held


class Optimize(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.save(gelu_mlp())

    def optimize(self, out, *args, model=None):
        return self.json("optimize", model or self.model, "-o", self.dir / out, "--json", *args)

    def test_packed_weights_are_stored_and_used(self):
        plain, packed = self.dir / "plain.tern", self.dir / "packed.tern"
        self.ok("optimize", self.model, "-o", plain, "--level", "layout")
        self.ok("optimize", self.model, "-o", packed, "--level", "layout", "--pack")
        self.assertGreater(packed.stat().st_size, plain.stat().st_size)
        self.ok("verify", packed, "--against", plain, "--dim", "batch=3")
        self.refused("optimize", self.model, "-o", self.dir / "x.onnx", "--level", "layout", "--pack", says="--pack is for a .tern")
        self.refused("optimize", self.model, "-o", self.dir / "x.tern", "--pack", "--level", "basic", says="at --level layout")
        self.ok("optimize", self.model, "-o", self.dir / "short.tern", "--pack")
        self.assertEqual((self.dir / "short.tern").read_bytes(), packed.read_bytes())
        self.ok("convert", packed, "-o", self.dir / "back.onnx")
        names = {name for node in onnx.load(self.dir / "back.onnx").graph.node for name in node.input}
        self.assertLessEqual({constant.name for constant in onnx.load(self.dir / "back.onnx").graph.initializer}, names)
        self.refused("optimize", self.model, "--level", "layout", "--pack", says="give one with -o OUT.tern")

    def test_names_are_unique_and_those_of_the_op_that_does_the_work(self):
        layers = self.json("inspect", self.model, "--level", "layout", "--json")["layers"]
        self.assertEqual([(layer["name"], layer["op"]) for layer in layers], [("first", "MatMul"), ("second", "MatMul")])
        folders = sorted(path for path in ARCHITECTURES.iterdir() if path.is_dir())
        self.assertGreater(len(folders), 5)
        for folder in folders:
            for level in ("basic", "extended", "layout"):
                layers = self.json("inspect", folder / "model.onnx", "--level", level, "--json")["layers"]
                names = collections.Counter(layer["name"] for layer in layers if layer["name"])
                self.assertEqual([name for name, count in names.items() if count > 1], [], f"{folder.name} {level}")
                self.assertGreater(len(names), 10)

    def test_weights_are_packed_for_a_precision(self):
        rng = np.random.default_rng(3)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Conv", ["i", "k"], ["j"])]
        outputs, constants = {"h": (FLOAT, [4, 256]), "j": (FLOAT, [1, 64, 6, 6])}, {"w": (256, 256), "k": (64, 64, 3, 3)}
        constants = {name: rng.normal(size=dims).astype(np.float32) for name, dims in constants.items()}
        model = self.save(make_model(nodes, {"x": (FLOAT, [4, 256]), "i": (FLOAT, [1, 64, 8, 8])}, outputs, constants), "both.onnx")
        for precision, other in (("fp32", "bf16"), ("bf16", "fp32")):
            packed = self.dir / f"{precision}.tern"
            self.ok("optimize", model, "-o", packed, "--level", "layout", "--pack", "--precision", precision)
            made = {p: self.json("bench", packed, "--seconds", 0, "--precision", p, "--json")["packed_mb"] for p in (precision, other)}
            self.assertEqual(made[precision], 0)
            self.assertGreater(made[other], 0)
            run = lambda path: self.json("run", path, "--random", 1, "--precision", precision, "--json")["outputs"]
            self.assertEqual(run(packed), run(model))
        self.refused("optimize", self.model, "--precision", "bf16", says="--precision is for --pack")

    def test_packed_weights_serve_open_dims(self):
        rng = np.random.default_rng(3)
        for channels, maps in ((8, 8), (16, 4), (64, 64)):
            weights = {"k": rng.normal(size=(maps, channels, 1, 1)).astype(np.float32), "w": rng.normal(size=(256, 192)).astype(np.float32)}
            nodes = [helper.make_node("Conv", ["i", "k"], ["j"]), helper.make_node("MatMul", ["x", "w"], ["h"])]
            model = self.save(make_model(nodes, {"i": (FLOAT, ["N", channels, "H", "W"]), "x": (FLOAT, ["M", 256])},
                                         {"j": (FLOAT, ["N", maps, "H", "W"]), "h": (FLOAT, ["M", 192])}, weights))
            image, rows = self.npy("i.npy", np.ones((2, channels, 56, 56), np.float32)), self.npy("x.npy", np.ones((40, 256), np.float32))
            for precision in ("fp32", "bf16"):
                plain, packed = (self.dir / f"{channels}.{precision}.{kind}.tern" for kind in ("plain", "packed"))
                self.ok("optimize", model, "-o", plain, "--level", "layout")
                self.ok("optimize", model, "-o", packed, "--level", "layout", "--pack", "--precision", precision)
                made = [self.json("bench", path, "--seconds", 0, "--precision", precision, "--input", f"i={image}", "--input", f"x={rows}", "--json")["packed_mb"]
                        for path in (plain, packed)]
                self.assertGreater(made[0], 0)
                self.assertEqual(made[1], 0)

    def test_packing_nothing_is_said(self):
        x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy")
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
        model = self.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "relu.onnx")
        done = self.ok("optimize", model, "-o", self.dir / "relu.tern", "--level", "layout", "--pack")
        self.assertIn("--pack stored nothing", done.stderr)

    def test_two_processes_share_packed_weights(self):
        rng = np.random.default_rng(3)
        constants = {f"w{i}": rng.normal(size=(1024, 1024)).astype(np.float32) for i in range(2)}
        nodes = [helper.make_node("MatMul", [f"x{i}" if i else "x", f"w{i}"], [f"x{i + 1}" if i == 0 else "y"]) for i in range(2)]
        model = self.save(make_model(nodes, {"x": (FLOAT, [1, 1024])}, {"y": (FLOAT, [1, 1024])}, constants))
        packed = self.dir / "shared.tern"
        self.ok("optimize", model, "-o", packed, "--level", "layout", "--pack")
        command = [TERN, "bench", str(packed), "--rounds", "--threads", "1"]
        with contextlib.ExitStack() as stack:
            processes = [stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)) for _ in range(2)]
            for process in processes:
                process.stdin.write(b"1 0\n")
                process.stdin.flush()
                for _ in range(2):  # the process prints a line when it is ready, and a line for each round
                    self.assertTrue(process.stdout.readline())
            for process in processes:
                held = mapped(process.pid, packed)
                self.assertGreaterEqual(held["Rss"], 8 * 1024)  # kB; both weights are mapped
                self.assertLessEqual(held["Pss"], 0.55 * held["Rss"])  # Pss counts half of a page that both processes map
                self.assertEqual(held["Anonymous"], 0)
            for process in processes:
                process.stdin.close()

    def run_onnx(self, path, x):
        return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]

    def test_report_and_results(self):
        report = self.optimize("out.onnx")
        self.assertLess(report["nodes_after"], report["nodes_before"])
        self.assertEqual(report["rules"]["RecomposeGelu"], 1)
        for key in ("flops_before", "flops_after", "bytes_before", "bytes_after"):
            self.assertGreater(report[key], 0)
        onnx.checker.check_model(self.dir / "out.onnx", full_check=True)
        x = np.random.default_rng(2).normal(size=(5, 8)).astype(np.float32)
        np.testing.assert_allclose(self.run_onnx(self.dir / "out.onnx", x), self.run_onnx(self.model, x), rtol=1e-4, atol=1e-5)

    def nodes_of(self, graph):
        inner = [a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
        return len(graph.node) + sum(map(self.nodes_of, inner))

    def test_the_nodes_of_the_file_are_counted(self):
        x, cond = (FLOAT, [2, 8]), (onnx.TensorProto.BOOL, [])
        branch = gelu_mlp().graph
        del branch.input[:]
        model = make_model([helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)], {"c": cond, "x": x}, {"z": (FLOAT, [2, 4])})
        model = self.save(model, "nested.onnx")
        for source, args in ((self.model, ()), (self.model, ("--standard",)), (model, ("--standard",))):
            out = self.dir / "out.onnx"
            report = self.optimize(out.name, *args, model=source)
            self.assertEqual(report["nodes_written"], self.nodes_of(onnx.load(out).graph))
            self.assertIn(f"\nwritten: {out}, {report['nodes_written']} ONNX nodes\n", self.ok("optimize", source, "-o", out, *args).stdout)
            if args:
                self.assertNotEqual(report["nodes_written"], report["nodes_after"])
        report = self.optimize("out.tern")
        self.assertEqual(report["nodes_written"], report["nodes_after"])
        self.assertNotIn("nodes_written", self.json("optimize", self.model, "--json"))
        fused, plain = self.dir / "fused.tern", self.dir / "plain.onnx"
        self.ok("optimize", self.model, "-o", fused)
        self.assertEqual(self.json("convert", fused, "-o", plain, "--json")["nodes"], self.nodes_of(onnx.load(plain).graph))

    def test_dims_that_are_given_are_fixed_in_the_file(self):
        for command in ("optimize", "convert"):
            for args, dim in ((("--dim", "batch=4"), 4), ((), "batch")):
                self.ok(command, self.model, "-o", self.dir / "out.onnx", *args)
                found = onnx.load(self.dir / "out.onnx").graph.input[0].type.tensor_type.shape.dim[0]
                self.assertEqual(found.dim_value or found.dim_param, dim)
            for option in ("--dim", "--shape"):
                self.assertRegex(" ".join(self.ok(command, "--help").stdout.split()), rf"{option} \S+ [^-]*fixed in the output file")

    def test_levels(self):
        counts = [self.optimize("out.tern", "--level", level)["nodes_after"] for level in ("none", "basic", "extended", "layout")]
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.assertGreater(counts[0], counts[2])
        self.assertEqual(self.optimize("out.tern", "--level", "none")["rules"], {})

    def test_idempotent_and_deterministic(self):
        self.optimize("a.tern")
        self.optimize("b.tern")
        self.assertEqual((self.dir / "a.tern").read_bytes(), (self.dir / "b.tern").read_bytes())
        again = self.optimize("c.tern", model=self.dir / "a.tern")
        self.assertEqual(again["rules"], {})
        self.assertEqual(again["nodes_after"], again["nodes_before"])

    def test_switches(self):
        self.assertNotIn("RecomposeGelu", self.optimize("out.onnx", "--disable", "RecomposeGelu")["rules"])
        self.assertEqual(list(self.optimize("out.onnx", "--only", "RemoveIdentity")["rules"]), ["RemoveIdentity"])
        text = self.ok("optimize", self.model, "--print-after", "clean").stdout
        self.assertIn("// after clean", text)
        self.assertIn('{kind="erf"}', text)

    def test_why_not(self):
        why = self.ok("optimize", self.model, "--only", "RemoveIdentity", "--only", "RecomposeGelu", "--why-not", "RecomposeGelu@gelu")
        self.assertIn("the rule was applied", why.stdout)
        why = self.ok("optimize", self.model, "--why-not", "RecomposeGelu@second")
        self.assertIn("no node of that name", why.stdout)

    def test_mistakes(self):
        for args, says in [(("--disable", "Nothing"), "'Nothing'"), (("--only", "Nothing"), "'Nothing'"),
                           (("--stop-after", "lunch"), "'lunch'"), (("--print-after", "lunch"), "'lunch'"),
                           (("--why-not", "Nothing@x"), "'Nothing'"), (("-o", self.dir / "out.txt"), "out.txt"),
                           (("-o", self.model), "the input itself")]:
            with self.subTest(args=args):
                self.refused("optimize", self.model, *args, says=says)
        self.assertEqual(self.files(), ["model.onnx"])

    def test_passes(self):
        listed = self.json("passes", "--json")
        ids = [row["id"] for row in listed["passes"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn("RecomposeGelu", ids)
        self.assertIn("FoldConstants", ids)
        for row in listed["passes"]:
            self.assertTrue(row["summary"] and row["level"] in ("basic", "extended", "layout"), row)
        self.assertIn("RecomposeGelu", self.ok("passes").stdout)
