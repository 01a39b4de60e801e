"""Runs the unittest files (test_*.py) of a folder and prints the project's summary line last.

usage: unittest_main.py FOLDER [FILE] [--verbose]    FILE is a test file of the folder, without .py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from testlib.results import Counts  # noqa: E402


def say(*words):
    print(*words, file=sys.__stdout__, flush=True)  # unittest captures sys.stdout during a test


class Result(unittest.TestResult):
    """Prints each failure when it happens. A test with several failing subtests counts as one failure."""

    def __init__(self, verbose):
        super().__init__()
        self.buffer = True  # captures the output of a test, so that a passing test prints nothing
        self.verbose = verbose
        self.passed = 0
        self.failed = set()

    def note(self, verdict, test):
        if self.verbose:
            say(verdict, test.id())

    def fail(self, test, error):
        self.failed.add(getattr(test, "test_case", test).id())
        say("FAIL", test.id())
        say(self._exc_info_to_string(error, test))  # includes the test's output

    def addSuccess(self, test):
        self.passed += 1
        self.note("PASS", test)

    def addFailure(self, test, error):
        self.fail(test, error)

    def addError(self, test, error):
        self.fail(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fail(subtest, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(f"SKIP ({reason})", test)

    def addExpectedFailure(self, test, error):
        self.passed += 1

    def addUnexpectedSuccess(self, test):
        self.failed.add(test.id())
        say("FAIL", test.id(), "was expected to fail, but passed")


def main():
    folder, *files = [word for word in sys.argv[1:] if word != "--verbose"]
    result = Result("--verbose" in sys.argv)
    for pattern in [f"{name}.py" for name in files] or ["test_*.py"]:
        tests = unittest.defaultTestLoader.discover(folder, pattern=pattern, top_level_dir=folder)
        if files and tests.countTestCases() == 0:
            print(f"no tests in {folder}/{pattern}", file=sys.stderr)
            return 2
        tests.run(result)
    print(Counts(result.passed, len(result.failed), len(result.skipped)))
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
