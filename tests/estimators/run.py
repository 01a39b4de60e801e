#!/usr/bin/env python3
"""Converts estimators of scikit-learn, LightGBM and XGBoost to ONNX and compares tern with onnxruntime. See README.md."""

import argparse
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import case as cases
import convert
import datasets
import engines

LIMIT = 120  # seconds for one run of tern


def run_case(case, tern, folder):
    """Returns (outcome, message). The outcome is "passed", "failed", or "unavailable" if the converter or onnxruntime
    fails."""
    data = datasets.load(case.data)
    try:
        model = convert.to_onnx(case, data)
    except Exception as error:  # pylint: disable=broad-except  # a converter may raise any exception
        return "unavailable", f"no conversion: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    feeds = convert.feeds(case, data)
    try:
        wanted = engines.by_onnxruntime(path, feeds)
    except Exception as error:  # pylint: disable=broad-except
        return "unavailable", f"onnxruntime: {str(error).splitlines()[0]}"
    try:
        got = engines.by_tern(tern, path, feeds, folder, LIMIT)
    except RuntimeError as error:
        return "failed", str(error)
    if set(got) != set(wanted):
        return "failed", f"outputs {sorted(wanted)} wanted, got {sorted(got)}"
    for name, value in wanted.items():
        if (difference := cases.compare(case, value, got[name], name)):
            return "failed", difference
    return "passed", ""


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", required=True, help="the tern program")
    parser.add_argument("--sample", type=Path, metavar="FILE", help="run the cases named in a file, one per line")
    parser.add_argument("--only", default="", help="run only the cases whose names match this regular expression")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder in which models and results are stored, in a subfolder per case")
    parser.add_argument("--least", type=int, default=0, help="fail if fewer cases than this number can be compared")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    return parser.parse_args()


def select(given):
    from catalog import cases as catalogue
    found = [case for case in catalogue() if re.search(given.only, case.name)]
    if not given.sample:
        return found
    names = [line.strip() for line in given.sample.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if unknown := sorted(set(names) - {case.name for case in found}):
        sys.exit(f"{given.sample}: no such case: {', '.join(unknown)}")
    return [case for case in found if case.name in names]


def main():
    given = options()
    chosen = select(given)
    if given.list:
        print("\n".join(case.name for case in chosen))
        return 0
    counts = Counter()
    for case in chosen:
        with tempfile.TemporaryDirectory() as temporary:
            folder = given.keep / case.name if given.keep else Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            outcome, message = run_case(case, given.tern, folder)
        counts[outcome] += 1
        if outcome != "passed":
            print(f"{'FAIL' if outcome == 'failed' else 'SKIP'} {case.name}: {message}", flush=True)
    if counts["passed"] + counts["failed"] < given.least:
        print(f"FAIL catalogue: {counts['passed'] + counts['failed']} cases can be compared, fewer than {given.least}")
        counts["failed"] += 1
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['unavailable']} skipped")
    return int(counts["failed"] > 0 or not counts["passed"])


if __name__ == "__main__":
    sys.exit(main())
