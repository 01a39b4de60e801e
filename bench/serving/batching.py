#!/usr/bin/env python3
"""Measures goodput under Poisson load, and how 8 models share the cores.

Goodput is the number of answers per second within a latency goal. The load is below and above the server's capacity.
"""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile

import clients
import inputs
import options
import processes
import repositories
import servers
import sharing
import stats

MODES = ("none", "fixed", "sla")


def configurations(args, goal_ms):
    """Returns the text of config.pbtxt by mode. Mode `none` runs one request at a time, as Triton does without dynamic_batching.
    Mode `fixed` batches with a fixed delay. Mode `sla` batches with the latency goal tern_p99_ms."""
    batches = f"max_batch_size: {args.max_batch}\n"
    threads = f'parameters {{ key: "tern_threads" value {{ string_value: "{args.threads}" }} }}\n' if args.threads else ""
    instances = f"instance_group [ {{ kind: KIND_CPU count: {args.instances} }} ]\n"
    common = batches + threads + instances
    return {"none": common,
            "fixed": common + f"dynamic_batching {{ max_queue_delay_microseconds: {round(args.delay_ms * 1000)} }}\n",
            "sla": common + f'dynamic_batching {{}}\nparameters {{ key: "tern_p99_ms" value {{ string_value: "{goal_ms:g}" }} }}\n'}


class Bench:
    """A server that serves one model file in all modes. The name of a served model is its mode."""

    def __init__(self, args, name, file, folder):
        self.args, self.name, self.file, self.folder = args, name, file, folder
        self.server, self.inputs = None, []

    def start(self, goal_ms):
        models = self.folder / f"models_{goal_ms:g}"
        for mode, config in configurations(self.args, goal_ms).items():
            repositories.onnx_model(models, mode, self.file, config)
        self.server = servers.start_tern(self.args.tern, self.folder, "--repository", models)
        self.inputs = inputs.write(self.server, "none", self.folder, self.args.length)

    def load(self, mode, *more, seconds=None, warmup=0.5):
        return clients.tern_load(self.args.tern, self.server.http, mode, *self.inputs, "--timeout", 10, "--connections",
                                 self.args.connections, *more, seconds=seconds or self.args.seconds, warmup=warmup)

    def goal(self):
        """Returns the latency goal in ms. By default, it is ten times the median latency if requests are sent one at a time."""
        return self.args.goal_ms or round(10 * self.load("none", "--concurrency", 1, seconds=1)["latency_ms"]["p50"], 1)

    def capacities(self):
        """Returns the closed-loop throughput of the modes that refuse no request."""
        return {mode: self.load(mode, "--concurrency", 2 * self.args.max_batch)["throughput"] for mode in ("none", "fixed")}

    def open_loop(self, mode, rate, goal_ms, **more):
        before, begin = self.server.cpu_seconds(), stats.counts(self.server, mode)
        got = self.load(mode, "--rate", rate, "--goal", goal_ms, **more)
        end = stats.counts(self.server, mode)
        batch = (end[0] - begin[0]) / max(1, end[1] - begin[1])
        return {"mode": mode, "rate": rate, "goodput": got["goodput"], "throughput": got["throughput"], "p99_ms": got["latency_ms"]["p99"],
                "errors": got["errors"], "refused": got["refused"], "refused_p99_ms": got["refused_p99_ms"], "batch": batch,
                "cpu_s": self.server.cpu_seconds() - before, "load_average": processes.load_average(), "requests": got["requests"]}


def show(row, label):
    print(f"  {label:14}{row['mode']:7}{row['rate']:9.1f}{row['goodput']:10.1f}{row['throughput']:9.1f}{row['p99_ms']:10.1f}"
          f"{row['batch']:7.1f}{row['refused']:9}{row['refused_p99_ms']:10.1f}{row['errors'] - row['refused']:7}{row['load_average']:6.1f}",
          flush=True)


def measure(bench, args):
    bench.start(args.goal_ms or 1000)
    goal = bench.goal()
    bench.server.stop()
    bench.start(goal + 1e-3)
    capacities = bench.capacities()
    capacity = max(capacities.values())
    print(f"\n{bench.name}: goal {goal:g} ms, capacity {', '.join(f'{mode} {rate:.1f}/s' for mode, rate in capacities.items())}")
    print(f"  {'load':14}{'mode':7}{'rate':>9}{'goodput':>10}{'answers':>9}{'p99 ms':>10}{'batch':>7}{'refused':>9}{'their p99':>10}"
          f"{'errors':>7}{'busy':>6}")
    rows = []

    def run(label, mode, factor, **more):
        rows.append({"load": label, **bench.open_loop(mode, factor * capacity, goal, **more)})
        show(rows[-1], label)

    for _ in range(args.rounds):
        for factor in args.factors:
            for mode in args.modes:
                run(f"{factor:g} x", mode, factor)
                if factor > 1:  # at once, to see how long the overload lasts
                    run(f"after {factor:g} x", mode, 0.8, seconds=args.after, warmup=2)
    bench.server.stop()
    return {"goal_ms": goal, "capacity": capacities, "rows": rows}


def ratios(found, factors):
    """Prints the goodput of mode `sla` relative to the other modes, and relative to its own best goodput."""
    def median(label, mode):
        return clients.median([row for row in found["rows"] if (row["load"], row["mode"]) == (label, mode)], "goodput")
    labels = [f"{factor:g} x" for factor in factors]
    peak = max(median(label, "sla") for label in labels)
    for label in labels:
        ours = median(label, "sla")
        others = {mode: median(label, mode) for mode in MODES if mode != "sla"}
        parts = [f"{ours / rate:.2f} of {mode}" if rate > 0.01 * ours else f"all ({mode} has none)" for mode, rate in others.items()]
        print(f"  {label}: goodput of sla is {', '.join(parts)}, {ours / peak:.2f} of its peak")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--model", action="append", default=[], metavar="NAME=FILE.onnx", help="model to serve; may be repeated")
    parser.add_argument("--goal-ms", type=float, default=0, help="latency goal; by default 10 times the median latency if requests are sent one at a time")
    parser.add_argument("--delay-ms", type=float, default=5, help="delay of batching in mode `fixed`")
    parser.add_argument("--max-batch", type=int, default=8)
    parser.add_argument("--instances", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="threads of one execution; with 0, the server decides")
    parser.add_argument("--length", type=int, default=64, help="size of open dims other than the batch")
    parser.add_argument("--connections", type=int, default=1024)
    parser.add_argument("--factors", type=float, nargs="*", default=[0.8, 3, 10], help="loads relative to the capacity")
    parser.add_argument("--after", type=int, default=5, help="seconds to measure at 0.8 times the capacity, from 2 s after an overload on")
    parser.add_argument("--shared", type=int, default=8, help="number of models to load at the same time; with 0, this measurement is omitted")
    parser.add_argument("--modes", nargs="*", default=list(MODES))
    return options.parsed(parser)


def main():
    args, report = parse(), {"load_average": os.getloadavg()}
    files = dict(each.split("=", 1) for each in args.model)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, file in files.items() if args.factors else ():
            bench = Bench(args, name, file, folder / name)
            stack.callback(lambda bench=bench: bench.server and bench.server.stop())
            report[name] = measure(bench, args)
            if set(args.modes) == set(MODES):
                ratios(report[name], args.factors)
        if args.shared:
            report["shared"] = sharing.measure(stack, folder / "shared", args, files)
    options.write(args, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
