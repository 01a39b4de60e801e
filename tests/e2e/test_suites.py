"""Tests how scripts/run_tests reads the output of a test runner."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

from testlib.process import run_with_summary  # noqa: E402
from testlib.results import Counts  # noqa: E402


class RunWithSummary(unittest.TestCase):
    def ran(self, script, verbose=False):
        """Runs a shell script as a test runner. Returns the counts and the printed lines."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            counts = run_with_summary(["sh", "-c", script], verbose=verbose)
        return counts, [line.strip() for line in printed.getvalue().splitlines()]

    def test_passed_tests_are_shown_only_if_verbose(self):
        script = "echo RUN a; echo PASS a; echo note; echo 1 passed, 0 failed, 0 skipped"
        self.assertEqual(self.ran(script), (Counts(passed=1), ["note"]))
        self.assertEqual(self.ran(script, verbose=True), (Counts(passed=1), ["RUN a", "PASS a", "note"]))

    def test_a_crash_names_the_running_test(self):
        script = "echo RUN a; echo PASS a; echo RUN b/c; echo why; kill -ABRT $$"
        self.assertEqual(self.ran(script), (Counts(failed=1), ["why", "FAIL sh in b/c: no summary line (killed by SIGABRT)"]))

    def test_a_crash_between_tests_names_none(self):
        script = "echo RUN a; echo PASS a; kill -ABRT $$"
        self.assertEqual(self.ran(script), (Counts(failed=1), ["FAIL sh: no summary line (killed by SIGABRT)"]))


if __name__ == "__main__":
    unittest.main()
