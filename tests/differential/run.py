#!/usr/bin/env python3
"""Draws random ONNX operators and compares an engine with onnxruntime. See README.md."""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fuzz import pool, registry  # noqa: E402
from fuzz.report import Report  # noqa: E402

CHUNK = 25            # the maximum number of cases per task; small tasks let several workers share a slow operator
SEED_STRIDE = 10_000  # the difference between the first seeds of two tasks of the same operator


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", default="tern", help="the command to test (default: tern)")
    parser.add_argument("--engine", choices=["tern", "reference"], default="tern",
                        help="`reference` tests the numpy models and onnx.reference instead of tern")
    parser.add_argument("--cases", type=int, default=1000, help="number of cases that onnxruntime runs (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="OP",
                        help="test only this operator, or only the operators whose names begin with PREFIX (PREFIX*)")
    parser.add_argument("--sample", metavar="FILE", help="run the cases of a file with one case id per line")
    parser.add_argument("--case", action="append", default=[], metavar="OP:SEED", help="run this case; may be repeated")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", default=str(HERE / "out"), metavar="DIR", help="folder for mismatched cases")
    parser.add_argument("--report", metavar="FILE.json")
    parser.add_argument("--list", action="store_true", help="list the operators and stop")
    return parser.parse_args()


def select(patterns):
    ops = registry.load_specs()
    if not patterns:
        return list(ops.values())
    chosen = [o for o in ops.values() for p in patterns if o.key == p or (p.endswith("*") and o.key.startswith(p[:-1]))]
    if not chosen:
        sys.exit(f"no operator matches {' '.join(patterns)}; --list names them all")
    return chosen


def share_out(ops, cases):
    """Returns the number of cases of each operator. It is proportional to the operator's weight, but at least 1. The
    sum is `cases`, or more if the minimum of 1 requires it."""
    total = sum(o.weight for o in ops)
    exact = {o.key: cases * o.weight / total for o in ops}
    quota = {k: max(1, int(v)) for k, v in exact.items()}
    for key in sorted(exact, key=lambda k: int(exact[k]) - exact[k])[: max(0, cases - sum(quota.values()))]:
        quota[key] += 1
    return quota


def drawn_tasks(ops, cases, seed):
    tasks = []
    for key, quota in share_out(ops, cases).items():
        for chunk in range(0, quota, CHUNK):
            first = (seed * 1000 + chunk // CHUNK) * SEED_STRIDE
            tasks.append(pool.Task(key, first, min(CHUNK, quota - chunk)))
    return tasks


def fixed_tasks(idents):
    tasks = []
    for ident in idents:
        key, seed = ident.rsplit(":", 1)
        if key not in registry.OPS:
            sys.exit(f"{ident}: no such operator")
        tasks.append(pool.Task(key, int(seed), 1, fixed=True))
    return tasks


def known_entries(engine):
    """Returns the known differences. Each worker calls this function too, because the predicate of an entry cannot be
    pickled."""
    import known
    import reference_faults
    return known.ENTRIES + (reference_faults.ENTRIES if engine == "reference" else [])


def read_sample(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


def make_tasks(options):
    ops = select(options.only)
    if options.sample or options.case:
        return fixed_tasks([*options.case, *(read_sample(options.sample) if options.sample else [])])
    return drawn_tasks(ops, options.cases, options.seed)


def show(verdict, verbose):
    if verdict.status in ("mismatched", "failed") or verbose:
        print(f"{verdict.status}: {verdict.about[:300] or verdict.ident}\n    {verdict.message[:500]}", flush=True)


def main():
    options = arguments()
    if options.list:
        print("\n".join(sorted(registry.load_specs())))
        return 0
    report = Report(known_entries(options.engine))
    tasks = make_tasks(options)
    began = time.monotonic()

    def on_verdict(verdict):
        report.add(verdict)
        show(verdict, verbose=bool(options.case))

    engine = "reference" if options.engine == "reference" else options.tern
    pool.run(tasks, options.jobs, engine, partial(known_entries, options.engine), options.save, on_verdict)
    print(report.table())
    for entry in report.stale():
        print(f"stale: {', '.join(entry.ops)}: {entry.reason}")
    for ident in report.crashes:
        print(f"onnxruntime crashed: {ident}")
    print(f"{time.monotonic() - began:.0f} s")
    if options.report:
        report.write(options.report)
    total = report.totals()
    passed = total["matched"] + total["explained"]
    print(f"{passed} passed, {len(report.findings)} failed, {total['unsupported']} skipped")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
