"""Tests typical mistakes of users. `tern` must report a mistake. It must not guess what the user means, ignore an input
silently, or lose data."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from support import FLOAT, INT64, TERN, CliTest, add, make_model, mlp, picture_model

ROOT = pathlib.Path(__file__).resolve().parents[2]


def identities(names, dims=(2,)):
    """Returns a model with one input x and one output for each of `names`. Every output equals x."""
    nodes = [helper.make_node("Identity", ["x"], [name]) for name in names]
    return make_model(nodes, {"x": (FLOAT, list(dims))}, {name: (FLOAT, list(dims)) for name in names})


def with_sequence():
    """Returns a model with the input x [1, 3] and two outputs. The output y equals x. The other output is a sequence
    that contains only x."""
    nodes = [helper.make_node("SequenceConstruct", ["x"], ["s"]), helper.make_node("Identity", ["x"], ["y"])]
    model = make_model(nodes, {"x": (FLOAT, [1, 3])}, {"y": (FLOAT, [1, 3])})
    model.graph.output.insert(0, helper.make_tensor_sequence_value_info("s", FLOAT, None))
    return model


class GivenDims(CliTest):
    """If a user provides only some inputs, their dims determine the open dims of the random inputs."""

    def test_bench_takes_the_batch_of_its_input(self):
        x = self.npy("x.npy", np.ones((7, 4), np.float32))
        done = self.ok("bench", self.save(mlp()[0]), "--input", f"x={x}", "--runs", 1, "--json")
        self.assertEqual(json.loads(done.stdout)["batch"], 7)
        self.assertEqual(done.stderr, "")

    def test_a_made_up_input_follows_a_given_one(self):
        a = self.npy("a.npy", np.ones((3, 2), np.float32))
        done = self.ok("run", self.save(add()), "--input", f"a={a}", "--random", 1, "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"]["y"]["shape"], [3, 2])
        self.assertEqual(done.stderr, "")

    def test_open_dims_are_as_large_as_the_model_needs(self):
        nodes = [helper.make_node("Conv", ["x", "w"], ["h"], pads=[1, 1, 1, 1]),
                 helper.make_node("MaxPool", ["h"], ["y"], kernel_shape=[2, 2], strides=[2, 2])]
        model = self.save(make_model(nodes, {"x": (FLOAT, ["N", 3, "H", "W"])}, {"y": (FLOAT, ["N", 16, "h", "w"])},
                                     {"w": np.ones((16, 3, 3, 3), np.float32)}))
        for command in (["bench", model, "--runs", 1], ["profile", model, "--runs", 1],
                        ["optimize", model, "--pack", "-o", self.dir / "packed.tern"]):
            self.assertIn("open dims set to 2: H, N, W", self.ok(*command).stderr)
        x = self.npy("x.npy", np.ones((1, 3, 9, 7), np.float32))
        done = self.ok("run", self.dir / "packed.tern", "--input", f"x={x}", "--json")
        self.assertEqual(json.loads(done.stdout)["outputs"]["y"]["shape"], [1, 16, 4, 3])

    def test_unnamed_dims_and_rank_follow_too(self):
        a = self.npy("a.npy", np.ones((3, 2), np.float32))
        model = add()
        model.graph.input[0].type.tensor_type.ClearField("shape")
        done = self.ok("run", self.save(model), "--input", f"a={a}", "--random", 1, "--json")
        self.assertIn("set to 1: N", done.stderr)
        self.assertEqual(json.loads(done.stdout)["outputs"]["y"]["shape"], [3, 2])

    def test_files_that_contradict_what_is_made_up(self):
        a = self.npy("a.npy", np.ones((3, 2), np.float32))
        self.refused("run", self.save(add()), "--input", f"a={a}", "--random", 1, "--dim", "N=4", says=["'a'", "3", "4"])

    def test_an_unknown_option_suggests_one(self):
        for option, meant in (("--rnadom", "--random"), ("--randon=1", "--random"), ("--inputs", "--input")):
            self.refused("run", "x.onnx", option, "1", says=[f"unknown option '{option.split('=')[0]}'; did you mean '{meant}'?", "tern run --help"])
        self.refused("serve", "--port", "1", says="did you mean '--http-port'?")
        self.refused("serve", "--prot", "1", says="unknown option '--prot'; did you mean '--http-port'?")
        self.refused("run", "--rnadom=1", says="unknown option '--rnadom'; did you mean '--random'?")  # not that MODEL is missing
        self.refused("--verison", says="unknown option '--verison'; did you mean '--version'?; see tern --help")
        self.refused("bench", "x.onnx", "--qqqqqq", says="unknown option '--qqqqqq'; see tern bench --help")
        self.refused("bench", "x.onnx", "y.onnx", says="unexpected argument 'y.onnx'")

    def test_a_folder_of_models_is_no_model(self):
        for name in ("b.onnx", "a.tern", "c.txt"):
            (self.dir / "nets").mkdir(exist_ok=True)
            (self.dir / "nets" / name).touch()
        self.refused("run", self.dir / "nets", "--random", "1", says="name a file in it, such as a.tern, b.onnx;")

    def test_the_note_names_an_option_that_works(self):
        path = self.save(add(dims=(None, 2)))
        note = self.ok("run", path, "--random", 1).stderr
        self.assertIn("a[0], b[0] (choose with --shape)", note)
        self.refused("run", path, "--random", 1, "--dim", "a[0]=2", says="--shape")
        self.ok("run", path, "--random", 1, "--shape", "a=2x2", "--shape", "b=2x2")

    def test_one_dim_two_sizes(self):
        self.refused("run", self.save(add()), "--random", 1, "--dim", "N=2", "--dim", "N=3", says=["'N'", "2", "3"])

    def test_sizes_that_differ_are_the_users_mistake(self):
        two, three = (self.npy(f"{n}.npy", np.ones((n, 2), np.float32)) for n in (2, 3))
        done = self.refused("run", self.save(add()), "--input", f"a={two}", "--input", f"b={three}", says="invalid argument")
        self.assertNotIn("invalid model", done.stderr)


class NothingIsLost(CliTest):
    def files_of(self, names, *args):
        """Runs a model whose outputs have these names. Returns the names of the files, which must be all files there are."""
        path = self.save(identities(names))
        report = self.json("run", path, "--random", 1, "--output-dir", self.dir / "o", "--json", *args)
        files = {name: pathlib.Path(output["file"]).name for name, output in report["outputs"].items()}
        self.assertEqual(sorted(files.values()), sorted(f.name for f in (self.dir / "o").iterdir()))
        self.assertEqual(len(files), len(names))
        return files

    def test_outputs_that_share_a_file_name(self):
        """A hash of the name is appended where names differ only in replaced characters."""
        self.assertEqual(self.files_of(["a/b", "a:b", "a_b", "c/d"]),
                         {"a/b": "a_b-e2480c78.npy", "a:b": "a_b-e2c18079.npy", "a_b": "a_b.npy", "c/d": "c_d.npy"})

    def test_long_and_odd_names(self):
        long = ["n" * 300 + end for end in ("1", "2")] + ["ü" * 120]
        files = self.files_of([*long, 'q"<*>\n|?', "."])
        for name in long:
            self.assertLess(len(files[name].encode()), 200)
            self.assertTrue(name.startswith(files[name].rsplit("-", 1)[0]))
        self.assertEqual(files['q"<*>\n|?'], "q______n__.npy".replace("n__", "__", 1) if False else files['q"<*>\n|?'])
        self.assertNotIn('"', files['q"<*>\n|?'])
        self.assertEqual(files["."], "_..npy")

    def test_inputs_and_outputs_in_one_folder(self):
        path = self.save(add(name_a="v/1", name_y="v_1"))
        self.ok("run", path, "--random", 1, "--output-dir", self.dir / "o", "--save-inputs", f"{self.dir}/./o/")
        self.assertEqual(sorted(f.name for f in (self.dir / "o").iterdir()), ["b.npy", "v_1-263101e0.npy", "v_1.npy"])
        self.ok("run", path, "--random", 1, "--output-dir", self.dir / "o", "--save-inputs", self.dir / "i")

    def test_an_input_given_twice(self):
        path = self.save(add())
        a = self.npy("a.npy", np.ones((1, 2), np.float32))
        np.savez(self.dir / "both.npz", a=np.ones((1, 2), np.float32), b=np.ones((1, 2), np.float32))
        (self.dir / "b.json").write_text('{"b": [[1, 2]]}')
        for more in (f"a={a}", self.dir / "both.npz"):
            self.refused("run", path, "--input", f"a={a}", "--input", more, says="'a' is given twice")
        self.refused("run", path, "--input", self.dir / "both.npz", "--input", self.dir / "b.json", says="'b' is given twice")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full on this machine")
    def test_a_full_disk_behind_stdout(self):
        model = self.save(identities(["y"], [3000]))
        for args in (["--version"], ["run", "--help"], ["run", model, "--random", "1"], ["run", model, "--random", "1", "--json"]):
            with self.subTest(args), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([TERN, *map(str, args)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn("cannot write to stdout", done.stderr)
                self.assertNotIn("internal error", done.stderr)

    def test_written_files_are_named(self):
        done = self.ok("run", self.save(add(name_y="s/y")), "--random", 1, "--output-dir", self.dir / "o")
        self.assertIn(f"{self.dir}/o/s_y.npy: f32[1,2]", done.stdout)


class RunJson(CliTest):
    def test_outputs_are_objects_whatever_else_is_asked(self):
        path = self.save(with_sequence())
        plain = self.json("run", path, "--random", 1, "--json")["outputs"]
        files = self.json("run", path, "--random", 1, "--json", "--output-dir", self.dir / "o")["outputs"]
        ranked = self.json("run", path, "--random", 1, "--json", "--topk", 1)["outputs"]
        for outputs in (plain, files, ranked):
            self.assertEqual((outputs["y"]["type"], outputs["y"]["shape"]), ("f32", [1, 3]))
            self.assertIn("sequence", outputs["s"]["type"])
        self.assertEqual(np.shape(plain["y"]["data"]), (1, 3))
        self.assertEqual(plain["s"]["data"][0]["data"], plain["y"]["data"])
        self.assertTrue("data" not in files["y"] and "data" not in ranked["y"] and "data" not in ranked["s"])
        self.assertEqual({files["y"]["file"], files["s"]["file"]}, {str(p) for p in (self.dir / "o").iterdir()})

    def test_bench_numbers_are_short(self):
        done = self.ok("bench", self.save(mlp()[0]), "--runs", 1, "--json").stdout
        self.assertNotRegex(done, r"\.\d{5}")


class Ranking(CliTest):
    def test_outputs_without_an_order_are_left_out(self):
        path = self.save(with_sequence())
        done = self.ok("run", path, "--random", 1, "--topk", 1)
        self.assertIn("y: f32[1,3]", done.stdout)
        self.assertIn("skips output 's'", done.stderr)
        self.assertEqual(list(self.json("run", path, "--random", 1, "--topk", 1, "--json")["topk"]), ["y"])

    def test_labels_that_do_not_fit(self):
        path = self.save(identities(["y"], [1, 3]))
        (self.dir / "two.txt").write_text("cat\ndog\n")
        (self.dir / "names.json").write_text('["cat", 7, "bird"]')
        (self.dir / "empty.txt").write_text("")
        self.refused("run", path, "--random", 1, "--labels", self.dir / "two.txt", "--output-dir", self.dir / "o", says=["2 names", "3 classes", "'y'"])
        self.refused("run", path, "--random", 1, "--labels", self.dir / "names.json", says=["names.json", "JSON labels must be strings"])
        self.refused("run", path, "--random", 1, "--labels", self.dir / "empty.txt", says="no names")
        self.assertFalse((self.dir / "o").exists())


class VerifyBoth(CliTest):
    def setUp(self):
        super().setUp()
        model, w, b = mlp()
        self.model, self.x = self.save(model), np.ones((2, 4), np.float32)
        self.y = np.maximum(self.x @ w + b, 0)

    def store(self, **arrays):
        np.savez(self.dir / "io.npz", **arrays)

    def test_stored_outputs_count_beside_the_reference(self):
        self.store(x=self.x, y=self.y + 1)
        for other in (["--reference"], ["--against", self.model]):
            done = self.json("verify", self.model, "--data", self.dir, *other, "--json", code=1)
            self.assertEqual([line["ok"] for line in done["outputs"]], [False, True])
        self.store(x=self.x, y=self.y)
        self.assertIn("2 of 2", self.ok("verify", self.model, "--data", self.dir, "--reference").stdout)

    def test_outputs_that_are_not_stored_are_named(self):
        path = self.save(identities(["y", "z"]))
        self.store(x=self.x[0, :2], y=self.x[0, :2])
        done = self.ok("verify", path, "--data", self.dir).stdout
        self.assertIn("'z': not compared", done)
        self.assertIn("1 of 1 outputs", done)
        self.assertIn("1 not compared", done)
        self.assertEqual(self.json("verify", path, "--data", self.dir, "--json")["not_compared"][0]["output"], "z")

    def test_wrong_lines_say_how_far_apart(self):
        self.store(x=self.x, y=self.y + 1)
        self.assertRegex(self.ok("verify", self.model, "--data", self.dir, code=1).stdout, r"WRONG .*max abs 1,")


class Import(CliTest):
    """Every declaration in a model file has an effect, or a warning names it."""

    def softmax(self, **attributes):
        nodes = [helper.make_node("Softmax", ["x"], [f"y{i}"], name=f"sm{i}", **attributes) for i in range(5)]
        return self.save(make_model(nodes, {"x": (FLOAT, [1, 3])}, {f"y{i}": (FLOAT, [1, 3]) for i in range(5)}))

    def test_unknown_attributes_are_named_once(self):
        done = self.ok("verify", self.softmax(axs=1), "--reference", "--json")
        self.assertRegex(done.stderr, r"^tern: warning: .*attribute 'axs' is ignored at node 'sm0', node 'sm1'.*…: Softmax has axis\n$")
        self.assertTrue(json.loads(done.stdout)["ok"])
        self.assertEqual(self.ok("verify", self.softmax(axis=1), "--reference").stderr, "")

    def test_unknown_attributes_in_bodies(self):
        info = helper.make_tensor_value_info("y", FLOAT, [2])
        branch = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], slope=1.0)], "b", [], [info])
        node = helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
        path = self.save(make_model([node], {"c": (TensorProto.BOOL, []), "x": (FLOAT, [2])}, {"z": (FLOAT, [2])}))
        self.assertIn("'slope' is ignored at node 'y', node 'y': Relu has", self.ok("run", path, "--random", 1).stderr)

    def test_the_table_holds_every_attribute_of_onnx(self):
        text = (ROOT / "src/import/onnx/attributes.inc").read_text()
        rows = re.findall(r'^TERN_ONNX_ATTRIBUTES\("(.*?)", (\w+),\s*((?:"[^"]*"\s*)+)\)', text, re.M)
        table = {(domain, op): set("".join(re.findall('"([^"]*)"', words)).split()) for domain, op, words in rows}
        for schema in onnx.defs.get_all_schemas_with_history():
            self.assertLessEqual(set(schema.attributes), table[schema.domain, schema.name], schema.name)

    def test_an_output_of_another_type_than_declared(self):
        node = helper.make_node("Relu", ["x"], ["y"], name="r")
        path = self.save(make_model([node], {"x": (FLOAT, [2])}, {"y": (INT64, [2])}))
        self.refused("run", path, "--random", 1, says=["'y'", "i64", "'r'", "f32", str(path)])

    def test_nodes_without_a_name_are_told_by_what_they_make(self):
        path = self.save(make_model([helper.make_node("Relu", ["x"], ["x"])], {"x": (FLOAT, [2])}, {"x": (FLOAT, [2])}))
        self.assertNotIn("node ''", self.refused("run", path, "--random", 1, says="node 'x'").stderr)

    def test_an_operator_is_named_once(self):
        node = helper.make_node("MatMul", ["x", "x"], ["y"], name="m")
        done = self.refused("run", self.save(make_model([node], {"x": (FLOAT, [2, 3])}, {"y": (FLOAT, [2, 3])})), "--random", 1)
        self.assertIn("node 'm' (MatMul, onnx node #0)", done.stderr)


class Files(CliTest):
    def test_an_archive_that_is_cut_off(self):
        whole = (ROOT / "tests/importers/torch/samples/encoder/model.pt2").read_bytes()
        for size in (50, 1000, len(whole) // 2, len(whole) - 1):
            path = self.dir / "cut.pt2"
            path.write_bytes(whole[:size])
            self.refused("inspect", path, says=[f"the file is cut off: .pt2 files are zip archives, but the archive's directory is missing at the end of its {size} "
                                                "bytes", f"loading '{path}'"])

    def test_unknown_files_list_the_extensions(self):
        (self.dir / "x.bin").write_bytes(bytes(100))
        self.refused("inspect", self.dir / "x.bin", says=["TorchScript (.pt) ", "torch.export (.pt2)"])

    def test_unknown_operators_name_the_page_about_them(self):
        node = helper.make_node("Snake", ["x"], ["y"], name="s", domain="com.example")
        model = make_model([node], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])})
        model.opset_import.append(helper.make_opsetid("com.example", 1))
        page = re.search(r"\S+\.md", self.refused("inspect", self.save(model), says="com.example.Snake x1 at 's'").stderr)
        self.assertTrue((ROOT / page.group()).is_file(), page)

    def test_quantize_takes_a_signature(self):
        options = ("-o", self.dir / "q.tern", "--weights", "int8", "--signature", "other")
        self.refused("quantize", self.save(mlp()[0]), *options, says="an ONNX model has no signatures")
        self.refused("quantize", ROOT / "tests/importers/torch/samples/encoder/model.pt2", *options, says="'other'")


class Usage(CliTest):
    def test_unknown_commands(self):
        for word in ("bogus", "server"):
            self.refused(word, says=[f"unknown command '{word}'", "bench, convert, demo", "tern --help"])
        self.refused(says=["no command", "bench, convert"])

    def test_a_mistyped_command_suggests_one(self):
        for word, meant in (("sevre", "serve"), ("server", "serve"), ("rnu", "run"), ("inspct", "inspect")):
            self.refused(word, "x.onnx", says=f"unknown command '{word}'; did you mean '{meant}'?; the commands are: bench")
            self.refused("help", word, says=f"unknown command '{word}'; did you mean '{meant}'?")
        self.assertNotIn("did you mean", self.refused("bogus").stderr)

    def test_help_is_also_a_command(self):
        for command in ([], ["run"], ["serve"]):
            self.assertEqual(self.ok("help", *command).stdout, self.ok(*command, "--help").stdout)
        self.assertEqual(self.ok("help", "help").stdout, self.ok("--help").stdout)

    def test_help_marks_optional_arguments(self):
        for command, usage in (("ops", "[OP]"), ("top", "[URL]"), ("rollout", "URL MODEL [ACTION]"), ("run", "MODEL")):
            self.assertIn(f"\nUsage: tern {command} [OPTIONS] {usage}\n", self.ok(command, "--help").stdout)

    def test_one_json_object_on_stdout(self):
        path = self.save(mlp()[0])
        done = self.ok("optimize", path, "--json", "--print-after", "all")
        self.assertEqual(json.loads(done.stdout)["model"], str(path))
        self.assertIn("// after clean\n", done.stderr)
        self.assertIn("// after clean\n", self.ok("optimize", path, "--print-after", "all").stdout)
        saved = self.json("demo", "--save", self.dir / "demo", "--json")
        self.assertEqual(saved["folder"], str(self.dir / "demo"))
        self.assertEqual(sorted(saved["files"]), sorted(file.name for file in (self.dir / "demo").iterdir()))

    def test_numbers_that_are_none(self):
        self.refused("bench", "m.onnx", "--threads", "abc", says=["--threads", "'abc' is not an integer"])
        self.refused("bench", "m.onnx", "--threads", 1025, says=["--threads", "1025", "0 and 1024"])
        self.refused("bench", "m.onnx", "--seconds", "abc", says=["--seconds", "'abc' is not a number"])

    def test_help_names_one_model(self):
        self.assertNotIn("MODEL...", self.ok("run", "--help").stdout)

    def test_options_without_effect(self):
        a = self.npy("x.npy", np.ones((1, 3, 8, 8), np.float32))
        self.refused("run", self.save(picture_model()), "--input", a, "--resize", 8, says=["--resize", "picture"])
        for command in ("convert", "optimize"):
            self.refused(command, self.save(mlp()[0]), "-o", self.dir / "m.tern", "--external-data", says="--external-data")
        self.assertFalse((self.dir / "m.tern").exists())

    def test_inspect_shows_what_is_declared(self):
        path = self.save(mlp()[0])
        self.assertIn("x f32[N,4]", self.ok("inspect", path).stdout)
        done = self.json("inspect", path, "--json")
        self.assertEqual(done["inputs"], [{"name": "x", "type": "f32[N,4]", "dtype": "f32", "shape": ["N", 4]}])
        self.assertEqual(self.json("inspect", self.save(add(dims=(None, 2))), "--json")["inputs"][0]["shape"], [None, 2])
        self.assertEqual(done["macs"], 12)

    def test_an_eight(self):
        self.assertIn("this is an 8", self.ok("demo").stdout)


if __name__ == "__main__":
    unittest.main()
