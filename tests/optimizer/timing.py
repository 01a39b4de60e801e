#!/usr/bin/env python3
"""Times every model in Tern before and after optimization. No model may become slower, and the sum of all times may not
grow.

`tern optimize --measure` runs the original and the optimised model alternately, in one process with one thread. The
best run of each counts. A model that seems slower is measured again and longer, up to --rounds times, because other
programs on the machine can only increase a time. The exit status is 1 if a model is slower by more than --noise, or if
the sum grows. The last line is `N passed, N failed, N skipped`.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import data
from child import Failure, one_line
from tern import Tern, save_inputs, shape_options


GRAIN = 0.001  # differences of at most this many milliseconds are ignored, because clock and caches cause them


def is_slower(before, after, noise):
    return after > before * (1 + noise) + GRAIN


def in_one_process(tern, model, feeds, seconds, level):
    report = tern.report(model.path, "--measure", "--seconds", seconds, *shape_options(feeds), level=level)
    return report["measured_ms_before"], report["measured_ms_after"]


def with_inputs(tern, model, feeds, seconds, level):
    """Measures a model that does not accept random inputs, with the inputs `feeds`."""
    with tempfile.TemporaryDirectory() as folder:
        optimised = Path(folder) / "optimised.tern"
        tern.optimise(model.path, optimised, level)
        how = save_inputs(feeds, Path(folder) / "inputs") + shape_options(feeds)
        times = tern.times(model.path, optimised, how, 1, seconds / 2)
        return times.original, times.optimised


def measure(tern, model, options):
    """Returns the times of the best run before and of the best run after optimization, in milliseconds."""
    feeds = data.feeds(model)[0]
    before = after = float("inf")
    for turn in range(options.rounds):
        seconds = options.seconds * (1 + 3 * turn)
        try:
            times = in_one_process(tern, model, feeds, seconds, options.level)
        except Failure:
            times = with_inputs(tern, model, feeds, seconds, options.level)
        before, after = min(before, times[0]), min(after, times[1])
        if not is_slower(before, after, options.noise):
            break
    return before, after


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.declare(parser)
    parser.add_argument("--level", default="extended", choices=("basic", "extended", "layout"))
    parser.add_argument("--seconds", type=float, default=0.4, help="seconds for one measurement of both models")
    parser.add_argument("--rounds", type=int, default=5, help="maximum number of measurements of a model that seems slower")
    parser.add_argument("--noise", type=float, default=0.05, help="an optimised model may be slower by this fraction of the original's time")
    parser.add_argument("--limit", type=int, default=120, help="time limit of one call of tern, in seconds")
    parser.add_argument("--json", type=Path, help="write the measured times to this file")
    return parser.parse_args()


def main():
    options = parse()
    models = data.chosen(options)
    tern = Tern(options.tern, options.limit)
    times, slower, failed = {}, 0, 0
    for model in models:
        if model.invalid:
            continue
        try:
            before, after = times[model.name] = measure(tern, model, options)
        except Failure as failure:
            failed += 1
            print(f"FAIL {model.name}: {one_line(failure, 400)}", flush=True)
            continue
        if is_slower(before, after, options.noise):
            slower += 1
            print(f"FAIL {model.name}: {before:.4f} ms before, {after:.4f} ms after, {after / before:.2f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(times, indent=1) + "\n")
    whole = [sum(t[side] for t in times.values()) for side in (0, 1)]
    ratios = sorted(after / before for before, after in times.values())
    if ratios:
        print(f"all together: {whole[0]:.1f} ms before, {whole[1]:.1f} ms after; "
              f"median {ratios[len(ratios) // 2]:.2f} of the time, best {ratios[0]:.2f}, worst {ratios[-1]:.2f}")
    print(f"{len(times) - slower} passed, {slower + failed} failed, {len(models) - len(times) - failed} skipped")
    return int(slower + failed > 0 or whole[1] > whole[0])


if __name__ == "__main__":
    sys.exit(main())
