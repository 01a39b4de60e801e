#!/usr/bin/env python3
"""Runs tern on models with extreme attributes. tern must not crash, hang or use more than 1 GB of memory. If it refuses
a model, it must state a reason. It must compute a minimum share of the models (verdict.py). Results must equal those of
the reference evaluator.

    run.py --tern build/release/bin/tern --cases 60            # 60 models of each op, with seeds from 0
    run.py --tern build/release/bin/tern --case Conv:12        # prints everything about one model; --keep FOLDER saves it
    run.py --tern build/release/bin/tern --sample tests/hostile/sample.txt     # the models of the sample file

The sample file states for each model whether tern computes or refuses it. A model with a different outcome fails.
--update writes the outcomes to the sample file.
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
import verdict
import windows
from draw import Draw
from verdict import Answer

OPS = windows.OPS | others.OPS
CPU_S, WALL_S = 20, 300
MEMORY = 1 << 30  # the address space of a tern process, in bytes; tern must refuse a model that needs more


def one_run(command, folder, *options):
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
    outputs = {f.stem: np.load(f) for f in sorted(out.glob("*.npy"))} if code == verdict.COMPUTED else {}
    return Answer(code, " ".join(said.split()), time.monotonic() - started, outputs)


def set_limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judge(command, name, keep=None):
    """Returns the name of the case, the error (None if there is no error), and all answers."""
    op, seed = name.split(":")
    with np.errstate(all="ignore"):
        model = OPS[op](Draw(op, int(seed)))
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="hostile-"))
    try:
        folder.mkdir(exist_ok=True)
        onnx.save(model, folder / "model.onnx")
        answers = {"reference": one_run(command, folder, "--level", "none", "--reference")}
        for threads in ("1", "2"):
            answers[f"{threads} thread(s)"] = one_run(command, folder, "--threads", threads)
        return name, verdict.fault(answers, model, folder / "model.onnx"), answers
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def judge_one(args):
    _, words, answers = judge(args.tern, args.case, args.keep)
    for who, a in answers.items():
        print(f"{who}: exit {a.code}, {a.seconds:.2f} s, {a.said}", {k: v.shape for k, v in a.outputs.items()})
    print(words or "good")
    return 1 if words else 0


def read_sample(path):
    """Returns the outcomes and the comment lines of a sample file. The outcomes are a dict from op to a string such as
    "++-", which means that tern computes the models with seeds 0 and 1 and refuses the model with seed 2."""
    lines = path.read_text().splitlines()
    return dict(line.split() for line in lines if line[0] != "#"), [line for line in lines if line[0] == "#"]


def write_sample(path, outcomes, words):
    path.write_text("\n".join([*words, *(f"{op:13} {''.join(marks)}" for op, marks in outcomes.items())]) + "\n")


def judge_all(args):
    expected, words = read_sample(args.sample) if args.sample else (None, [])
    ops = [op for op in OPS if args.only in (None, op)]
    cases = max(map(len, expected.values())) if expected else args.cases
    names = [f"{op}:{args.seed + i}" for op in ops for i in range(cases)]
    outcomes, failed = {op: [] for op in ops}, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, fault, answers in pool.map(lambda n: judge(args.tern, n), names):
            marks = outcomes[name.split(":")[0]]
            marks.append("?" if fault else "+" if answers["reference"].code == verdict.COMPUTED else "-")
            fault = fault or (not args.update and verdict.unexpected(name, marks, expected))
            if fault:
                failed += 1
                print(f"FAIL {name}: {fault[:1000]}", flush=True)
            if (slow := max(a.seconds for a in answers.values())) > 3:
                print(f"note {name}: {slow:.1f} s", flush=True)
    if args.update and not failed:
        write_sample(args.sample, outcomes, words)
    computed = {op: marks.count("+") for op, marks in outcomes.items()}
    shares = verdict.too_few(computed, cases, args.only is None)
    for fault in shares:
        print(f"FAIL {fault}")
    done = sum(computed.values())
    print(f"{done} computed, {sum(marks.count('-') for marks in outcomes.values())} refused")
    print(f"{len(names) - failed} passed, {failed + len(shares)} failed, 0 skipped")
    return 1 if failed or shares else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", default=os.environ.get("TERN_BIN"), required="TERN_BIN" not in os.environ)
    parser.add_argument("--cases", type=int, default=20, help="number of models of each op")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first model of each op")
    parser.add_argument("--only", choices=OPS, metavar="OP", help="run only this op")
    parser.add_argument("--case", help="run only the model OP:SEED")
    parser.add_argument("--sample", type=pathlib.Path, help="file with the expected outcome of each model; --cases is ignored")
    parser.add_argument("--update", action="store_true", help="write the outcomes to the file --sample")
    parser.add_argument("--keep", help="folder in which the model of --case is stored")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.update and (args.only or not args.sample) or args.sample and args.seed:
        parser.error("--update needs --sample and excludes --only; --sample excludes --seed")
    return judge_one(args) if args.case else judge_all(args)


if __name__ == "__main__":
    sys.exit(main())
