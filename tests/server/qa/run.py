#!/usr/bin/env python3
"""Runs Triton's own client tests, unmodified, against `tern serve`.

The tests are in a checkout outside this repository:

    CHECKOUT/server   github.com/triton-inference-server/server (qa/, docs/examples/)
    CHECKOUT/client   github.com/triton-inference-server/client (src/python/examples/)

The tests connect to localhost:8000, 8001 and 8002, so that these ports must be free. The Python that runs this script
needs tritonclient[http,grpc,cuda], numpy, onnx, requests, psutil and sseclient-py. L0_query imports the CUDA part of
tritonclient, but no GPU is needed.

    run.py CHECKOUT --tern build/release/bin/tern [SUITE ...]

"skipped" is the number of tests that suites.py excludes (`without`, `left_out`) or that fail for a reason that
suites.py states (`known`). The script prints these tests with the reasons.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from server import Server, environment
from suites import SUITES

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Count:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def __iadd__(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        return self

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def unittest_count(text, code):
    """Returns the counts in the summary that Python's unittest printed to `text`. `code` is its exit status."""
    ran = re.findall(r"^Ran (\d+) tests?", text, re.M)
    if not ran:
        return Count(failed=1)  # the file could not be imported
    summary = " ".join(re.findall(r"^(?:OK|FAILED) \((.*)\)", text, re.M))
    number = {key: int(value) for key, value in re.findall(r"(failures|errors|skipped)=(\d+)", summary)}
    failed = number.get("failures", 0) + number.get("errors", 0)
    if code and not failed:
        failed = 1
    return Count(max(0, int(ran[-1]) - failed - number.get("skipped", 0)), failed, number.get("skipped", 0))


def reasons(text):
    """Yields for each failed test its name and the last line of its stack trace."""
    for block in re.split(r"^=+$", text, flags=re.M)[1:]:
        lines = [line for line in re.split(r"^-{70}$\n^Ran", block, flags=re.M)[0].splitlines() if line.strip()]
        yield f"    {lines[0]}: {lines[-1][:300]}"


def run_test(test, checkout, server, log):
    """Runs a test file, or only the tests in `test.args`. Returns the counts."""
    folder = checkout / test.folder
    command = [sys.executable, test.file, *test.args]
    env = environment(SERVER_PID=str(server.process.pid), **test.env)
    log.write(f"\n$ {' '.join(command)}  (in {test.folder}) {test.env}\n")
    try:
        done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=test.seconds)
        text, code = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as end:
        text, code = (end.stdout or b"").decode(errors="replace") + f"\nno end after {test.seconds} s", 124
    log.write(text)
    log.flush()
    if test.is_unittest:
        count = unittest_count(text, code) if code != 124 else Count(failed=1)
    else:
        passed = (code == 0) != test.must_fail and (test.expect in text)
        count = Count(passed=int(passed), failed=int(not passed))
    known = set(re.findall(r"^(?:FAIL|ERROR): (\w+)", text, re.M)) & set(test.known) if test.is_unittest else set(test.known if count.failed else ())
    count.failed -= len(known)
    count.skipped += len(known) + len(test.without)
    if count.failed:
        print(f"  {test.folder}/{test.file} {' '.join(test.args)}: {count.failed} failed")
        print("\n".join(reasons(text)) or f"    {text.strip().splitlines()[-1][:300] if text.strip() else code}")
    for name, why in test.without.items():
        print(f"  skipped {name}: {why}")
    for name in sorted(known):
        print(f"  differs {name}: {test.known[name]}")
    return count


def run_suite(suite, options, log):
    total = Count(skipped=len(suite.left_out))
    for name, why in suite.left_out.items():
        print(f"  skipped {name}: {why}")
    if not suite.parts:
        return total
    with tempfile.TemporaryDirectory(prefix="tern_qa_") as folder:
        folder = pathlib.Path(folder)
        repository = folder / "models"
        repository.mkdir()
        suite.models(options.checkout, repository)
        for part in suite.parts:
            try:
                with Server(options.tern, repository, folder, part.flags, part.env) as server:
                    for test in part.tests:
                        total += run_test(test, options.checkout, server, log)
            except AssertionError as error:
                print(f"  {error}")
                total.failed += 1
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, help="folder that contains Triton's repositories server/ and client/")
    parser.add_argument("suites", nargs="*", help="names of the suites to run (default: all)")
    parser.add_argument("--tern", default=ROOT / "build/release/bin/tern", type=pathlib.Path, help="the program under test")
    parser.add_argument("--log", default=pathlib.Path(tempfile.gettempdir()) / "tern_qa.log", type=pathlib.Path, help="file for the output of the tests")
    options = parser.parse_intermixed_args()
    options.checkout, options.tern = options.checkout.resolve(), options.tern.resolve()
    unknown = set(options.suites) - {suite.name for suite in SUITES}
    if unknown or not (options.checkout / "server/qa").is_dir():
        parser.error(f"unknown suites: {', '.join(sorted(unknown))}" if unknown else f"{options.checkout} has no server/qa")
    total = Count()
    with open(options.log, "w") as log:
        for suite in SUITES:
            if options.suites and suite.name not in options.suites:
                continue
            count = run_suite(suite, options, log)
            print(f"{suite.name}: {count}", flush=True)
            total += count
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
