#!/usr/bin/env python3
"""Models with extreme attributes: nothing may crash, hang or take more memory than the model's own tensors do,
and what is computed is what the reference evaluator computes.

    run.py --tern build/release/bin/tern --cases 60            # of each op, from seed 0 on
    run.py --tern build/release/bin/tern --case Conv:12        # one, in full; --keep FOLDER saves the model
"""

import argparse
import concurrent.futures
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

import others
import windows
from draw import Draw

OPS = windows.OPS | others.OPS
CPU_S, WALL_S = 20, 300
MEMORY = 1 << 30  # more than any result here needs; whoever asks for more must be told that it is too much
REFUSED = 2


def one_run(command, folder, *options):
    """Exit code, what was said, seconds, outputs by file name."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    started = time.monotonic()
    try:
        done = subprocess.run([command, "run", folder / "model.onnx", "--random", "3", "--output-dir", out, *options],
                              capture_output=True, text=True, errors="replace", timeout=WALL_S, check=False,
                              preexec_fn=set_limits)
        code, said = done.returncode, done.stderr + done.stdout
    except subprocess.TimeoutExpired:
        code, said = -1, f"no answer in {WALL_S} s"
    outputs = {f.name: np.load(f) for f in sorted(out.glob("*.npy"))} if code == 0 else {}
    return code, " ".join(said.split())[:400], time.monotonic() - started, outputs


def set_limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(answer):
    code, said, *_ = answer
    if code not in (0, REFUSED):
        return f"exit {code}: {said}"
    if code == REFUSED and ("internal error" in said or "bad_alloc" in said):
        return said
    return None


def differs(a, b, exact):
    if a.keys() != b.keys():
        return f"outputs {sorted(a)} and {sorted(b)}"
    for name in a:
        x, y = a[name], b[name]
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{name}: {x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}"
        same = np.array_equal(x, y, equal_nan=x.dtype.kind == "f") if exact else np.allclose(x, y, 2e-4, 2e-4, equal_nan=True)
        if not same:
            return f"{name}: values differ"
    return None


def judge(command, name, keep=None):
    op, seed = name.split(":")
    with np.errstate(all="ignore"):
        model = OPS[op](Draw(op, int(seed)))
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="hostile-"))
    try:
        folder.mkdir(exist_ok=True)
        onnx.save(model, folder / "model.onnx")
        runs = {"reference": one_run(command, folder, "--level", "none", "--reference")}
        for threads in ("1", "2"):
            runs[f"{threads} thread(s)"] = one_run(command, folder, "--threads", threads)
        return name, verdict(runs), runs
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def verdict(runs):
    for who, answer in runs.items():
        if words := fault(answer):
            return f"{who}: {words}"
    reference, one, two = runs.values()
    if not reference[0] == one[0] == two[0]:
        return "; ".join(f"{who}: exit {a[0]} {a[1] if a[0] else ''}" for who, a in runs.items())
    if words := differs(one[3], two[3], True):
        return f"1 and 2 threads: {words}"
    if words := differs(reference[3], one[3], False):
        return f"reference and kernels: {words}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", default=os.environ.get("TERN_BIN"), required="TERN_BIN" not in os.environ)
    parser.add_argument("--cases", type=int, default=20, help="of each op")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--only", help="one op")
    parser.add_argument("--case", help="OP:SEED")
    parser.add_argument("--keep", help="folder for the model of --case")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.case:
        name, words, runs = judge(args.tern, args.case, args.keep)
        for who, (code, said, seconds, outputs) in runs.items():
            print(f"{who}: exit {code}, {seconds:.2f} s, {said}", {k: v.shape for k, v in outputs.items()})
        print(words or "good")
        return 1 if words else 0
    names = [f"{op}:{args.seed + i}" for op in OPS if args.only in (None, op) for i in range(args.cases)]
    computed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, words, runs in pool.map(lambda n: judge(args.tern, n), names):
            computed += runs["reference"][0] == 0
            if words:
                failed += 1
                print(f"FAIL {name}: {words}", flush=True)
            slow = max(a[2] for a in runs.values())
            if slow > 3 and not words:
                print(f"note {name}: {slow:.1f} s", flush=True)
    print(f"{computed} computed, {len(names) - computed - failed} refused")
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
