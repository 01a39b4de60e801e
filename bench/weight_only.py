#!/usr/bin/env python3
"""Compares GPT-2 decoding with weights of f32, int8 and int4.

    python -m venv .venv-generate && .venv-generate/bin/pip install -r scripts/requirements-bench.txt onnx numpy
    .venv-generate/bin/python bench/weight_only.py

GPT-2 small with random weights is exported from torch (bench/generate.py), and `tern quantize --weights` writes the other two
models. The models take turns, round by round. The table shows the milliseconds of the fastest and of the median token, and
how many times as many tokens per second a model generates as f32.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

import generate

ROOT = generate.ROOT
FORMS = {"f32": None, "int8": ["--weights", "int8"], "int4": ["--weights", "int4", "--block", "32"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "tern")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / ".cache" / "generate" / "gpt2.onnx",
                        help="model file; exported if it does not exist")
    parser.add_argument("--tokens", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def milliseconds(tern, model, tokens, threads):
    """Returns the milliseconds of each token, without the first ones, whose time includes compiling plans."""
    done = subprocess.run([tern, "generate", model, "--prompt", "464", "--tokens", str(tokens), "--threads", str(threads), "--json"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["milliseconds"][generate.SKIP:]


def main():
    args = parse()
    if not args.model.exists():
        generate.export(args.model, 12, 0, "legacy")
    models = {}
    for name, options in FORMS.items():
        models[name] = args.model if options is None else args.model.with_suffix(f".{name}.tern")
        if options is not None:
            subprocess.run([args.tern, "quantize", args.model, "-o", models[name], *options], check=True)
    for threads in args.threads:
        times = {name: [] for name in models}
        for _ in range(args.rounds):
            for name, model in models.items():
                times[name].append(milliseconds(args.tern, model, args.tokens, threads))
        best = {name: (min(map(min, rounds)), min(map(statistics.median, rounds))) for name, rounds in times.items()}
        print(f"{threads} threads\n{'weights':8} {'fastest ms':>10} {'median ms':>10} {'tokens/s':>9} {'against f32':>12}")
        for name, (fastest, median) in best.items():
            ratios = f"{best['f32'][0] / fastest:.2f} / {best['f32'][1] / median:.2f}"
            print(f"{name:8} {fastest:10.2f} {median:10.2f} {1000 / median:9.1f} {ratios:>12}", flush=True)


if __name__ == "__main__":
    main()
