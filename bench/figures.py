"""The arithmetic of the comparison; knows no engine."""

import math
import statistics

import numpy as np

TOLERANCE = {"fp32": 5e-3, "bf16": 0.15}  # of an output's largest magnitude


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


def ratio(results, peer):
    """Peer's time over Tern's: above 1, Tern is faster. None where either has no time."""
    if not ok(results.get("tern")) or not ok(results.get(peer)):
        return None
    return results[peer]["ms"] / results["tern"]["ms"]


def best_peer(results):
    """The fastest peer that is right; None without any."""
    peers = {name: r["ms"] for name, r in results.items() if name != "tern" and ok(r)}
    return min(peers, key=peers.get) if peers else None


def summary(rows, peers):
    """Geomeans over the rows (each with 'engines') of Tern against each peer and against the best one per row."""
    against = {peer: [r for r in (ratio(row["engines"], peer) for row in rows) if r] for peer in peers}
    best = [r for r in (ratio(row["engines"], best_peer(row["engines"])) for row in rows) if r]
    return {"models": len(rows), "compared": len(best), "best": geomean(best), "worst_model": min(best, default=math.nan),
            "peers": {peer: geomean(values) for peer, values in against.items()}}


def percent_of_peak(flops, ms, peak_gflops, threads):
    return 100 * flops / (ms * 1e6) / (peak_gflops * threads)
