"""Computes ratios, means, tolerances and speedups from measured times."""

import math
import statistics

import numpy as np

METHOD = 2  # version of the method in docs/reports/performance.md; figures of different versions are not comparable
QUICK = (3, 0.15)  # rounds, and seconds per engine and round
NOISE = 0.05  # if the spread is larger, the rounds are repeated
LASTING = 0.5  # ms; if the best peer takes at least this long, the overhead of its call is negligible
COMPUTE_BOUND = 80  # a model is compute-bound if it reaches this percentage of the multiply-add peak on one thread
EXACT = 5e-3  # tolerance in fp32, relative to an output's largest magnitude
# The tolerance in bf16 is ROUNDED[0] * e + ROUNDED[1]. Here e is the error of an fp32 engine if only weights and inputs are
# rounded to bf16. The factor is 3, because a bf16 engine also rounds the values between layers. The summand is 2^-8 for
# each of the last four operations, because no later sum averages out their rounding errors.
ROUNDED = (3, 2**-6)
TELLING = 0.5  # if the tolerance is larger, a comparison is inconclusive


def worst_error(got, wanted):
    """Returns the largest difference, relative to the largest expected magnitude. Returns inf if shapes, NaNs or
    infinities differ."""
    worst = 0.0
    for a, b in zip(got, wanted, strict=True):
        if a.shape != b.shape:
            return math.inf
        a, b = (np.asarray(x, dtype=np.float64).reshape(-1) for x in (a, b))
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
            return math.inf
        scale = np.abs(b[finite]).max(initial=0) or 1.0
        worst = max(worst, float(np.abs(a[finite] - b[finite]).max(initial=0) / scale))
    return worst


def bound(rounding):
    """Returns the tolerance of outputs. `rounding` is the error e (see ROUNDED), or None in fp32."""
    return EXACT if rounding is None else ROUNDED[0] * rounding + ROUNDED[1]


def judged(error, rounding):
    """Returns the status of an engine whose outputs have this error, and the reason."""
    if rounding is not None and bound(rounding) > TELLING and math.isfinite(error):
        return "inconclusive", (f"rounding weights and inputs alone changes the outputs by {rounding:.2g} of the largest, so the comparison cannot "
                          "tell right outputs from wrong ones")
    if error <= bound(rounding):
        return "ok", ""
    first = "the first engine" if rounding is None else "the first engine in fp32"
    return "wrong", f"differs from {first} by {error:.2g} of its largest output; at most {bound(rounding):.2g} is accepted"


def timing(rounds):
    """Returns the best and the median latency. `rounds` contains a list of latencies for each round.

    `spread` is m / b - 1. Here b is the best latency of all rounds, and m is the median of the best latencies of each
    round. If b is 0, the spread is 0. This happens because the clock of processor time may return 0 for a run of a
    microsecond."""
    bests = [min(latencies) for latencies in rounds]
    best = min(bests)
    return {"ms": best, "median_ms": statistics.median(x for latencies in rounds for x in latencies),
            "spread": statistics.median(bests) / best - 1 if best else 0.0, "runs": sum(map(len, rounds))}


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def ok(result):
    return result is not None and result["status"] == "ok"


def start_ms(result):
    """Returns the time from opening the file to the first result, because some engines defer work from loading to the
    first run. Returns None if the times are unknown."""
    return result["load_ms"] + result["first_run_ms"] if "load_ms" in result else None


def ratio(results, peer):
    """Returns the peer's time divided by Tern's time, which is above 1 if Tern is faster. Returns None if the peer or
    Tern has no time."""
    if not ok(results.get("tern")) or not ok(results.get(peer)):
        return None
    return results[peer]["ms"] / results["tern"]["ms"]


def best_peer(results):
    """Returns the fastest peer with correct results, or None if there is no such peer."""
    peers = {name: r["ms"] for name, r in results.items() if name not in ("tern", "base", "single") and ok(r)}
    return min(peers, key=peers.get) if peers else None


def spread(results):
    """Returns the largest spread of Tern, Tern on one thread, and the best peer. It is the uncertainty of a ratio. Returns
    None if Tern has no time."""
    counted = [results.get(name) for name in ("tern", "single", best_peer(results))]
    return max(r["spread"] for r in counted if ok(r)) if ok(results.get("tern")) else None


def summary(rows, peers):
    """Returns geometric means of ratios over all rows. There is one mean for each peer, and one for the best peer of each
    row."""
    against = {peer: [r for r in (ratio(row["engines"], peer) for row in rows) if r] for peer in peers}
    best = [r for r in (ratio(row["engines"], best_peer(row["engines"])) for row in rows) if r]
    return {"models": len(rows), "compared": len(best), "best": geomean(best), "worst_model": min(best, default=math.nan),
            "peers": {peer: geomean(values) for peer, values in against.items()}}


def lasting(rows):
    """Returns the rows whose best peer takes at least LASTING ms."""
    return [row for row in rows if (best := best_peer(row["engines"])) and row["engines"][best]["ms"] >= LASTING]


def percent_of_peak(flops, ms, peak_gflops, threads):
    return 100 * flops / (ms * 1e6) / (peak_gflops * threads)


def over_single(row):
    """Returns two speedups of several threads relative to one thread. The first is the speedup of Tern, whose two times
    were measured in the same rounds. The second is the speedup of a loop of multiply-adds. A speedup is None if it was not
    measured."""
    several, single = row["engines"].get("tern"), row.get("single")
    gain = single["ms"] / several["ms"] if ok(several) and ok(single) else None
    one, many = row.get("peak_gflops"), row.get("peak_gflops_threads")
    return gain, many / one if one and many and row["threads"] > 1 else None


def reads_over_single(row):
    """Returns the speedup of several threads relative to one thread for a loop that only reads memory, or None if it
    was not measured."""
    one, many = row.get("read_gb_per_s"), row.get("read_gb_per_s_threads")
    return many / one if one and many and row["threads"] > 1 else None


def permitted(row):
    """Returns the largest speedup that the machine permits. It assumes that memory-bound steps scale like the loop that
    reads memory, and that all other steps scale like the loop of multiply-adds. Returns None if the loops were not
    measured."""
    (_, loop), reads, waits = over_single(row), reads_over_single(row), row.get("waiting")
    return 1 / (waits / reads + (1 - waits) / loop) if loop and reads and waits is not None else None


def compute_bound(row, alone=None):
    """Returns whether Tern on one thread reaches COMPUTE_BOUND percent of the multiply-add peak. The time on one thread is in
    row["single"]. `alone` may be the row of a separate measurement with one thread. It is enough that one of the two times
    reaches this percentage."""
    tries = [(row, row.get("single")), *([(alone, alone["engines"].get("tern"))] if alone else [])]
    return any(ok(one) and r.get("flops") and r.get("peak_gflops") and
               percent_of_peak(r["flops"], one["ms"], r["peak_gflops"], 1) >= COMPUTE_BOUND for r, one in tries)


def beyond_cores(axis, size, cores):
    """Returns whether a point of a series has more threads than the machine has cores. Then Tern uses one thread per core.
    `cores` is 0 if unknown."""
    return axis == "threads" and 0 < cores < size


def step(point, before, engine, axis):
    """Returns the time per item at `point`, divided by the time per item at the previous point `before`. If the axis is the
    number of threads, divides the entire times. Returns None if a time is missing."""
    if before is None or not ok(point["engines"].get(engine)) or not ok(before["engines"].get(engine)):
        return None
    growth = point["engines"][engine]["ms"] / before["engines"][engine]["ms"]
    return growth if axis == "threads" else growth * before["size"] / point["size"]


def cliffs(points, peers, axis, limit=1.25):
    """Returns the sizes at which Tern's step() is more than `limit` times the step() of every peer. A step of a peer below
    0.8 counts as 0.8."""
    found = []
    for before, point in zip(points, points[1:]):
        ours = step(point, before, "tern", axis)
        theirs = [s for s in (step(point, before, peer, axis) for peer in peers) if s]
        if ours and theirs and ours > limit * max(*theirs, 0.8):
            found.append(point["size"])
    return found
