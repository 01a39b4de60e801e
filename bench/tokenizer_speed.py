#!/usr/bin/env python3
"""Measures Tern's tokenizers and those of the `tokenizers` package on the same lines, one thread each, in turn.

    bench/tokenizer_speed.py --program build/release/bin/tern_tokenize

Times are CPU times. The package runs encode_batch without parallelism. The ratios are the package's time divided by Tern's: of the medians, and the least of
all rounds. Needs the packages of scripts/requirements-tokenizers.txt.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "tokenizers"))
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import corpus  # noqa: E402
import trained  # noqa: E402
from driver import Tern  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402


def package_seconds(tokenizer, lines):
    start = time.process_time()
    tokenizer.encode_batch(lines)
    return time.process_time() - start


def measure(tern, tokenizer, lines, rounds):
    """Returns the times of the package and of Tern, a pair per round, after one round that does not count."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(tokenizer.to_str())
        file.flush()
        tern.load(file.name)
    tern.keep(lines)
    return [(package_seconds(tokenizer, lines), tern.seconds()) for _ in range(rounds + 1)][1:]


def named_tokenizer(make, lines, args):
    path = pathlib.Path(args.files or "/nonexistent") / f"{make.__name__}.json"
    return Tokenizer.from_file(str(path)) if path.exists() else make(lines, args.vocabulary)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="tern_tokenize")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--vocabulary", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", help="a folder of files that tests/tokenizers/compare.py --save has written, instead of training")
    parser.add_argument("--only", default="", help="names that contain this text")
    args = parser.parse_args()
    lines = corpus.lines(ROOT, args.lines)
    tern = Tern(args.program)
    print(f"{'tokenizer':24} {'package us/line':>16} {'Tern us/line':>14} {'ratio':>7} {'least':>7}")
    least = []
    for make in (make for makers in trained.KINDS.values() for make in makers if args.only in make.__name__):
        times = measure(tern, named_tokenizer(make, lines[:4000], args), lines, args.rounds)
        package, own = (statistics.median(column) for column in zip(*times))
        least.append(min(a / b for a, b in times))
        print(f"{make.__name__:24} {package / len(lines) * 1e6:16.1f} {own / len(lines) * 1e6:14.1f} {package / own:7.2f} {least[-1]:7.2f}", flush=True)
    tern.close()
    print(f"least ratio: {min(least):.2f}")


if __name__ == "__main__":
    main()
