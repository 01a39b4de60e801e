#!/usr/bin/env python3
"""Measures what a process of its own, and a sandbox, cost per request: the same model in the server, isolated and sandboxed."""

import argparse
import contextlib
import pathlib
import sys
import tempfile

import clients
import options
import processes
import repositories
import servers

PARAMETER = 'parameters {{ key: "{}" value {{ string_value: "{}" }} }}\n'
# The place of the model -> its parameters. `queued` is in the server, but never runs on the thread that received the request, as isolated
# models never do. Its limit on executions has that effect.
PLACES = {"in the server": {}, "queued": {"execution_timeout_ms": 60000}, "process": {"isolation": "process"}, "sandbox": {"sandbox": "true"}}
SIZES = {"4 B": 1, "64 KiB": 16 << 10, "1 MiB": 256 << 10, "4 MiB": 1 << 20}  # FP32 elements


def start(stack, args, folder):
    for number, parameters in enumerate(PLACES.values()):
        extra = "".join(PARAMETER.format(key, value) for key, value in parameters.items())
        repositories.tern_identity(folder / "models", extra, f"m{number}")
    server = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--backend-folder", args.backends)
    stack.callback(server.stop)
    return server


def measure(server, args, model, elements, concurrency):
    cpu = server.cpu_seconds()
    got = clients.tern_load(args.tern, server.http, model, "--concurrency", concurrency, "--shape", f"INPUT0={elements}", seconds=args.seconds)
    if got["errors"] or not got["throughput"]:
        raise SystemExit(f"{model}, {elements} elements, {concurrency} clients: {got['errors']} errors, {got['throughput']} requests/s")
    requests = got["throughput"] * args.seconds
    return {"p50_us": got["latency_ms"]["p50"] * 1e3, "p99_us": got["latency_ms"]["p99"] * 1e3, "throughput": got["throughput"],
            "cpu_us": (server.cpu_seconds() - cpu) / requests * 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[1, 8])
    args = options.parsed(parser)
    table = {}
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = start(stack, args, folder)
        for _ in range(args.rounds):
            for size, elements in SIZES.items():
                for concurrency in args.concurrency:
                    for number, place in enumerate(PLACES):
                        found = measure(server, args, f"m{number}", elements, concurrency)
                        table.setdefault((size, concurrency), {}).setdefault(place, []).append(found)
    print(f"{'tensor':8}{'clients':>8}  {'place':14}{'p50 us':>9}{'p99 us':>10}{'requests/s':>12}{'CPU us':>9}{'p50 +us':>9}")
    for (size, concurrency), places in table.items():
        base = clients.median(places["in the server"], "p50_us")
        for place, rounds in places.items():
            values = {key: clients.median(rounds, key) for key in ("p50_us", "p99_us", "throughput", "cpu_us")}
            print(f"{size:8}{concurrency:8}  {place:14}{values['p50_us']:9.0f}{values['p99_us']:10.0f}{values['throughput']:12,.0f}"
                  f"{values['cpu_us']:9.0f}{values['p50_us'] - base:9.0f}")
    print(f"load average {processes.load_average():.1f}; clients and server share the cores")
    options.write(args, [{"size": size, "concurrency": concurrency, "places": places} for (size, concurrency), places in table.items()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
