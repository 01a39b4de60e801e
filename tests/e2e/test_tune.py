"""Tests --tune, which chooses kernels by measuring them and stores the measurements on disk, and profile --explain,
which shows the reasons."""

import json
import os
import pathlib
import unittest

import numpy as np
from onnx import TensorProto, helper

from support import FLOAT, INT64, CliTest, make_model, run


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.model = pathlib.Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"
        self.kept = self.dir / "kept"

    def explain(self, *args):
        return self.json("profile", self.model, "--dim", "N=8", "--runs", "1", "--threads", "1", "--explain", "--json", *args)

    def test_estimates_decide_without_a_budget(self):
        found = self.explain("--cache-dir", "")
        self.assertEqual(found["tuning"], {"measured": 0, "recorded": 0, "ms": 0, "record": ""})
        reasons = {node["reason"] for node in found["explain"]}
        self.assertLessEqual(reasons, {"the only legal kernel", "least estimated time"})
        for node in found["explain"]:
            legal = [c for c in node["candidates"] if c["legal"]]
            self.assertEqual(node["kernel"], min(legal, key=lambda c: c["estimated_us"])["kernel"])
            self.assertTrue(all(c["measured_us"] is None for c in legal))

    def test_a_second_load_measures_nothing(self):
        first = self.explain("--tune", "20000", "--tune-all", "--cache-dir", self.kept)
        self.assertGreater(first["tuning"]["measured"], 0)
        record = self.dir / first["tuning"]["record"]
        self.assertTrue(record.read_text().startswith("tern tuning record 1\ncpu: "))
        for budget in ("20000", "0"):
            second = self.explain("--tune", budget, "--tune-all", "--cache-dir", self.kept)
            self.assertEqual(second["tuning"]["measured"], 0)
            self.assertEqual(second["tuning"]["recorded"], first["tuning"]["measured"])
            self.assertEqual([n["kernel"] for n in second["explain"]], [n["kernel"] for n in first["explain"]])
            self.assertIn("least measured time, from the record", {n["reason"] for n in second["explain"]})
        record.write_bytes(b"\xff\x00" * 1000)
        self.assertEqual(self.explain("--tune", "20000", "--tune-all", "--cache-dir", self.kept)["tuning"]["measured"],
                         first["tuning"]["measured"])

    def test_the_text_names_kernels_and_reasons(self):
        text = self.ok("profile", self.model, "--dim", "N=8", "--runs", "1", "--explain", "--tune", "5000", "--cache-dir", "").stdout
        for words in ("why each node uses its kernel", "estimated", "measured", " no: ", "<- least measured time", "kinds of nodes measured"):
            self.assertIn(words, text)

    def test_reasons_agree_with_times(self):
        for rows, k, n in ((8, 24, 2000), (8, 4, 10000), (512, 33, 17), (1, 16, 16), ("N", 24, 2000)):
            model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (FLOAT, [rows, k])}, {"y": (FLOAT, [rows, n])},
                               {"w": np.linspace(-1, 1, k * n, dtype=np.float32).reshape(k, n)})
            for precision in ("fp32", "bf16"):
                found = self.json("profile", self.save(model), "--explain", "--tune", "20000", "--tune-all", "--cache-dir", "", "--threads", "1", "--runs", "1",
                                  "--precision", precision, "--json")
                (node,) = found["explain"]
                times = {c["kernel"]: c["measured_us"] for c in node["candidates"] if c.get("measured_us")}
                if len(times) < 2:  # bf16 kernels are not measured on a machine without bf16 instructions
                    continue
                least = "least measured time" if times[node["kernel"]] == min(times.values()) else "least estimated time, within 5 % of the least measured"
                expected = (least,) if rows != "N" else (least, "best of the kernels with the node's pack layout")
                self.assertIn(node["reason"], expected, node)
                if rows != "N":
                    self.assertLessEqual(0.95 * times[node["kernel"]], min(times.values()), node)

    def test_explains_what_runs_choose_and_inner_graphs(self):
        info, flag = helper.make_tensor_value_info, TensorProto.BOOL
        body = helper.make_graph([helper.make_node("Identity", ["go"], ["more"]), helper.make_node("Neg", ["s"], ["t"], name="inner")], "body",
                                 [info("i", INT64, []), info("go", flag, []), info("s", FLOAT, [64])], [info("more", flag, []), info("t", FLOAT, [64])])
        nodes = [helper.make_node("NonZero", ["x"], ["where"]), helper.make_node("Transpose", ["where"], ["turned"]),
                 helper.make_node("GatherND", ["x", "turned"], ["found"]), helper.make_node("Exp", ["found"], ["y"], name="data decides"),
                 helper.make_node("Loop", ["n", "", "x"], ["z"], body=body)]
        model = self.save(make_model(nodes, {"x": (FLOAT, [64])}, {"y": (FLOAT, ["found"]), "z": (FLOAT, [64])}, {"n": np.array(3, np.int64)}))
        command = ("profile", model, "--runs", "1", "--explain", "--level", "none")
        found = {node["name"]: node for node in self.json(*command, "--json")["explain"]}
        self.assertEqual([found["data decides"][key] for key in ("in_run", "graph")], [True, ""])
        self.assertEqual([found["inner"][key] for key in ("in_run", "graph")], [False, "body"])
        text = self.ok(*command).stdout
        for words in (", for the last run", "because shapes depend on data", "in the inner graph 'body'"):
            self.assertIn(words, text)

    def test_every_command_takes_a_budget(self):
        for command in (["run", "--random", "1"], ["bench", "--seconds", "0"], ["profile", "--runs", "1"]):
            self.ok(command[0], self.model, *command[1:], "--dim", "N=8", "--tune", "300", "--cache-dir", self.kept)
        self.assertEqual(len(list(self.kept.glob("tuning-*.txt"))), 1)

    def test_says_that_nowhere_is_a_place_for_measurements(self):
        bare = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "TERN_CACHE_DIR")}
        command = ("run", self.model, "--random", "1", "--dim", "N=8")
        noted = self.ok(*command, "--tune", "300", env=bare).stderr
        for words in ("measurements are not stored", "TERN_CACHE_DIR", "HOME"):
            self.assertIn(words, noted)
        for quiet in (["--tune", "300", "--cache-dir", ""], []):  # these options store nothing, so that there is no note
            self.assertNotIn("measurements", self.ok(*command, *quiet, env=bare).stderr)

    def test_refuses_what_is_no_budget(self):
        for wrong in ("-1", "600001", "much"):
            self.refused("run", self.model, "--random", "1", "--tune", wrong, says=[wrong])

    def test_refuses_to_tune_the_reference(self):
        for command in ("run", "bench"):
            model = (command, self.model, "--random", "1", "--reference")
            self.refused(*model, "--tune", "10", says=["--tune", "--reference"])
            self.refused(*model, "--precision", "bf16", says=["--precision bf16", "--reference"])
            self.refused(*model, "--cache-dir", self.kept, says=["--cache-dir", "--reference"])
            self.ok(*model, "--dim", "N=1", "--cache-dir", "", *(["--seconds", "0"] if command == "bench" else []))

    def test_looks_at_options_before_the_model(self):
        for command in (["profile", "--tune-all"], ["run", "--reference", "--tune", "5"], ["bench", "--reference", "--cache-dir", "x"]):
            said = self.refused(command[0], self.dir / "missing.onnx", *command[1:], says=command[1]).stderr
            self.assertNotIn("missing.onnx", said)

    def test_says_that_a_folder_is_none(self):
        (self.dir / "file").write_text("x")
        noted = self.ok("run", self.model, "--random", "1", "--dim", "N=8", "--cache-dir", self.dir / "file").stderr
        self.assertIn(f"tern: note: measurements are not read: cannot read '{self.dir / 'file'}/", noted)

    def test_says_that_a_folder_is_not_there(self):
        command = ("run", self.model, "--random", "1", "--dim", "N=8", "--cache-dir", self.kept)
        self.assertIn(f"tern: note: measurements are not read: there is no folder '{self.kept}'", self.ok(*command).stderr)
        self.assertFalse(self.kept.exists())
        self.assertEqual(self.ok(*command, "--tune", "300").stderr, "")
        self.assertEqual(self.ok(*command).stderr, "")

    def test_threads_of_doctor_are_those_of_its_peak(self):
        self.refused("doctor", "--threads", "2", says=["--threads", "--peak"])

    def test_says_that_nothing_can_be_kept(self):
        (self.dir / "file").write_text("x")
        done = run("profile", self.model, "--dim", "N=8", "--runs", "1", "--tune", "20000", "--tune-all", "--json", "--explain",
                             "--cache-dir", self.dir / "file" / "below")
        self.assertEqual(done.returncode, 0)
        json.loads(done.stdout)
        self.assertIn("tern: note: measurements are not stored: ", done.stderr)
        self.assertIn("file", done.stderr)


if __name__ == "__main__":
    unittest.main()
