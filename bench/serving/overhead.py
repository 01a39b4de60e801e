#!/usr/bin/env python3
"""Measures the overhead of servers with a model that returns its input: requests/s, p99 and processor time per request."""

import argparse
import contextlib
import os
import pathlib
import re
import resource
import shutil
import struct
import sys
import tempfile

import clients
import latency
import options
import processes
import repositories
import servers
import stats

ONE = struct.pack("<f", 1.0)


def start_all(stack, args, folder):
    """Starts all servers. Returns a list of (name, server, name of the model to request)."""
    repositories.tern_identity(folder / "models")
    repositories.tern_identity(folder / "models", "response_cache { enable: true }\n", "cached")
    tern = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--backend-folder", args.backends,
                              "--cache", "local:size=64M")
    stack.callback(tern.stop)
    found = [("tern", tern, "identity"), ("tern cache", tern, "cached")]
    if args.triton:
        triton = servers.start_triton(args.triton, folder / "triton")
        stack.callback(triton.stop)
        found += [("triton python", triton, "identity"), ("triton cache", triton, "cached")]
    if args.nginx:
        nginx = servers.start_nginx(args.nginx, folder / "nginx", "x" * 128)
        stack.callback(nginx.stop)
        found.append(("nginx", nginx, "identity"))
    return found


def generators(args):
    """Returns a list of load generators as (name, protocol, function). The function gets a server and the name of a model."""
    found = [("wrk", "http", lambda server, model: clients.wrk(server, model, ONE, args.seconds, args.connections)),
             ("h2load", "grpc", lambda server, model: clients.h2load(server, model, ONE, args.seconds, args.connections))]
    if args.perf_analyzer:
        for protocol in ("http", "grpc"):
            found.append((f"perf_analyzer {protocol}", protocol, lambda server, model, protocol=protocol: clients.perf_analyzer(
                args.perf_analyzer, server, model, protocol, args.seconds, "--concurrency-range", args.connections, "--shape", "INPUT0:1")))
    return [each for each in found if re.search(args.clients, each[0])]


def client_seconds():
    """Returns the processor time of all load generators that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(server, model, send):
    """Runs a load generator once. Fails if the server executed fewer than 98 % of the requests that the client counted. Such a
    difference means errors that h2load does not detect, because gRPC errors have HTTP status 200."""
    server.check()
    fixed = server.name == "nginx"
    before, client, answered = server.cpu_seconds(), client_seconds(), 0 if fixed else stats.successes(server, model)
    found = send(server, model)
    spent, client = server.cpu_seconds() - before, client_seconds() - client
    answered = found["requests"] if fixed else stats.successes(server, model) - answered
    if found["errors"] or answered < 0.98 * found["requests"]:
        raise SystemExit(f"{server.name}: {found['errors']} errors, {found['requests']} requests, {answered} answered")
    return {**found, "cpu_us": spent / answered * 1e6, "client_us": client / answered * 1e6, "load_average": processes.load_average()}


def throughput(found, args):
    """Returns {load generator: {server: [one measurement per round]}}. Each round measures all servers, one after the other."""
    table = {}
    for _ in range(args.rounds):
        for client, protocol, send in generators(args):
            for name, server, model in found:
                if name == "nginx" and client != "wrk":
                    continue
                table.setdefault(client, {}).setdefault(name, []).append(measure(server, model, send))
    return table


def print_throughput(table):
    """`client us` is the client's processor time per request. `at most` is the ratio `tern /` of a server that needs no processor
    time, if the client occupies all cores."""
    print(f"{'client':20}{'server':16}{'requests/s':>12}{'p99 ms':>9}{'CPU us':>9}{'client us':>11}{'tern /':>9}{'at most':>9}")
    for client, by_server in table.items():
        limit = 1e6 * len(os.sched_getaffinity(0)) / clients.median(by_server["tern"], "client_us")
        for name, rounds in by_server.items():
            ratio, rate = clients.median_ratio(by_server["tern"], rounds), clients.median(rounds, "throughput")
            print(f"{client:20}{name:16}{rate:12,.0f}{clients.median(rounds, 'p99_ms'):9.2f}{clients.median(rounds, 'cpu_us'):9.1f}"
                  f"{clients.median(rounds, 'client_us'):11.1f}{ratio:9.2f}{limit / rate:9.2f}")


SHOW = {"throughput": print_throughput, "half_load": latency.show_half_load, "large": latency.show_large, "added": latency.show_added}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--nginx", default=os.environ.get("NGINX") or shutil.which("nginx"), help="path of nginx; with '', nginx is omitted")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--digits", default=options.ROOT / "examples/digits/digits.onnx", help="model whose latency is compared with an in-process run")
    parser.add_argument("--clients", default="", help="use only the load generators whose names match this regular expression, such as 'perf_analyzer http'")
    parser.add_argument("--parts", nargs="*", default=["throughput", "half_load", "large", "added"], help="what to measure")
    return options.parsed(parser)


def main():
    args = parse()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = start_all(stack, args, folder)
        report = {"load_average": processes.load_average(), "wake_up_p99_ms": processes.wake_up_p99_ms()}
        uncached = [each for each in found if each[0] != "tern cache"]
        parts = {"throughput": lambda: throughput(found, args), "half_load": lambda: latency.half_load(uncached, args),
                 "large": lambda: latency.large_tensors(uncached, args), "added": lambda: latency.added(stack, folder, args)}
        for part in args.parts:
            report[part] = parts[part]()
            SHOW[part](report[part])
        print(f"load average {report['load_average']:.1f} to {processes.load_average():.1f}; "
              f"a thread that sleeps wakes up {report['wake_up_p99_ms']:.2f} ms late (p99), which is part of all latencies")
        options.write(args, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
