#!/usr/bin/env python3
"""Runs a server at a part of its capacity for a long time. Fails if a request fails or if the memory keeps growing."""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import clients
import options
import processes
import repositories
import servers

LARGE = 64 << 10  # number of FP32 elements of the large tensors, 256 KiB
# (protocol, model, options of tern load); all run at the same time
STREAMS = [("http", "digits", []), ("grpc", "digits", []), ("http", "identity", ["--shape", f"INPUT0={LARGE}"]),
           ("grpc", "identity", ["--shape", f"INPUT0={LARGE}"])]


def capacity(server, args, protocol, model, extra):
    return clients.tern_load(args.tern, getattr(server, protocol), model, "--concurrency", 8, *extra, protocol=protocol, seconds=args.seconds)["throughput"]


def start_load(server, args, folder, index, rate):
    """Starts `tern load` at `rate` requests/s for the whole time. Returns the process and the file of its results."""
    protocol, model, extra = STREAMS[index]
    out = folder / f"load{index}.json"
    command = [args.tern, "load", getattr(server, protocol), model, "--protocol", protocol, "--rate", rate, "--connections", 8, "--seconds",
               round(args.minutes * 60), "--json", *extra]
    with open(out, "wb") as file:
        return subprocess.Popen([str(word) for word in command], stdout=file, stderr=subprocess.STDOUT), out


def growth(samples):
    """Returns by how much the median of the last third exceeds that of the second third, as a fraction. The first third, in which the
    pools of memory fill, does not count."""
    third = max(1, len(samples) // 3)
    middle, last = sorted(samples[third:2 * third] or samples), sorted(samples[-third:])
    return last[len(last) // 2] / middle[len(middle) // 2] - 1


def soak(server, args, folder):
    """Returns the rates, the results of `tern load`, and the resident memory in MB every few seconds."""
    rates = [args.share * capacity(server, args, *stream) / len(STREAMS) for stream in STREAMS]
    loads = [start_load(server, args, folder, index, rate) for index, rate in enumerate(rates)]
    samples = []
    while any(process.poll() is None for process, _ in loads):
        time.sleep(args.interval)
        server.check()
        samples.append(server.resident_mb())
        print(f"{len(samples) * args.interval:6.0f} s  {samples[-1]:7.1f} MB  load average {processes.load_average():.1f}", flush=True)
    return {"rates": rates, "loads": [json.loads(path.read_text()) for _, path in loads], "resident_mb": samples}


def show(report):
    for (protocol, model, _), rate, got in zip(STREAMS, report["rates"], report["loads"]):
        print(f"{model:9}{protocol:5} {rate:9.1f}/s asked {got['throughput']:9.1f}/s answered, {got['errors']} errors, p99 {got['latency_ms']['p99']:.2f} ms")
    samples = report["resident_mb"]
    print(f"resident {samples[0]:.1f} MB at first, {max(samples):.1f} at most, {samples[-1]:.1f} at last; last third {100 * growth(samples):+.2f} %")
    errors = sum(got["errors"] for got in report["loads"])
    return errors == 0 and growth(samples) <= 0.02


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--share", type=float, default=0.7, help="the load as a share of the capacity")
    parser.add_argument("--interval", type=float, default=10, help="seconds between two samples of the memory")
    args = options.parsed(parser)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        repositories.tern_identity(folder / "models")
        digits = options.ROOT / "examples/digits/digits.onnx"
        server = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--model", f"digits={digits}",
                                    "--backend-folder", args.backends)
        stack.callback(server.stop)
        report = soak(server, args, folder)
    options.write(args, report)
    return 0 if show(report) else 1


if __name__ == "__main__":
    sys.exit(main())
