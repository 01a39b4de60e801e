#!/usr/bin/env python3
"""Runs a server at a part of its capacity for a long time, while models are loaded again. Fails if a request fails or if the memory keeps
growing. The other options add load that a server meets over time: isolated models, killed processes, canaries, evictions."""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import clients
import disturbances
import options
import processes
import servers

LARGE = 64 << 10  # number of FP32 elements of the large tensors, 256 KiB
# (protocol, model, options of tern load); all run at the same time
STREAMS = [("http", "digits", []), ("grpc", "digits", []), ("http", "identity", ["--shape", f"INPUT0={LARGE}"]),
           ("grpc", "identity", ["--shape", f"INPUT0={LARGE}"])]
ISOLATED = [("http", "isolated", ["--shape", f"INPUT0={LARGE}"]), ("grpc", "isolated", [])]


def capacities(server, args, streams):
    """Returns the requests/s of each stream while all of them send as fast as they can."""

    def measure(stream):
        protocol, model, extra = stream
        return clients.tern_load(args.tern, getattr(server, protocol), model, "--concurrency", 8, *extra, protocol=protocol,
                                 seconds=args.capacity_secs)["throughput"]

    with concurrent.futures.ThreadPoolExecutor(len(streams)) as pool:
        return list(pool.map(measure, streams))


def start_load(server, args, folder, stream, rate):
    """Starts `tern load` at `rate` requests/s for the whole time. Returns the process and the file of its results."""
    protocol, model, extra = stream
    out = folder / f"load_{protocol}_{model}.json"
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


def soak(server, args, folder, streams, disturbing):
    """Returns the rates, the results of `tern load`, the resident memory in MB every few seconds, and what the disturbances did."""
    samples = []
    with disturbances.Running(server, disturbing) as running:  # also while the capacity is measured, because disturbances take a part of it
        rates = [args.share * rate for rate in capacities(server, args, streams)]
        loads = [start_load(server, args, folder, stream, rate) for stream, rate in zip(streams, rates)]
        begin = time.monotonic()
        while any(process.poll() is None for process, _ in loads):
            time.sleep(args.interval)
            server.check()
            samples.append(server.resident_mb())
            print(f"{time.monotonic() - begin:6.0f} s  {samples[-1]:7.1f} MB  load average {processes.load_average():.1f}  {running}", flush=True)
    report = {"streams": streams, "rates": rates, "resident_mb": samples, "disturbances": running.counts, "disturbance_errors": running.errors,
              "loads": [json.loads(path.read_text()) for _, path in loads]}
    report["resident_mb_after"] = disturbances.settled(server)
    return report


def show(report, allowed):
    """Prints the report. Returns whether the server passed: no errors beyond those that killed processes permit, and flat memory."""
    for (protocol, model, _), rate, got in zip(report["streams"], report["rates"], report["loads"]):
        print(f"{model:9}{protocol:5} {rate:9.1f}/s asked {got['throughput']:9.1f}/s answered, {got['errors']} errors, p99 {got['latency_ms']['p99']:.2f} ms")
    samples = report["resident_mb"]
    print(f"resident {samples[0]:.1f} MB at first, {max(samples):.1f} at most, {samples[-1]:.1f} at last, {report['resident_mb_after']:.1f} when idle; "
          f"last third {100 * growth(samples):+.2f} %")
    for name, count in report["disturbances"].items():
        print(f"{name}: {count} times")
    for error in report["disturbance_errors"][:10]:
        print("error:", error)
    errors = sum(got["errors"] for got in report["loads"])
    return errors <= allowed and not report["disturbance_errors"] and growth(samples) <= 0.02


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--share", type=float, default=0.7, help="the load as a share of the capacity")
    parser.add_argument("--capacity-secs", type=float, default=60, help="seconds for which the capacity is measured")
    parser.add_argument("--interval", type=float, default=10, help="seconds between two samples of the memory")
    parser.add_argument("--reload-secs", type=float, default=10, help="seconds between two loads of each model; 0: no reloads")
    parser.add_argument("--isolated", action="store_true", help="also send requests to a model in a process of its own")
    parser.add_argument("--kill-secs", type=float, default=0, help="with --isolated, seconds between two kills of the process; requests in flight then fail")
    parser.add_argument("--canaries", action="store_true", help="the reloads bring new versions, which are rolled out (tern_rollout)")
    parser.add_argument("--evictions", action="store_true", help="also send requests to more models than --memory-budget has room for")
    args = options.parsed(parser)
    if args.isolated and args.evictions:
        parser.error("--isolated cannot be combined with --evictions: the process alone exceeds the memory budget of the small models")
    return args


def main():
    args = parse()
    streams = STREAMS + (ISOLATED if args.isolated else [])
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        flags, disturbing = disturbances.prepare(args, folder)
        server = servers.start_tern(args.tern, folder / "tern", *flags, "--backend-folder", args.backends)
        stack.callback(server.stop)
        report = soak(server, args, folder, streams, disturbing)
    options.write(args, report)
    killed = report["disturbances"].get("process killed", 0)
    return 0 if show(report, 64 * killed) else 1


if __name__ == "__main__":
    sys.exit(main())
