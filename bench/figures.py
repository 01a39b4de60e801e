"""The arithmetic of the comparison; knows no engine."""

import math
import statistics

import numpy as np

METHOD = 2  # raised with what docs/reports/performance.md says of how figures come about: older ones do not belong there any more
QUICK = (3, 0.15)  # rounds, and seconds of an engine's turn
NOISE = 0.05  # spread beyond which more rounds are run
LASTING = 0.5  # ms of the best peer, from which on a call itself weighs little
COMPUTE_BOUND = 80  # per cent of the multiply-add peak that a model reaches on one thread
EXACT = 5e-3  # error in fp32, of an output's largest magnitude
# In bf16: what rounding weights and inputs does in fp32, three times, for the values between layers are rounded on their way out and in
# as well; and 2^-8 for each of the last few steps, say four, whose rounding no sum evens out. Beyond a half nothing is told.
ROUNDED = (3, 2**-6)
TELLING = 0.5


def worst_error(got, wanted):
    """The largest difference, as a share of the largest wanted magnitude; inf where shapes or NaNs differ."""
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
    """The error up to which results count as right; rounding: what rounding alone does, None in fp32."""
    return EXACT if rounding is None else ROUNDED[0] * rounding + ROUNDED[1]


def judged(error, rounding):
    """Status and reason of results with that error."""
    if rounding is not None and bound(rounding) > TELLING and math.isfinite(error):
        return "untold", f"rounding weights and inputs alone changes the outputs by {rounding:.2g} of the largest: right cannot be told from wrong"
    if error <= bound(rounding):
        return "ok", ""
    first = "the first engine" if rounding is None else "the first engine in fp32"
    return "wrong", f"differs from {first} by {error:.2g} of its largest output, where {bound(rounding):.2g} is right"


def timing(rounds):
    """Of latencies per round: the best, the median, and how far the rounds' bests lie above the best of all."""
    bests = [min(latencies) for latencies in rounds]
    best = min(bests)
    return {"ms": best, "median_ms": statistics.median(x for latencies in rounds for x in latencies),
            "spread": statistics.median(bests) / best - 1, "runs": sum(map(len, rounds))}


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def ok(result):
    return result is not None and result["status"] == "ok"


def start_ms(result):
    """From the file to the first result: engines differ in what they leave to the first run. None without times."""
    return result["load_ms"] + result["first_run_ms"] if "load_ms" in result else None


def ratio(results, peer):
    """Peer's time over Tern's: above 1, Tern is faster. None where either has no time."""
    if not ok(results.get("tern")) or not ok(results.get(peer)):
        return None
    return results[peer]["ms"] / results["tern"]["ms"]


def best_peer(results):
    """The fastest peer that is right; None without any."""
    peers = {name: r["ms"] for name, r in results.items() if name not in ("tern", "base", "single") and ok(r)}
    return min(peers, key=peers.get) if peers else None


def spread(results):
    """The larger of Tern's (on one thread too, beside several) and the best peer's: how far a ratio may be off. None without Tern."""
    counted = [results.get(name) for name in ("tern", "single", best_peer(results))]
    return max(r["spread"] for r in counted if ok(r)) if ok(results.get("tern")) else None


def summary(rows, peers):
    """Geomeans over the rows (each with 'engines') of Tern against each peer and against the best one per row."""
    against = {peer: [r for r in (ratio(row["engines"], peer) for row in rows) if r] for peer in peers}
    best = [r for r in (ratio(row["engines"], best_peer(row["engines"])) for row in rows) if r]
    return {"models": len(rows), "compared": len(best), "best": geomean(best), "worst_model": min(best, default=math.nan),
            "peers": {peer: geomean(values) for peer, values in against.items()}}


def lasting(rows):
    """Those whose best peer takes long enough that what its call from Python costs does not decide."""
    return [row for row in rows if (best := best_peer(row["engines"])) and row["engines"][best]["ms"] >= LASTING]


def percent_of_peak(flops, ms, peak_gflops, threads):
    return 100 * flops / (ms * 1e6) / (peak_gflops * threads)


def over_single(row):
    """How many times as fast several threads of Tern are as one, in the same rounds, and what a loop of multiply-adds
    gains from them; None where it was not measured."""
    several, single = row["engines"].get("tern"), row.get("single")
    gain = single["ms"] / several["ms"] if ok(several) and ok(single) else None
    one, many = row.get("peak_gflops"), row.get("peak_gflops_threads")
    return gain, many / one if one and many and row["threads"] > 1 else None


def reads_over_single(row):
    """What a loop that only reads memory gains from these threads; None where it was not measured."""
    one, many = row.get("read_gb_per_s"), row.get("read_gb_per_s_threads")
    return many / one if one and many and row["threads"] > 1 else None


def permitted(row):
    """What the machine permits: the steps of one thread that wait for memory gain what reading gains, all others what
    multiply-adds do. None where these were not measured."""
    (_, loop), reads, waits = over_single(row), reads_over_single(row), row.get("waiting")
    return 1 / (waits / reads + (1 - waits) / loop) if loop and reads and waits is not None else None


def compute_bound(row, alone=None):
    """Whether one thread comes near the multiply-add peak, beside several (of rows with a single) or in a row of its own, `alone`."""
    tries = [(row, row.get("single")), *([(alone, alone["engines"].get("tern"))] if alone else [])]
    return any(ok(one) and r.get("flops") and r.get("peak_gflops") and
               percent_of_peak(r["flops"], one["ms"], r["peak_gflops"], 1) >= COMPUTE_BOUND for r, one in tries)


def beyond_cores(axis, size, cores):
    """Whether a point of a series asks for more threads than there are cores (0: unknown), which is how many Tern then uses."""
    return axis == "threads" and 0 < cores < size


def step(point, before, engine, axis):
    """How much longer one item takes than at the size before; for threads, time itself. None without both times."""
    if before is None or not ok(point["engines"].get(engine)) or not ok(before["engines"].get(engine)):
        return None
    growth = point["engines"][engine]["ms"] / before["engines"][engine]["ms"]
    return growth if axis == "threads" else growth * before["size"] / point["size"]


def cliffs(points, peers, axis, limit=1.25):
    """Sizes where an item's time grows by more than any peer's does, and by more than noise explains."""
    found = []
    for before, point in zip(points, points[1:]):
        ours = step(point, before, "tern", axis)
        theirs = [s for s in (step(point, before, peer, axis) for peer in peers) if s]
        if ours and theirs and ours > limit * max(*theirs, 0.8):
            found.append(point["size"])
    return found
