"""The arithmetic of the comparison, independent of engines."""

import math
import statistics

import numpy as np

METHOD = 2  # version of the method that docs/reports/performance.md describes: figures of older versions are not comparable
QUICK = (3, 0.15)  # rounds, and seconds per engine and round
NOISE = 0.05  # spread beyond which more rounds are run
LASTING = 0.5  # ms of the best peer above which call overhead is negligible
COMPUTE_BOUND = 80  # percent of the multiply-add peak on one thread above which a model is compute-bound
EXACT = 5e-3  # error in fp32, relative to an output's largest magnitude
# In bf16: three times the effect of rounding weights and inputs in fp32, because values between layers are rounded too, plus 2^-8
# for each of the last four steps, whose rounding no sum averages out. Errors above 0.5 are inconclusive.
ROUNDED = (3, 2**-6)
TELLING = 0.5


def worst_error(got, wanted):
    """The largest difference relative to the largest expected magnitude; inf if shapes or NaNs differ."""
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
    """The tolerance of results; rounding: the effect of rounding alone, None in fp32."""
    return EXACT if rounding is None else ROUNDED[0] * rounding + ROUNDED[1]


def judged(error, rounding):
    """Status and reason for results with that error."""
    if rounding is not None and bound(rounding) > TELLING and math.isfinite(error):
        return "untold", f"rounding weights and inputs alone changes the outputs by {rounding:.2g} of the largest: right cannot be told from wrong"
    if error <= bound(rounding):
        return "ok", ""
    first = "the first engine" if rounding is None else "the first engine in fp32"
    return "wrong", f"differs from {first} by {error:.2g} of its largest output, where {bound(rounding):.2g} is right"


def timing(rounds):
    """Of latencies per round: the best, the median, and the spread of the rounds' bests above the overall best.

    The processor's clock may count nothing for a run of a microsecond; then the spread is 0 too."""
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
    """Time from the file to the first result, because engines defer different work to the first run. None without times."""
    return result["load_ms"] + result["first_run_ms"] if "load_ms" in result else None


def ratio(results, peer):
    """Peer's time over Tern's: above 1, Tern is faster. None if either has no time."""
    if not ok(results.get("tern")) or not ok(results.get(peer)):
        return None
    return results[peer]["ms"] / results["tern"]["ms"]


def best_peer(results):
    """The fastest peer with correct results; None without any."""
    peers = {name: r["ms"] for name, r in results.items() if name not in ("tern", "base", "single") and ok(r)}
    return min(peers, key=peers.get) if peers else None


def spread(results):
    """The larger spread of Tern (also on one thread) and the best peer: the uncertainty of a ratio. None without Tern."""
    counted = [results.get(name) for name in ("tern", "single", best_peer(results))]
    return max(r["spread"] for r in counted if ok(r)) if ok(results.get("tern")) else None


def summary(rows, peers):
    """Geomeans over the rows (each with 'engines') of Tern against each peer and against the best one per row."""
    against = {peer: [r for r in (ratio(row["engines"], peer) for row in rows) if r] for peer in peers}
    best = [r for r in (ratio(row["engines"], best_peer(row["engines"])) for row in rows) if r]
    return {"models": len(rows), "compared": len(best), "best": geomean(best), "worst_model": min(best, default=math.nan),
            "peers": {peer: geomean(values) for peer, values in against.items()}}


def lasting(rows):
    """The rows whose best peer takes long enough for its call overhead from Python to be negligible."""
    return [row for row in rows if (best := best_peer(row["engines"])) and row["engines"][best]["ms"] >= LASTING]


def percent_of_peak(flops, ms, peak_gflops, threads):
    return 100 * flops / (ms * 1e6) / (peak_gflops * threads)


def over_single(row):
    """Tern's speedup of several threads over one, in the same rounds, and that of a loop of multiply-adds; None if not measured."""
    several, single = row["engines"].get("tern"), row.get("single")
    gain = single["ms"] / several["ms"] if ok(several) and ok(single) else None
    one, many = row.get("peak_gflops"), row.get("peak_gflops_threads")
    return gain, many / one if one and many and row["threads"] > 1 else None


def reads_over_single(row):
    """The speedup of a loop that only reads memory; None if not measured."""
    one, many = row.get("read_gb_per_s"), row.get("read_gb_per_s_threads")
    return many / one if one and many and row["threads"] > 1 else None


def permitted(row):
    """The speedup that the machine permits: memory-bound steps scale like reading, all others like multiply-adds. None if these
    were not measured."""
    (_, loop), reads, waits = over_single(row), reads_over_single(row), row.get("waiting")
    return 1 / (waits / reads + (1 - waits) / loop) if loop and reads and waits is not None else None


def compute_bound(row, alone=None):
    """Whether one thread comes near the multiply-add peak: measured beside several threads, or in the separate row `alone`."""
    tries = [(row, row.get("single")), *([(alone, alone["engines"].get("tern"))] if alone else [])]
    return any(ok(one) and r.get("flops") and r.get("peak_gflops") and
               percent_of_peak(r["flops"], one["ms"], r["peak_gflops"], 1) >= COMPUTE_BOUND for r, one in tries)


def beyond_cores(axis, size, cores):
    """Whether a point of a series has more threads than there are cores (0: unknown); Tern then uses one per core."""
    return axis == "threads" and 0 < cores < size


def step(point, before, engine, axis):
    """The time per item relative to the previous size; for threads, relative time. None without both times."""
    if before is None or not ok(point["engines"].get(engine)) or not ok(before["engines"].get(engine)):
        return None
    growth = point["engines"][engine]["ms"] / before["engines"][engine]["ms"]
    return growth if axis == "threads" else growth * before["size"] / point["size"]


def cliffs(points, peers, axis, limit=1.25):
    """Sizes where the time per item grows more than any peer's, and more than noise."""
    found = []
    for before, point in zip(points, points[1:]):
        ours = step(point, before, "tern", axis)
        theirs = [s for s in (step(point, before, peer, axis) for peer in peers) if s]
        if ours and theirs and ours > limit * max(*theirs, 0.8):
            found.append(point["size"])
    return found
