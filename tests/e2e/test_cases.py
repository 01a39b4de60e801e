"""Tests tern_cases, which runs .case files: which cases --only selects, how results are reported, and that a case fails
if no kernel runs it. Tests how tern_rules reads .rule files."""

import os
import pathlib
import subprocess

from support import TERN, CliTest

RUNNER = pathlib.Path(TERN).with_name("tern_cases")
CASES = """op Unary kind="neg"
in x f32[1] = 1
out y f32[1] = -1
end
op Unary kind="abs"
in x f32[1] = -1
out y f32[1] = 1
end
"""


class RunnerTest(CliTest):
    def check(self, *args, code=0, summary="", says=()):
        done = subprocess.run([RUNNER, self.dir, *args], capture_output=True, text=True, check=False, env=os.environ)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1:], [summary] if summary else [])
        for text in says:
            self.assertIn(text, done.stdout)

    def check_cases(self, text, passed, *says):
        """Runs the cases in `text`. `passed` is the expected number of passed cases. If `says` is not empty, one more
        case must fail, and the output must contain all texts of `says`."""
        (self.dir / "a.case").write_text(text)
        self.check(code=int(bool(says)), summary=f"{passed} passed, {int(bool(says))} failed, 0 skipped", says=says)


class Rules(CliTest):
    def test_a_pass_misses_without_a_reason(self):
        graph = "graph @g(%x: f32[2]) -> (%y) { %y = Relu(%x) }\n"
        for line, code in (("misses", 0), ('misses "a reason"', 1)):
            (self.dir / "a.rule").write_text(f"pass FoldConstants\n{line}\n{graph}")
            done = subprocess.run([RUNNER.with_name("tern_rules"), self.dir, "--only", "FoldConstants"], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertEqual("a.rule:2: passes report no reasons" in done.stdout, bool(code), done.stdout)


class Only(RunnerTest):
    def setUp(self):
        super().setUp()
        (self.dir / "first.case").write_text(CASES)
        (self.dir / "second.case").write_text(CASES.replace("f32", "f16"))

    def test_without_it_all_cases_run(self):
        self.check(summary="4 passed, 0 failed, 0 skipped")

    def test_it_matches_files_places_and_names(self):
        self.check("--only", "second", summary="2 passed, 0 failed, 2 skipped")
        self.check("--only", "first.case:4", summary="1 passed, 0 failed, 3 skipped")
        self.check("--only", "abs", summary="2 passed, 0 failed, 2 skipped")

    def test_nothing_to_run_is_no_success(self):
        self.check("--only", "nothing", code=1, summary="0 passed, 0 failed, 4 skipped")
        self.check("--nly", "x", code=2)


GELU = "op Gelu\n{loop}in x {type}[2] = 0 0\nout y {type}[2] = 0 0\n{more}end\n"


class KernelsRun(RunnerTest):
    """These tests use Gelu because it has kernels for f32, f16 and bf16, but none for f64."""

    def test_the_reference_is_not_compared_with_itself(self):
        self.check_cases(GELU.format(loop="", type="f64", more=""), 0,
                         "a.case:4 Gelu: session, base, 1 thread(s): compares the reference evaluator with itself: "
                         "no kernel of Gelu takes f64[2]")
        self.check_cases("Gelu : f64[5]\n", 0, "compares the reference evaluator with itself")

    def test_nor_are_constants_that_are_computed_ahead(self):
        self.check_cases(GELU.format(loop="", type="f32", more="").replace("in x", "const x"), 0, "all nodes are computed before the run")

    def test_the_case_may_say_so(self):
        self.check_cases(GELU.format(loop="", type="f64", more='by_reference "no f64 kernel"\n'), 1)
        loop = "foreach T f32 f64 f16\n"
        self.check_cases(GELU.format(loop=loop, type="T", more='by_reference f64 "no f64 kernel"\n'), 3)

    def test_and_must_say_the_truth(self):
        self.check_cases(GELU.format(loop="", type="f32", more='by_reference "no kernel"\n'), 0,
                         'kernels run it; by_reference "no kernel" is not true')
        self.check_cases(GELU.format(loop="", type="f32", more="by_reference\n"), 0, "a.case:4: expected `by_reference VALUE")
        self.check_cases(GELU.format(loop="foreach T f32 f16\n", type="T", more='by_reference f64 "none"\n'), 0,
                         "'f64' is not a value of the enclosing foreach")

    def test_an_op_without_kernels_needs_no_word(self):
        self.check_cases("Det : f32[2,2]\n", 1)


class Lines(RunnerTest):
    def test_loops_combine(self):
        self.check_cases('foreach K neg abs\nforeach T f32 f16 i8\nUnary {kind="K"} : T[3]\nUnary {kind="K"} : T[17]\nend\n', 12)

    def test_choices_of_an_attribute(self):
        self.check_cases('foreach K of Eltwise.kind but sum\nEltwise {kind="K"} : f32[3] f32[3]\nend\n', 3)
        self.check_cases('foreach K of Eltwise.kind but none\nEltwise : f32[3]\nend\n', 0, "'none' is not a choice of Eltwise.kind")
        for end in ("except sum", "sum", "but"):
            self.check_cases(f'foreach K of Eltwise.kind {end}\nEltwise {{kind="K"}} : f32[3] f32[3]\nend\n', 0,
                             "expected `foreach NAME of OP.ATTRIBUTE but", f"got '{end.split()[0]}' after Eltwise.kind")
        self.check_cases('foreach K of Eltwise.kin\nEltwise : f32[3]\nend\n', 0, "Eltwise.kin has no choices")

    def test_operands(self):
        self.check_cases("Clip : f32[9]~ _ f32[]=(1)\nGather : f32[5,2] i64[4]<5\nMatMul : f32[2,3] f32[3,4]! @1e-4\n"
                         "TopK : f32[9]+ i64[1]=(3) -> 2\n", 4)
        self.check_cases("Clip : f32[9]?\n", 0, "a.case:1: 'f32[9]?' is not an operand")
        self.check_cases("Clip : f32[2]=(1)\n", 0, "has 1 elements, needs 2")

    def test_what_is_open_at_the_end_is_an_error(self):
        self.check_cases("foreach T f32\nGelu : T[3]\n", 0, "foreach has no `end`")
        self.check_cases("op Gelu\nin x f32[1] = 0\n", 0, "the last case has no `end`")
