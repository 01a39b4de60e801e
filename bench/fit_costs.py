#!/usr/bin/env python3
"""Fits the rates of src/runtime/cost/cost_rates.inc to this machine.

    fit_costs.py measure --tern BIN --isa avx512 --samples FILE MODEL…    measures every kernel of every layer, appends the times to FILE
    fit_costs.py fit FILE…                                              prints the table of rates, and the errors of the estimates

The estimated time of a kernel is a sum of terms. Each term is a count times a rate of the kernel's algorithm. The
counts are bytes moved, elements transformed, 1 for the start, and either products or bytes of weights. Of the last two,
the count that takes longer is used. The rates are the solution of a non-negative least-squares problem. Use a machine
without other load, and measure one instruction set at a time. The program needs numpy."""

import argparse
import collections
import functools
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

# The rates of these algorithms are not fitted. The algorithms run only inside other kernels, and their counts are too
# correlated with the other counts of those kernels.
FIXED = {"move", "transpose"}
UNDISTURBED = "direct"
COUNTS = ("products", "weights", "moved", "transformed")
WIDTH = len(COUNTS) + 1
RUNTIME = pathlib.Path(__file__).resolve().parents[1] / "src/runtime/cost"
TABLE = RUNTIME / "cost_rates.inc"


@functools.cache
def far_weights():
    """Returns kCache and kMiss of src/runtime/cost/cost_model.cc. Weights of at most kCache bytes stay in a cache. Reading
    larger weights takes kMiss times as long."""
    match = re.search(r"kCache = (\d+) << (\d+);.*?kMiss = (\d+);", (RUNTIME / "cost_model.cc").read_text(), re.DOTALL)
    if not match:
        sys.exit("fit_costs.py: src/runtime/cost/cost_model.cc does not define kCache and kMiss")
    size, shift, times = map(int, match.groups())
    return size << shift, times


def measure(args):
    for model in args.models:
        command = [args.tern, "profile", model, "--threads", "1", "--runs", "1", "--explain", "--json", "--tune", str(args.budget),
                   "--tune-all", "--cache-dir", "", "--isa", "base" if args.isa == "neon" else args.isa, "--precision", args.precision]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"fit_costs.py: {model}: {done.stderr.strip()}")
        report = json.loads(done.stdout)
        seen = set()
        with open(args.samples, "a", encoding="utf-8") as file:
            for node in report["explain"]:
                for c in node["candidates"]:
                    if not c["legal"] or not c["measured_us"] or not c["work"]:
                        continue
                    line = json.dumps({"isa": args.isa, "model": pathlib.Path(model).stem, "node": node["name"], "kernel": c["kernel"],
                                       "us": c["measured_us"], "work": c["work"]})
                    key = json.dumps([c["kernel"], c["work"]])
                    if key not in seen:
                        file.write(line + "\n")
                    seen.add(key)
        print(f"{model}: {len(seen)} kernels", file=sys.stderr)


def not_negative_least_squares(a, b):
    """Minimizes |a x - b| for x >= 0 by coordinate descent, which is slow but robust."""
    x = np.zeros(a.shape[1])
    squares = (a * a).sum(0)
    rest = b - a @ x
    for _ in range(20000):
        change = 0.0
        for j in range(a.shape[1]):
            if squares[j] == 0:
                continue
            new = max(0.0, x[j] + a[:, j] @ rest / squares[j])
            if new != x[j]:
                rest -= a[:, j] * (new - x[j])
                change = max(change, abs(new - x[j]) * squares[j] ** 0.5)
                x[j] = new
        if change < 1e-9 * len(b) ** 0.5:
            break
    return x


def parts(sample, table):
    """Yields each algorithm of a sample with its counts and rates. Either the count of products or the count of weights is
    set to 0, whichever takes less time."""
    near, times = far_weights()
    for w in sample["work"]:
        rates = table[w["algorithm"], sample["isa"]]
        counts = [w[c] for c in COUNTS] + [1]
        counts[1] *= times if counts[1] > near else 1
        counts[0 if counts[0] * rates[0] < counts[1] * rates[1] else 1] = 0
        yield w["algorithm"], np.array(counts), np.array(rates)


def fit_once(samples, table, near, bounded=True):
    """Fits the rates in `table` (nanoseconds) to the samples. Rates without samples stay unchanged. Returns the estimate of
    each sample, divided by its measurement. These estimates use the rates before the fit."""
    seen = collections.Counter(w["algorithm"] for s in samples for w in s["work"])
    algorithms = sorted(name for name, count in seen.items() if count >= 8 and name not in FIXED)  # fewer than 8 samples do not determine the rates
    at = {name: i * WIDTH for i, name in enumerate(algorithms)}
    rows = np.zeros((len(samples), len(at) * WIDTH))
    times = np.array([s["us"] * 1e3 for s in samples])
    known, estimates = np.zeros(len(samples)), np.zeros(len(samples))
    isa = samples[0]["isa"]
    floor = 0.95 * table[UNDISTURBED, isa][0] if bounded else 0  # no algorithm multiplies faster than direct convolution
    for i, s in enumerate(samples):
        for name, counts, rates in parts(s, table):
            estimates[i] += counts @ rates
            if name not in at:
                known[i] += min(counts @ rates, 0.9 * times[i])
                continue
            known[i] += counts[0] * floor + counts[1] * rates[1]
            counts[1] = 0  # the rate of weights is not fitted, because memory bandwidth does not depend on the kernel
            rows[i, at[name]:at[name] + WIDTH] += counts
    # Errors are divided by sqrt(time * estimate). An estimate that is twice the time then has the same weighted error
    # as an estimate that is half the time.
    weight = near / np.sqrt(times * np.clip(estimates, times / 5, times * 5))
    scale = np.maximum(1e-30, np.abs(rows).max(0))
    found = not_negative_least_squares(rows / scale * weight[:, None], (times - known) * weight) / scale
    for name, i in at.items():
        rates = found[i:i + WIDTH] + [floor, 0, 0, 0, 0]
        told = np.abs(rows[:, i:i + WIDTH]).sum(0) > 0
        table[name, isa] = [r if t else old for r, t, old in zip(rates, told, table[name, isa])]
    return estimates / times


def fit_isa(samples, table):
    best = collections.defaultdict(lambda: 1e30)
    for s in samples:
        key = s["model"], s["node"]
        best[key] = min(best[key], s["us"])
    near = np.array([(best[s["model"], s["node"]] / s["us"]) ** 0.5 for s in samples])  # kernels that are much slower than the best one have less weight
    for i in range(8):
        fit_once(samples, table, near, bounded=i > 1)
    ratios = collections.defaultdict(list)
    for s, ratio in zip(samples, fit_once(samples, table, near)):
        ratios[s["kernel"]].append(ratio)
    return ratios


def rates_in(text):
    """Returns the rates by algorithm and instruction set."""
    table = {}
    for line in text.splitlines():
        if match := re.match(r"TERN_RATES\((.*)\)", line):
            algorithm, isa, *rates = [word.strip() for word in match[1].split(",")]
            table[algorithm, isa] = [float(r) for r in rates]
    return table


def fit(args):
    samples = [json.loads(line) for name in args.files for line in open(name, encoding="utf-8")]
    text = TABLE.read_text()
    table = rates_in(text)
    for isa in sorted({s["isa"] for s in samples}):
        ratios = fit_isa([s for s in samples if s["isa"] == isa], table)
        for kernel, list_ in sorted(ratios.items()):
            low, middle, high = np.quantile(list_, [0.1, 0.5, 0.9])
            print(f"{isa} {kernel}: {len(list_)} layers, estimate divided by measurement {low:.2f} … {middle:.2f} … {high:.2f}", file=sys.stderr)
    print(text[:text.index("TERN_RATES")], end="")  # the header comment
    for (algorithm, isa), r in table.items():
        product, weight, moved, transformed, start = (f"{x:.4g}" for x in r)
        print(f"TERN_RATES({algorithm + ',':<19} {isa + ',':<7} {product + ',':<9} {weight + ',':<9} {moved + ',':<9} "
              f"{transformed + ',':<11} {start})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("--tern", required=True)
    one.add_argument("--isa", required=True, choices=["base", "avx2", "avx512", "neon"])
    one.add_argument("--precision", default="fp32")
    one.add_argument("--budget", default=60000, type=int, help="milliseconds for measuring the kernels of a model")
    one.add_argument("--samples", required=True)
    one.add_argument("models", nargs="+")
    one.set_defaults(run=measure)
    two = commands.add_parser("fit")
    two.add_argument("files", nargs="+")
    two.set_defaults(run=fit)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
