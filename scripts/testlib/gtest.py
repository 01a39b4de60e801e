"""Runs GoogleTest binaries, reads their JSON reports and prints the failures."""

import json
import pathlib
import tempfile

from .process import describe_exit, say, stream
from .results import Counts, SuiteError


def find_binaries(bin_dir):
    """Returns the unit-test binaries of a build, sorted by name."""
    return sorted(path for path in bin_dir.glob("*_test*") if path.name.endswith(("_test", "_tests")))


def count_report(report, verbose):
    """Returns the counts of one JSON report. Prints the failed tests. If `verbose` is true, prints all tests."""
    counts = Counts()
    for suite in report.get("testsuites", []):
        for test in suite.get("testsuite", []):
            name = f"{suite['name']}.{test['name']}"
            failures = test.get("failures", [])
            if failures:
                say(f"FAIL {name}")
                for failure in failures:
                    for line in failure["failure"].splitlines():
                        say(f"  {line}")
                counts += Counts(failed=1)
                continue
            ran = test.get("result") == "COMPLETED" and test.get("status") == "RUN"
            if verbose:
                say(f"{'PASS' if ran else 'SKIP'} {name}")
            counts += Counts(passed=1) if ran else Counts(skipped=1)
    return counts


def run_binary(binary, env, verbose, launcher=(), options=()):
    """Runs one binary and returns its counts. `launcher` is a command such as qemu that runs a binary of another architecture."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        code = stream([*launcher, binary, f"--gtest_output=json:{path}", *options], env=env, on_line=lines.append)
        try:
            counts = count_report(json.loads(path.read_text()), verbose)
        except (OSError, ValueError):
            counts = Counts()
    if counts.total == 0 or (code != 0 and counts.failed == 0):
        say(f"FAIL {binary.name}: {describe_exit(code)}, {counts.total} tests reported")
        for line in lines[-40:]:
            say(f"  {line}")
        counts += Counts(failed=1)
    return counts


def run_all(bin_dir, env, verbose, launcher=(), options=()):
    binaries = find_binaries(bin_dir)
    if not binaries:
        raise SuiteError(f"no *_test binary in {bin_dir}")
    return sum((run_binary(binary, env, verbose, launcher, options) for binary in binaries), Counts())
