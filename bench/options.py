"""The common command-line options of compare and growth."""

import argparse
import datetime
import pathlib
import sys

import figures
import machine
import zoo
from engines import DEFAULT_PEERS, PEERS
from measure import Plan

CLOCKS = {"wall": "latency_ms", "processor": "processor_ms"}
TERN = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "bin" / "tern"


def peers_in(text):
    chosen = tuple(text.split(",")) if text != "none" else ()
    unknown = [name for name in chosen if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is not one of {', '.join(PEERS)}")
    return chosen


def positive(text):
    number = int(text)
    if not 1 <= number <= 1024:
        raise argparse.ArgumentTypeError(f"{number} is not between 1 and 1024")
    return number


def parser(summary):
    made = argparse.ArgumentParser(description=summary, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--peers", type=peers_in, help=f"engines to compare with, separated by commas: {', '.join(PEERS)}; with `none`, only Tern is measured")
    made.add_argument("--rounds", type=positive, default=7)
    made.add_argument("--seconds", type=float, default=0.4, help="seconds per engine and round")
    made.add_argument("--clock", default="wall", choices=tuple(CLOCKS),
                      help="`processor` measures processor time; use it for one thread on a shared machine")
    made.add_argument("--quick", action="store_true", help="run {} rounds of {} seconds".format(*figures.QUICK))
    made.add_argument("--tern", type=pathlib.Path, default=TERN, help="the tern binary to measure")
    made.add_argument("--base", type=pathlib.Path, help="another tern binary to measure; it never counts as the best peer")
    made.add_argument("--cache", type=pathlib.Path, default=zoo.default_cache(), help="the zoo's folder (TERN_BENCH_CACHE)")
    made.add_argument("--json", type=pathlib.Path, help="write all measurements to this file")
    made.add_argument("--svg", type=pathlib.Path, help="write a chart to this file")
    made.set_defaults(precision="fp32")
    return made


def finish(chosen):
    """Sets options that depend on other options."""
    if chosen.peers is None:
        chosen.peers = DEFAULT_PEERS[chosen.precision]
    if chosen.quick:
        chosen.rounds, chosen.seconds = figures.QUICK
    if chosen.base:
        chosen.peers = (*chosen.peers, "base")
    for binary in filter(None, (chosen.tern, chosen.base)):
        if not binary.exists():
            sys.exit(f"{binary} does not exist; build it, or name another binary")
    return chosen


def plan(chosen, threads):
    """Returns the settings of a measurement. Uses wall-clock time for several threads, because processor time sums the
    time of all threads, including spinning."""
    clock = CLOCKS[chosen.clock if threads == 1 else "wall"]
    return Plan(chosen.tern, chosen.cache, chosen.peers, threads, chosen.precision, chosen.rounds, chosen.seconds,
                base=chosen.base, clock=clock)


def describe(chosen):
    """Returns the fields at the head of a report."""
    return {"method": figures.METHOD, "machine": machine.describe(chosen.tern), "versions": machine.versions(p for p in chosen.peers if p in PEERS), "precision": chosen.precision,
            "peers": list(chosen.peers), "clock": chosen.clock, "rounds": chosen.rounds, "seconds": chosen.seconds,
            "date": datetime.date.today().isoformat()}
