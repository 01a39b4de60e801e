"""Runs one engine with one model in a separate process. Computes only on request.

usage: child.py ENGINE JOB.json

Uses the protocol of `tern bench --rounds`. The process writes a JSON line when it is ready. Then it reads lines
'RUNS SECONDS' from standard input. For each line, it runs the model and writes a JSON line with latencies. If it fails,
it writes a JSON line with "error".
"""

import importlib
import json
import os
import pathlib
import sys
import time
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import feeds  # noqa: E402
from engines import PEERS  # noqa: E402


def memory(field):
    """Returns a field of /proc/self/status in MB."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def forget_peak():
    """Resets the process's peak memory to its current memory. Does nothing on a system that forbids this."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def read_job(path):
    job = types.SimpleNamespace(**json.loads(pathlib.Path(path).read_text()))
    job.inputs = feeds.load(job.inputs_file)
    return job


def measure(run, runs, seconds):
    """Returns the wall-clock time and the processor time of each run, in ms."""
    latency, processor, start = [], [], time.perf_counter()
    while len(latency) < runs and (not latency or time.perf_counter() - start < seconds):
        spent, begin = time.process_time(), time.perf_counter()
        run()
        latency.append(round((time.perf_counter() - begin) * 1e3, 4))
        processor.append(round((time.process_time() - spent) * 1e3, 4))
    return {"latency_ms": latency, "processor_ms": processor}


def serve(answer, engine, job):
    module = importlib.import_module(f"engines.{PEERS[engine]}")
    getattr(module, "prepare", lambda job: None)(job)
    before = memory("VmRSS")
    forget_peak()
    start = time.perf_counter()
    run, results = module.load(job)
    loaded = time.perf_counter()
    run()
    first = time.perf_counter()
    for name, value in zip(job.outputs, results()):
        np.save(pathlib.Path(job.outputs_dir) / f"{feeds.file_name(name)}.npy", value)
    answer(load_ms=(loaded - start) * 1e3, first_run_ms=(first - loaded) * 1e3, before_rss_mb=before)
    for line in sys.stdin:
        runs, seconds = line.split()
        answer(**measure(run, int(runs), float(seconds)), peak_rss_mb=memory("VmHWM"))


def main():
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # redirects the engine's own output to stderr, because stdout is used for the protocol

    def answer(**values):
        pipe.write(json.dumps(values) + "\n")

    try:
        serve(answer, sys.argv[1], read_job(sys.argv[2]))
    except Exception as error:
        answer(error=f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
