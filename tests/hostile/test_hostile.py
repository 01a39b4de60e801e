"""Tests run.py and verdict.py. Shell scripts replace tern."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]

import run  # noqa: E402
import verdict  # noqa: E402
from testlib import suites  # noqa: E402
from verdict import Answer  # noqa: E402

SAMPLE = HERE / "sample.txt"
# A script is called like tern: SCRIPT run MODEL --random 3 --output-dir OUT …
REFUSE = "echo \"tern: invalid model: node 'y0_0' (Tile, onnx node #0): no while: loading '$2'\" >&2; exit 2"


def run_with(script, *options, op="Tile"):
    """Runs run.py on a few models of one op with `script` instead of tern. Returns the exit code and the output
    lines."""
    with tempfile.TemporaryDirectory() as folder:
        fake = pathlib.Path(folder) / "tern"
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        done = subprocess.run([sys.executable, HERE / "run.py", "--tern", fake, "--only", op, *options],
                              capture_output=True, text=True, check=False, env=dict(os.environ))
        return done.returncode, done.stdout.splitlines()


class Pretenders(unittest.TestCase):
    def test_a_silent_refusal_of_everything_fails_every_case(self):
        code, lines = run_with("exit 2", "--cases", "4")
        self.assertEqual((code, lines[-1]), (1, "0 passed, 4 failed, 0 skipped"))
        self.assertIn("without a well-formed error", lines[0])

    def test_a_well_formed_refusal_of_everything_is_not_enough(self):
        code, lines = run_with(REFUSE, "--cases", "10")
        self.assertEqual((code, lines[-1]), (1, "10 passed, 1 failed, 0 skipped"))
        self.assertIn("FAIL Tile: 0 of 10 computed, needs 1", lines)

    def test_one_op_refused_in_a_plain_run_fails(self):
        """The script refuses models with LSTM and otherwise calls tern."""
        refuse_lstm = f"if grep -q LSTM \"$2\"; then {REFUSE}; fi\nexec \"{os.environ['TERN_BIN']}\" \"$@\""
        for op, code in (("GRU", 0), ("LSTM", 1)):
            with self.subTest(op):
                found, lines = run_with(refuse_lstm, "--sample", SAMPLE, op=op)
                self.assertEqual(found, code, lines)
        self.assertIn("FAIL LSTM:0: refused, expected: computed", lines)
        self.assertEqual(lines[-1], "1 passed, 5 failed, 0 skipped")

    def test_results_that_are_not_there_fail(self):
        code, lines = run_with("exit 0", "--cases", "4")
        self.assertEqual((code, lines[-1]), (1, "0 passed, 4 failed, 0 skipped"))
        self.assertIn("outputs [] of ['y0_0']", lines[0])


class Counts(unittest.TestCase):
    def test_the_suite_states_how_many_ops_there_are(self):
        self.assertEqual(suites.HOSTILE_OPS, len(run.OPS))

    def test_the_sample_has_every_op(self):
        marks, _ = run.read_sample(SAMPLE)
        self.assertEqual(list(marks), list(run.OPS))
        self.assertEqual({len(of_op) for of_op in marks.values()}, {suites.HOSTILE_SAMPLE})


class Verdicts(unittest.TestCase):
    def setUp(self):
        node = helper.make_node("Relu", ["x"], ["y"])
        out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
        self.model = helper.make_model(helper.make_graph([node], "g", [], [out]))

    def fault(self, *answers):
        return verdict.fault(dict(zip(("reference", "1 thread(s)", "2 thread(s)"), answers)), self.model, "/m.onnx")

    def refusal(self, said):
        return self.fault(*[Answer(2, said, 0, {})] * 3)

    def computed(self, *numbers):
        return Answer(0, "", 0, {"y": np.array(numbers, np.float32)})

    def test_refusals(self):
        self.assertIsNone(self.refusal("tern: invalid model: node 'y' (Relu, onnx node #0): no while: loading '/m.onnx'"))
        self.assertIsNone(self.refusal("tern: invalid argument: node 'y' (Relu), kernel cpu.relu: no while: running '/m.onnx'"))
        self.assertIsNone(self.refusal("tern: resource exhausted: out of memory while: running '/m.onnx'"))
        for said in ("", "no", "tern: no", "terminate called: std::bad_alloc",
                     "tern: internal error: node 'y' (Relu): check failed while: running '/m.onnx'",
                     "tern: invalid model: node 'y' (Relu): no while: loading '/other.onnx'",
                     "tern: invalid model: node 'z' (Relu): no while: loading '/m.onnx'",
                     "tern: invalid model: no while: loading '/m.onnx'",
                     "tern: resource exhausted: node 'z' (Relu): no while: loading '/m.onnx'"):
            with self.subTest(said):
                self.assertIn("refused without", self.refusal(said))

    def test_a_crash(self):
        self.assertIn("exit -11", self.fault(self.computed(1, 2), Answer(-11, "", 0, {}), self.computed(1, 2)))

    def test_results_agree(self):
        good, near, bad = self.computed(1, 2), self.computed(1, 2.0001), self.computed(1, 3)
        self.assertIsNone(self.fault(good, near, near))
        self.assertIn("1 and 2 threads", self.fault(good, good, near))
        self.assertIn("reference and kernels", self.fault(bad, good, good))
        self.assertIn("exit 2", self.fault(good, good, Answer(2, "tern: resource exhausted: no while: running '/m.onnx'", 0, {})))

    def test_shares(self):
        self.assertEqual(verdict.too_few({"A": 9, "B": 3}, 10, True), [])
        self.assertEqual(verdict.too_few({"A": 9, "B": 2}, 10, True), ["11 of 20 computed, needs 12"])
        self.assertEqual(verdict.too_few({"A": 9, "B": 2}, 10, False), [])
        self.assertEqual(verdict.too_few({"A": 20, "B": 1}, 20, False), ["B: 1 of 20 computed, needs 2"])

    def test_outcomes(self):
        expected = {"A": "+-"}
        self.assertIsNone(verdict.unexpected("A:0", ["+"], expected))
        self.assertIsNone(verdict.unexpected("A:1", ["+", "-"], expected))
        self.assertIsNone(verdict.unexpected("A:1", ["+", "+"], None))
        self.assertEqual(verdict.unexpected("A:0", ["-"], expected), "refused, expected: computed")
        self.assertEqual(verdict.unexpected("A:1", ["+", "+"], expected), "computed, expected: refused")
        self.assertEqual(verdict.unexpected("B:0", ["+"], expected), "computed, expected: not in the sample")


if __name__ == "__main__":
    unittest.main()
