#!/usr/bin/env python3
"""Runs perf_analyzer in all its modes against `tern serve`, and compares its figures with those of `tern load`."""

import argparse
import contextlib
import fnmatch
import pathlib
import statistics
import sys
import tempfile

import clients
import modes
import options
import processes
import servers

LIMIT = 0.05  # the largest difference that is accepted, relative to perf_analyzer


def start(stack, args, folder):
    """Starts a server with models whose execution lasts `--delay-ms` milliseconds. The delay ensures that neither client limits the
    throughput. Executions only wait, so there are more threads than cores."""
    modes.write_models(folder / "models", args.delay_ms)
    server = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--backend-folder", args.backends, "--shared-memory",
                                "--threads", 16)
    stack.callback(server.stop)
    return server


def run(server, args, mode, seed):
    """Runs perf_analyzer, then tern load if it has the mode, and returns the figures of both."""
    command = (args.perf_analyzer, server, mode.model, mode.protocol, args.seconds, *mode.theirs)
    if mode.only_profile:
        return {"requests": clients.perf_analyzer_profile(*command)}
    theirs = clients.perf_analyzer(*command)
    row = {"perf_analyzer": theirs["throughput"], "perf_analyzer_p50_ms": theirs["p50_ms"], "served": theirs["served"] / theirs["requests"]}
    if mode.ours is not None:
        ours = clients.tern_load(args.tern, getattr(server, mode.protocol), mode.model, *mode.ours, "--random", seed, protocol=mode.protocol,
                                 seconds=args.seconds)
        row.update(tern_load=ours["throughput"], tern_load_p50_ms=ours["latency_ms"]["p50"], errors=ours["errors"])
    return row


def measure(server, args, mode):
    """Returns one row per round, or the error message of the client that failed."""
    server.check()
    try:
        return [run(server, args, mode, seed) for seed in range(1, args.rounds + 1)]
    except clients.Failed as error:
        return str(error)


def compare(rows):
    """Returns ratios: requests that the server and perf_analyzer counted, and throughput and p50 latency of tern load and
    perf_analyzer."""
    ratios = {"served": clients.median(rows, "served")}
    for key in ("", "_p50_ms") if "tern_load" in rows[0] else ():
        ratios[f"tern_load{key}"] = statistics.median(row[f"tern_load{key}"] / row[f"perf_analyzer{key}"] for row in rows)
    return ratios


def agrees(mode, rows, ratios):
    """Returns whether all ratios are close to 1 and tern load had no errors. In an open loop, the p50 latency is not considered: that of
    tern load starts when a request is due, that of perf_analyzer when one of its threads sends it."""
    checked = [ratio for key, ratio in ratios.items() if key != "tern_load_p50_ms" or not mode.is_open_loop]
    return all(abs(ratio - 1) <= LIMIT for ratio in checked) and not any(row.get("errors") for row in rows)


def show(mode, rows):
    """Prints one line. Returns whether perf_analyzer completed, and whether the figures agree."""
    print(f"{mode.protocol} {mode.name:26}", end="")
    if isinstance(rows, str):
        print(f"FAILED\n{rows}")
        return False
    if mode.only_profile:
        print(f"completed, {clients.median(rows, 'requests')} requests in the profile")
        return True
    ratios = compare(rows)
    agree = agrees(mode, rows, ratios)
    print(f"perf_analyzer {clients.median(rows, 'perf_analyzer'):8.1f}/s p50 {clients.median(rows, 'perf_analyzer_p50_ms'):6.3f} ms, "
          f"server counted {ratios['served']:.3f}", end="")
    if "tern_load" in ratios:
        print(f"; tern load {clients.median(rows, 'tern_load'):8.1f}/s p50 {clients.median(rows, 'tern_load_p50_ms'):6.3f} ms, "
              f"ratios {ratios['tern_load']:.3f} {ratios['tern_load_p50_ms']:.3f}", end="")
    print("" if agree else "  DIFFERENT")
    return agree


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--delay-ms", type=int, default=2, help="time of one execution; with 0, the clients limit the throughput, so their speeds are compared")
    parser.add_argument("--modes", default="*", help="run only the modes whose protocol and name match this pattern, such as 'http *' (all modes)")
    return options.parsed(parser)


def main():
    args = parse()
    if not args.perf_analyzer:
        sys.exit("perf_analyzer is missing; set --perf-analyzer or PERF_ANALYZER to its path")
    agree, report = [], {}
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = start(stack, args, folder)
        for mode in modes.all_modes(folder, args.concurrency):
            if fnmatch.fnmatch(f"{mode.protocol} {mode.name}", args.modes):
                report[f"{mode.protocol} {mode.name}"] = rows = measure(server, args, mode)
                agree.append(show(mode, rows))
    print(f"{sum(agree)} of {len(agree)} modes agree, load average {processes.load_average():.1f}")
    options.write(args, report)
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
