#!/usr/bin/env python3
"""Imitates tern for tests of the benchmark.

The output is twice the input. Environment variables control the other results:
FAKE_MS         the latencies of each round in ms. Semicolons separate rounds. Later rounds repeat the last one.
FAKE_SINGLE_MS  replaces FAKE_MS in runs with one thread.
FAKE_ROUGH      if set, the output in bf16 is three times the input.
FAKE_CHAOS      if set, the output of a model with rounded weights is three times the input.
FAKE_STARTS     names a file with one line per start. The line is the load_ms of this start, or the error message with
                which this start fails.
FAKE_INT8_MS    replaces FAKE_MS in runs of a model that `tern quantize` made.
FAKE_DIES       if set, every run fails."""

import json
import os
import pathlib
import sys

if sys.argv[1] == "doctor":
    cores = 2
    threads = min(cores, int(sys.argv[sys.argv.index("--threads") + 1])) if "--threads" in sys.argv else 1
    print(json.dumps({"cpu": "made up", "isa": "unused", "simd": "made_up", "bf16_products": True, "cores": cores, "version": "0", "peak_gflops": {"fp32": 100.0},
                      "peak_gflops_threads": {"fp32": 95.0 * threads}, "peak_threads": threads, "read_gb_per_s": 10.0,
                      "read_gb_per_s_threads": 10.0 + threads}))
    sys.exit(0)
if sys.argv[1] == "profile":
    print(json.dumps({"peak_gflops": 100.0, "read_gb_per_s": 10.0,
                      "nodes": [{"kernel": "cpu.twice.f32", "ms": 3.0, "percent_of_roof": 50.0, "depth": 0, "flops": 1e6, "bytes": 1e3},
                                {"kernel": "cpu.read.f32", "ms": 1.0, "percent_of_roof": 50.0, "depth": 0, "flops": 1e6, "bytes": 1e8}]}))
    sys.exit(0)
if sys.argv[1] == "quantize":
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_bytes(b"made up")
    sys.exit(0)
if sys.argv[1] == "inspect":
    print(json.dumps({"flops": 1_000_000}))
    sys.exit(0)

import numpy as np  # noqa: E402  imported late, because the code above runs often and does not need numpy

if os.environ.get("FAKE_DIES"):
    sys.exit("tern: made up to fail")
load_ms = "1"
if starts := os.environ.get("FAKE_STARTS"):
    load_ms, *rest = pathlib.Path(starts).read_text().splitlines() or ["1"]
    pathlib.Path(starts).write_text("\n".join(rest))
    if not load_ms[0].isdigit():
        sys.exit(f"tern: {load_ms}")
options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
with np.load(options["--input"]) as inputs:
    off = os.environ.get("FAKE_ROUGH") and "bf16" in sys.argv or os.environ.get("FAKE_CHAOS") and "rounded" in sys.argv[2]
    np.save(pathlib.Path(options["--output-dir"]) / "y.npy", (3 if off else 2) * inputs["x"])
print(json.dumps({"load_ms": float(load_ms), "first_run_ms": 1.0, "reference_nodes": 0, "before_rss_mb": 2.0}), flush=True)
single = os.environ.get("FAKE_SINGLE_MS") if options["--threads"] == "1" else None
if sys.argv[2].endswith(".tern"):
    single = os.environ["FAKE_INT8_MS"]
rounds = [[float(ms) for ms in latencies.split()] for latencies in (single or os.environ["FAKE_MS"]).split(";")]
for i, _ in enumerate(sys.stdin):
    latency = rounds[min(i, len(rounds) - 1)]
    print(json.dumps({"latency_ms": latency, "processor_ms": [ms / 2 for ms in latency], "peak_rss_mb": 7.0}), flush=True)
