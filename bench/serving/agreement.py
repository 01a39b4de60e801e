#!/usr/bin/env python3
"""Compares the throughput that perf_analyzer and `tern load` measure on the same server."""

import argparse
import contextlib
import pathlib
import statistics
import sys
import tempfile

import clients
import options
import processes
import repositories
import servers


def start(stack, args, folder):
    """Starts a server with a model whose execution lasts `--delay-ms` milliseconds. The delay ensures that neither client limits the throughput."""
    parameter = f'parameters {{ key: "execute_delay_ms" value {{ string_value: "{args.delay_ms}" }} }}\n'
    repositories.tern_identity(folder / "models", parameter)
    server = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--backend-folder", args.backends)
    stack.callback(server.stop)
    return server


def measure(server, args, protocol):
    """Returns one row per round. Each round runs perf_analyzer, then tern load."""
    address, rows = server.http if protocol == "http" else server.grpc, []
    for _ in range(args.rounds):
        theirs = clients.perf_analyzer(args.perf_analyzer, server, "identity", protocol, args.seconds, concurrency=args.concurrency)
        ours = clients.tern_load(args.tern, address, "identity", "--concurrency", args.concurrency, protocol=protocol, seconds=args.seconds)
        rows.append({"perf_analyzer": theirs["throughput"], "tern_load": ours["throughput"], "perf_analyzer_p50_ms": theirs["p50_ms"],
                     "tern_load_p50_ms": ours["latency_ms"]["p50"]})
    return rows


def show(protocol, rows):
    ratio = statistics.median(row["tern_load"] / row["perf_analyzer"] for row in rows)
    print(f"{protocol}: perf_analyzer {clients.median(rows, 'perf_analyzer'):.1f}/s (p50 {clients.median(rows, 'perf_analyzer_p50_ms'):.3f} ms), "
          f"tern load {clients.median(rows, 'tern_load'):.1f}/s (p50 {clients.median(rows, 'tern_load_p50_ms'):.3f} ms), ratio {ratio:.3f}")
    return abs(ratio - 1) <= 0.05


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--delay-ms", type=int, default=2, help="time of one execution; with 0, the clients limit the throughput, so their speeds are compared")
    return options.parsed(parser)


def main():
    args = parse()
    if not args.perf_analyzer:
        sys.exit("perf_analyzer is missing; set --perf-analyzer or PERF_ANALYZER to its path")
    with contextlib.ExitStack() as stack:
        server = start(stack, args, pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())))
        report = {protocol: measure(server, args, protocol) for protocol in ("http", "grpc")}
    agree = [show(protocol, rows) for protocol, rows in report.items()]
    print(f"load average {processes.load_average():.1f}")
    options.write(args, report)
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
