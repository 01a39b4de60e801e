#!/usr/bin/env python3
"""Exports every network of the architecture table into a cache folder: with both exporters of torch, and with static
and dynamic shapes.

Each export runs in a child process with a time limit, so that a crash or a hang affects only one export.
Exports that are in index.json are skipped.
"""

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

EXPORTERS = ("torchscript", "dynamo")
SHAPES = ("static", "dynamic")
DEFAULT_OUT = Path(__file__).resolve().parents[2] / ".cache" / "architectures"


class Index:
    """The file index.json, which maps the name of an export to its outcome. It is rewritten after each export, so that
    no outcome is lost if the program is interrupted."""

    def __init__(self, out):
        self.path = out / "index.json"
        self.entries = json.loads(self.path.read_text()) if self.path.exists() else {}

    def add(self, name, outcome):
        self.entries[name] = outcome
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(self.entries, indent=1, sort_keys=True) + "\n")
        fresh.replace(self.path)

    def wants(self, name, retry):
        outcome = self.entries.get(name)
        return outcome is None or (retry and outcome["status"] != "exported")


def child(job, out, pipe):
    import worker  # already imported by the parent process

    os.dup2(os.open(out / "export.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    os.dup2(1, 2)
    pipe.send(worker.export(*job, out))


def run(job, out, limit):
    """Runs one export in a forked child. The parent has already imported torch, so that a child starts quickly."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(job, out, sender))
    process.start()
    sender.close()
    try:
        outcome = receiver.recv() if receiver.poll(limit) else None
    except EOFError:
        outcome = {"status": "exporter failed", "reason": "child process died"}
    process.kill()
    process.join()
    return outcome or {"status": "exporter failed", "reason": f"time limit of {limit} s"}


def jobs(families, options):
    for exporter in options.exporter:
        for name in families:
            for shape in options.shape:
                if re.search(options.only, name):
                    yield name, exporter, shape


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("--only", default="", help="export only the families whose names match this regular expression")
    parser.add_argument("--exporter", nargs="+", choices=EXPORTERS, default=EXPORTERS)
    parser.add_argument("--shape", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--limit", type=int, default=240, help="time limit of one export, in seconds")
    parser.add_argument("--retry", action="store_true", help="repeat exports that failed before")
    return parser.parse_args()


def main():
    options = parse()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    import worker

    os.chdir(options.out)  # a git checkout during the run may delete the current folder, and then exports would fail
    index = Index(options.out)
    for job in jobs(worker.FAMILIES, options):
        name = ".".join(job)
        if not index.wants(name, options.retry):
            continue
        start = time.time()
        outcome = run(job, options.out, options.limit)
        index.add(name, {**outcome, "seconds": round(time.time() - start, 1)})
        print(name, outcome["status"], outcome.get("reason", ""), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
