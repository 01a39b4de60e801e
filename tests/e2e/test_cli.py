"""Tests the command line: help, exit codes, JSON, files, and sub-commands without a test file of their own."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

from support import FLOAT, TERN, CliTest, add, make_model, mlp, run



class Usage(CliTest):
    def test_help_lists_every_command(self):
        commands, text = self.commands(), self.ok("--help").stdout
        self.assertLessEqual({"bench", "convert", "demo", "doctor", "inspect", "ops", "optimize", "passes", "profile", "run", "verify"}, set(commands))
        self.assertEqual(commands, sorted(set(commands)))
        for command in commands:
            self.assertIn(f"\n  {command} ", text)
        self.refused("nonsense", says="the commands are: " + ", ".join(commands))

    def test_the_guide_describes_every_command(self):
        page = next((pathlib.Path(__file__).resolve().parents[2] / "docs").rglob("cli.md"))
        rows = re.findall(r"^\| `(?:tern )?(\w+)[ `]", page.read_text(), re.M)
        self.assertEqual([command for command in self.commands() if command not in rows], [], page)

    def test_every_command_has_help_with_examples_and_json(self):
        for command in self.commands():
            with self.subTest(command):
                text = self.ok(command, "--help").stdout
                self.assertIn("examples:", text)
                self.assertIn(f"tern {command}", text)
                if command != "serve":  # serve writes JSON only to the ready file and the access log
                    self.assertIn("--json", text)

    def test_version(self):
        self.assertRegex(self.ok("--version").stdout, r"^tern \d+\.\d+\.\d+\n$")

    def test_bad_usage_is_code_2(self):
        for args in ([], ["nonsense"], ["run"], ["run", "m.onnx", "--nonsense"], ["run", "m.onnx", "--random", "x"],
                     ["bench", "m.onnx", "--threads", "-1"], ["run", "m.onnx", "--format", "gif"], ["inspect", "a.onnx", "b.onnx"]):
            with self.subTest(args):
                done = run(*args)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn("--help", done.stderr)


class Inspect(CliTest):
    def test_counts(self):
        done = self.json("inspect", self.save(mlp()[0]), "--dim", "N=5", "--json")
        self.assertEqual(done["params"], 15)
        self.assertEqual(done["macs"], 5 * 4 * 3)
        self.assertEqual(done["flops"], 2 * 60 + 15 + 15)
        self.assertEqual(done["nodes"], 3)
        self.assertEqual(done["inputs"], [{"name": "x", "type": "f32[5,4]", "dtype": "f32", "shape": [5, 4]}])
        self.assertEqual(done["outputs"], [{"name": "y", "type": "f32[5,3]", "dtype": "f32", "shape": [5, 3]}])
        self.assertEqual(done["bytes"], 4 * (20 + 12 + 15 + 15 + 3 + 15 + 15 + 15))
        self.assertEqual([layer["name"] for layer in done["layers"]], ["mul", "add", "relu"])

    def test_conv_macs(self):
        w = np.zeros((8, 2, 3, 3), np.float32)
        node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2], group=2)
        model = make_model([node], {"x": (FLOAT, [1, 4, 16, 16])}, {"y": (FLOAT, [1, 8, 8, 8])}, {"w": w})
        done = self.json("inspect", self.save(model), "--json", "--summary")
        self.assertEqual(done["macs"], 8 * 8 * 8 * 2 * 9)
        self.assertEqual(done["layers"], [])

    def test_levels(self):
        path = self.save(mlp()[0])
        own, ran = (self.json("inspect", path, "--json", *args) for args in ((), ("--level", "layout")))
        self.assertEqual([own["level"], ran["level"]], ["none", "layout"])
        self.assertEqual([layer["op"] for layer in own["layers"]], ["MatMul", "Binary.add", "Unary.relu"])
        self.assertEqual([layer["op"] for layer in ran["layers"]], ["MatMul"])
        profiled = self.json("profile", path, "--runs", 1, "--json")["nodes"]
        self.assertEqual([layer["kernel"] for layer in ran["layers"]], [node["kernel"] for node in profiled])
        self.assertEqual((ran["params"], ran["macs"]), (own["params"], own["macs"]))
        self.assertIn("\ngraph      as stored in the model; it is optimized before it runs: see --level layout\n", self.ok("inspect", path).stdout)
        self.assertIn("\ngraph      optimized, level layout: as it runs by default\n", self.ok("inspect", path, "--level", "layout", "--summary").stdout)

    def test_text(self):
        text = self.ok("inspect", self.save(mlp()[0])).stdout
        for word in ("mul", "MatMul", "f32[1,3]", "params", "MACs", "FLOP/byte", "15"):
            self.assertIn(word, text)


class Convert(CliTest):
    def test_there_and_back(self):
        model, w, b = mlp()
        source, tern, back = self.save(model), self.dir / "m.tern", self.dir / "back.onnx"
        self.ok("convert", source, "-o", tern)
        self.ok("convert", tern, "-o", back)
        onnx.checker.check_model(onnx.load(back), full_check=True)
        for path in (tern, back):
            self.ok("verify", path, "--against", source, "--dim", "N=4", "--rtol", 0, "--atol", 0)
        self.assertEqual(self.files(), ["back.onnx", "m.tern", "model.onnx"])

    def test_magic_not_extension_says_what_a_file_is(self):
        source = self.save(mlp()[0])
        self.ok("convert", source, "-o", self.dir / "m.tern")
        os.rename(self.dir / "m.tern", self.dir / "odd.onnx")
        self.ok("run", self.dir / "odd.onnx", "--random", 1)

    def test_external_data(self):
        source, out = self.save(mlp()[0]), self.dir / "ext.onnx"
        big = make_model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [1000])}, {"y": (FLOAT, [1000])},
                         {"w": np.arange(1000, dtype=np.float32)})
        source = self.save(big, "big.onnx")
        self.ok("convert", source, "-o", out, "--external-data")
        self.assertTrue((self.dir / "ext.onnx.data").exists())
        self.ok("verify", out, "--against", source)

    def test_files_are_replaced_never_written_into(self):
        """Another process may have mapped the old file. The mapped bytes must not change when a command writes a file
        of the same name."""
        def weights(seed):
            return make_model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (FLOAT, [1000])}, {"y": (FLOAT, [1000])},
                              {"w": np.random.default_rng(seed).random(1000, np.float32)})
        first, second = self.save(weights(1), "first.onnx"), self.save(weights(2), "second.onnx")
        for command, name, *more in (("convert", "m.tern"), ("convert", "m.onnx"), ("convert", "ext.onnx", "--external-data"),
                                     ("optimize", "o.tern"), ("optimize", "o.onnx")):
            with self.subTest(name):
                made = [self.dir / n for n in ((name, name + ".data") if more else (name,))]
                self.ok(command, first, "-o", made[0], *more)
                opened = [open(path, "rb") for path in made]
                before = [path.read_bytes() for path in made]
                self.ok(command, second, "-o", made[0], *more)
                for path, file, bytes_ in zip(made, opened, before):
                    self.assertNotEqual(os.fstat(file.fileno()).st_ino, path.stat().st_ino)
                    self.assertEqual(file.read(), bytes_)
                    file.close()
                self.ok("verify", made[0], "--against", second, "--rtol", 0, "--atol", 0)
        self.assertEqual([name for name in self.files() if "tmp" in name or "partial" in name], [])

    def test_refusals_write_nothing(self):
        source = self.save(mlp()[0])
        self.refused("convert", source, says="-o")
        self.refused("convert", source, "-o", self.dir / "m.txt", says="m.txt")
        self.refused("convert", source, "-o", source, says="model.onnx")
        self.refused("convert", source, "-o", self.dir / "none" / "m.tern", says="none")
        self.refused("convert", self.dir / "nope.onnx", "-o", self.dir / "m.tern", says="nope.onnx")
        self.assertEqual(self.files(), ["model.onnx"])

    def test_json(self):
        done = self.json("convert", self.save(mlp()[0]), "-o", self.dir / "m.tern", "--json")
        self.assertEqual(done["bytes"], (self.dir / "m.tern").stat().st_size)

    def test_an_interrupt_leaves_no_half_file(self):
        weight = np.random.default_rng(0).standard_normal((4000, 4000)).astype(np.float32)
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (FLOAT, [1, 4000])}, {"y": (FLOAT, [1, 4000])},
                           {"w": weight})
        source, out = self.save(model), self.dir / "m.tern"
        before = self.files()
        for delay in (0.005, 0.02, 0.05, 0.1):
            process = subprocess.Popen([TERN, "convert", source, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            code = process.wait(timeout=60)
            if code == 0 or out.exists():  # if the command finished before the signal, the file is complete
                self.ok("run", out, "--random", 1)
                out.unlink()
            self.assertEqual([f for f in self.files() if f not in before], [])
            self.assertEqual([p for p in self.dir.iterdir() if p.is_dir()], [])


class Verify(CliTest):
    def data(self, folder, x, y, kind="npy"):
        path = self.dir / folder
        path.mkdir(parents=True)
        for name, array in (("input_0", x), ("output_0", y)):
            if kind == "npy":
                np.save(path / f"{name}.npy", array)
            else:
                (path / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        return path

    def setUp(self):
        super().setUp()
        model, w, b = mlp()
        self.model = self.save(model)
        self.x = np.random.default_rng(2).standard_normal((3, 4)).astype(np.float32)
        self.y = np.maximum(self.x @ w + b, 0)

    def test_stored_vectors_of_each_kind(self):
        self.ok("verify", self.model, "--data", self.data("npy", self.x, self.y))
        self.ok("verify", self.model, "--data", self.data("pb", self.x, self.y, "pb"))
        (self.dir / "npz").mkdir()
        np.savez(self.dir / "npz/io.npz", x=self.x, y=self.y, other=self.x)
        self.ok("verify", self.model, "--data", self.dir / "npz")

    def test_folders_of_folders(self):
        for i in range(3):
            self.data(f"all/test_data_set_{i}", self.x, self.y)
        self.assertEqual(len(self.json("verify", self.model, "--data", self.dir / "all", "--json")["outputs"]), 3)

    def test_wrong_results_are_code_1(self):
        wrong = self.y.copy()
        wrong[1, 2] += 1
        folder = self.data("wrong", self.x, wrong)
        self.assertIn("[1,2]", self.ok("verify", self.model, "--data", folder, code=1).stdout)
        done = self.json("verify", self.model, "--data", folder, "--json", code=1)
        self.assertFalse(done["ok"])
        self.assertAlmostEqual(done["outputs"][0]["max_abs"], 1, 5)
        self.ok("verify", self.model, "--data", folder, "--atol", 2)

    def test_wrong_shape_of_a_result_is_code_1(self):
        self.ok("verify", self.model, "--data", self.data("s", self.x, self.y[:2]), code=1)

    def test_against_another_model(self):
        model, w, b = mlp()
        model.graph.initializer[1].CopyFrom(numpy_helper.from_array(b + 1, "b"))
        self.ok("verify", self.model, "--against", self.model, "--random", 5)
        self.ok("verify", self.save(model, "other.onnx"), "--against", self.model, "--random", 5, code=1)

    def test_against_the_reference(self):
        self.ok("verify", self.model, "--reference", "--dim", "N=7")
        only_inputs = self.data("in", self.x, self.y)
        (only_inputs / "output_0.npy").unlink()
        self.ok("verify", self.model, "--reference", "--data", only_inputs)

    def test_refusals(self):
        self.refused("verify", self.model, says="--data")
        self.refused("verify", self.model, "--data", self.dir / "none", says="none")
        (self.dir / "empty").mkdir()
        self.refused("verify", self.model, "--data", self.dir / "empty", says="input_0")
        only_inputs = self.data("in", self.x, self.y)
        (only_inputs / "output_0.npy").unlink()
        self.refused("verify", self.model, "--data", only_inputs, says="outputs")
        np.save(only_inputs / "output_0.npy", self.y)
        np.save(only_inputs / "input_1.npy", self.y)
        self.refused("verify", self.model, "--data", only_inputs, says="input_1")
        self.refused("verify", self.save(add(), "add.onnx"), "--against", self.model, says="")


class Bench(CliTest):
    digits = pathlib.Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"

    def test_json(self):
        done = self.json("bench", self.save(mlp()[0]), "--threads", 1, "--runs", 20, "--json")
        latency = done["latency_ms"]
        self.assertEqual(set(latency), {"min", "p50", "p90", "p99", "mean"})
        self.assertTrue(0 < latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p99"])
        self.assertEqual((done["threads"], done["runs"]), (1, 20))
        self.assertGreater(done["load_ms"], 0)
        self.assertTrue(1 < done["peak_rss_mb"] < 1000)
        self.assertTrue(0 < done["arena_mb"] < 1)
        self.assertTrue(0 <= done["packed_mb"] < 1)
        self.assertIn(done["isa"], ("base", "sse4", "avx2", "avx512", "neon"))
        self.assertEqual(done["precision"], "fp32")

    def test_json_names_what_is_in_use(self):
        quick = ("bench", self.save(mlp()[0]), "--threads", 1, "--runs", 1, "--json")
        self.assertEqual(self.json(*quick, env={**os.environ, "TERN_ISA": "base"})["isa"], "base")
        self.assertEqual(self.json(*quick, "--precision", "bf16")["precision"], "bf16")

    def test_text_and_batch(self):
        text = self.ok("bench", self.save(mlp()[0]), "--seconds", 0.05, "--dim", "N=4").stdout
        for word in ("p50", "p99", "throughput", "batch 4", "peak memory", "load"):
            self.assertIn(word, text)


    def test_rounds_are_measured_when_asked_for(self):
        model, out = self.save(mlp()[0]), self.dir / "out"
        done = self.ok("bench", model, "--rounds", "--output-dir", out, input="4 10\n2 10\n100000 0\n")
        ready, *rounds = map(json.loads, done.stdout.splitlines())
        self.assertGreater(ready["load_ms"], 0)
        self.assertTrue(0 < ready["before_rss_mb"] < rounds[-1]["peak_rss_mb"])
        for key in ("latency_ms", "processor_ms"):
            self.assertEqual([len(r[key]) for r in rounds], [4, 2, 1])
        self.assertGreater(rounds[0]["peak_rss_mb"], 1)
        self.assertEqual(len(list(out.glob("*.npy"))), 1)

    def test_rounds_warn_before_they_answer(self):
        (self.dir / "file").write_text("x")
        command = [TERN, "bench", self.digits, "--dim", "N=8", "--rounds", "--threads", "1", "--tune", "5000", "--cache-dir", self.dir / "file" / "below"]
        done = subprocess.run(command, input="1 1\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        note, ready, answer = done.stdout.splitlines()
        self.assertTrue(note.startswith("tern: note: measurements are not stored: "), note)
        self.assertIn("load_ms", json.loads(ready))
        self.assertIn("latency_ms", json.loads(answer))

    def test_rounds_refuse_what_is_none(self):
        model = self.save(mlp()[0])
        for line in ("", "4", "four 1", "0 1", "4 -1", "4 nan", "4 1 1"):
            done = run("bench", model, "--rounds", input=line + "\n")
            self.assertEqual(done.returncode, 2, line)
            self.assertIn("round", done.stderr)


class Others(CliTest):
    def test_peak(self):
        done = self.json("doctor", "--peak", "--json")
        self.assertTrue(0.1 < done["peak_gflops"]["fp32"] < 10000, done["peak_gflops"])
        self.assertGreater(done["peak_gflops_threads"]["fp32"], 0.1)
        self.assertGreaterEqual(done["peak_threads"], 1)
        two = self.json("doctor", "--peak", "--threads", "2", "--json", env={**os.environ, "TERN_CORES": "2"})
        self.assertEqual(two["peak_threads"], 2)
        self.assertIn("GFLOP/s", self.ok("doctor", "--peak").stdout)
        self.assertNotIn("peak_gflops", self.json("doctor", "--json"))

    def test_doctor(self):
        done = self.json("doctor", "--json")
        self.assertTrue(done["ok"])
        self.assertGreater(done["ops"], 0)
        self.assertIn("cores", self.ok("doctor").stdout)

    def test_level_of_instructions(self):
        best = self.json("doctor", "--json")["simd"]
        limited = self.json("doctor", "--json", env={**os.environ, "TERN_ISA": "base"})
        self.assertEqual(limited["simd"], "base")
        self.assertFalse(limited["bf16_products"])
        self.assertIn(best, self.ok("doctor", env={**os.environ, "TERN_ISA": best}).stdout)
        text = self.ok("doctor", env={**os.environ, "TERN_ISA": "base"}).stdout
        self.assertRegex(text, r"\nbest isa  \S+\nin use    (base|neon)\n")
        highest = re.search(r"\nbest isa  (\S+)\n", text).group(1)
        self.assertEqual(self.json("doctor", "--json", env={**os.environ, "TERN_ISA": highest})["isa"], highest)
        self.ok("inspect", self.save(mlp()[0]), env={**os.environ, "TERN_ISA": highest})
        model = self.save(mlp()[0])
        done = run("run", model, "--random", "1", env={**os.environ, "TERN_ISA": "sse9"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("TERN_ISA='sse9' is not an instruction set level; choose one of base", done.stderr)
        self.assertIn(best, done.stderr)

    def test_amx_is_a_level(self):
        if self.json("doctor", "--json")["amx"]:
            self.assertTrue(self.json("doctor", "--json", env={**os.environ, "TERN_ISA": "amx"})["amx"])
            self.assertFalse(self.json("doctor", "--json", env={**os.environ, "TERN_ISA": "avx512"})["amx"])
            return
        model = self.save(mlp()[0])
        done = run("run", model, "--random", "1", env={**os.environ, "TERN_ISA": "amx"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("TERN_ISA='amx' needs instructions that this machine lacks; choose one of base", done.stderr)
        done = run("profile", model, "--isa", "amx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--isa amx: this machine has no AMX", done.stderr)

    def test_ops(self):
        done = self.json("ops", "--json")
        names = {op["name"] for op in done["ops"]}
        self.assertTrue({"Conv", "MatMul", "Reshape"} <= names)
        self.assertIn("strides", self.ok("ops", "Conv").stdout)
        self.assertIn("yes Conv", self.ok("ops", "--onnx").stdout)
        onnx = self.json("ops", "--format", "ONNX", "--json")
        self.assertTrue(any(o["name"] == "Conv" and o["imported"] for o in onnx["operators"]))
        self.assertEqual(onnx["imported"], sum(o["imported"] for o in onnx["operators"]))
        self.refused("ops", "--format", "nosuch", says=["nosuch", "onnx"])
        self.refused("ops", "NoSuchOp", says="NoSuchOp")

    def test_markdown_names_every_op(self):
        text = self.ok("ops", "--markdown").stdout
        for op in self.json("ops", "--json")["ops"]:
            self.assertIn(f"### {op['name']}\n", text)

    def test_demo_knows_its_digits_from_anywhere(self):
        done = self.json("demo", "--all", "--json", cwd="/")
        answers = {a["picture"]: a["digit"] for a in done["answers"]}
        self.assertEqual(len(answers), 20)
        for picture, digit in answers.items():
            self.assertEqual(digit, int(picture[0]), picture)
        for answer in done["answers"]:
            self.assertAlmostEqual(sum(answer["probabilities"]), 1, 4)
        text = self.ok("demo").stdout
        self.assertIn("this is a 2", text)
        self.assertIn("What to try next", text)

    def test_demo_files_work_with_the_other_commands(self):
        self.ok("demo", "--save", self.dir / "d")
        self.assertEqual({path.suffix for path in (self.dir / "d").iterdir()}, {".onnx", ".png"})
        done = self.json("run", self.dir / "d/digits.onnx", "--input", self.dir / "d/7_0.png", "--topk", 1, "--json")
        self.assertEqual(done["topk"]["probabilities"][0][0]["index"], 7)
        self.assertIn("this is a 7", self.ok("demo", self.dir / "d/7_0.png").stdout)
        self.refused("demo", self.dir / "d/digits.onnx", says="digits.onnx")
