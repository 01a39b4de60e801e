#!/usr/bin/env python3
"""Prints which operators a peer leaves in models, and which operators it removes or adds. Reads the cache file of
compare.py."""

import argparse
import os
import re
import sys
from pathlib import Path

import data
import graphs
import peers


def show(counts):
    return "  ".join(f"{op} {n}" for op, n in sorted(counts.items(), key=lambda i: (-i[1], i[0]))) or "-"


def describe(model, peer, result):
    before = graphs.ops(graphs.load(model.path))
    if "reason" in result:
        return f"{model.name}: {peer} failed: {result['reason']}"
    after = result["ops"]
    gone = {op: n - after.get(op, 0) for op, n in before.items() if n > after.get(op, 0)}
    new = {op: n - before.get(op, 0) for op, n in after.items() if n > before.get(op, 0)}
    return "\n".join((f"{model.name}: {sum(before.values())} -> {result['nodes']} by {peer}",
                      f"  left  {show(after)}", f"  gone  {show(gone)}", f"  new   {show(new)}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, help="folder that tests/architectures/export.py filled")
    parser.add_argument("--cache", type=Path, required=True, help="file that compare.py filled")
    parser.add_argument("--peer", choices=peers.OPTIMIZERS, default="onnxruntime")
    parser.add_argument("only", help="show only the models whose names match this regular expression")
    options = parser.parse_args()
    cache = peers.Cache(options.cache, limit=60)
    for model in data.models(options.models, os.environ.get("TERN_ZOO")):
        if re.search(options.only, model.name):
            print(describe(model, options.peer, cache.results(model, data.feeds(model))[options.peer]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
