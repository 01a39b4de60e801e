"""Measures several engines on one model. Each round runs all engines, so that noise affects all of them."""

import contextlib
import dataclasses
import pathlib
import tempfile
import time

import numpy as np

import feeds
import figures
import machine
import rounding
from process import Engine, Failure

SINGLE = "single"  # Tern on one thread, measured in the same rounds as Tern on several threads
MORE_GOES = 2  # the rounds are repeated at most this many times
REST = 0.05  # seconds to wait after each engine if there are several threads, so that these threads stop spinning


@dataclasses.dataclass
class Plan:
    """The settings of a measurement."""
    tern: pathlib.Path
    cache: pathlib.Path
    peers: tuple
    threads: int
    precision: str = "fp32"
    rounds: int = 7
    seconds: float = 0.4  # seconds per engine and round
    runs: int = 2000  # maximum number of runs per engine and round
    base: pathlib.Path | None = None  # another tern binary, measured as the peer "base"
    clock: str = "latency_ms"  # or "processor_ms", which other programs on the machine affect less
    single: bool = False  # also measures Tern on one thread, as a separate engine


def outputs_of(folder, entry):
    return [np.load(folder / f"{feeds.file_name(name)}.npy") for name in entry["outputs"]]


def start(name, job, place, plan):
    if name == SINGLE:
        job = {**job, "threads": 1}
    return Engine(name, job, place, {"tern": plan.tern, SINGLE: plan.tern, **({"base": plan.base} if plan.base else {})})


def admit(name, job, folder, plan, entry, reference, rounded=None):
    """Starts an engine and compares its outputs with `reference`. If `reference` is None, the caller uses this engine's
    outputs as the reference. `rounded` is the error of rounding only weights and inputs to bf16, or None in fp32.
    Returns the engine and the findings. The engine is None if it is excluded."""
    try:
        engine = start(name, job, folder / name, plan)
    except Failure as failure:
        return None, {"status": "failed", "reason": str(failure)}
    got = outputs_of(folder / name, entry)
    error = figures.worst_error(got, reference or got)
    status, reason = figures.judged(error, rounded)
    found = {"status": status, "error": error, "bound": figures.bound(rounded), "load_ms": engine.ready["load_ms"],
             "first_run_ms": engine.ready["first_run_ms"]}
    if status == "ok":
        return engine, {**found, "outputs": got}
    engine.close()
    return None, {**found, "reason": reason}


def exact(job, name, folder, plan, entry):
    """Returns the fp32 outputs of the first engine that runs the model. Also returns the error of this engine if only weights
    and inputs are rounded to bf16. The fp32 outputs are the reference for bf16, because two bf16 engines differ more from
    each other than from fp32. Returns None, None if no engine runs the model."""
    def outputs(engine, job, place):
        start(engine, {**job, "precision": "fp32"}, folder / place, plan).close()
        return outputs_of(folder / place, entry)

    for engine in (*(peer for peer in plan.peers if peer != "torch"), "tern"):  # torch is not used, because it does not read the ONNX file whose weights are rounded
        try:
            wanted = outputs(engine, job, f"exact-{engine}")
            return wanted, rounding.error_of(job, name, machine.name_of(engine, plan.tern), plan.cache,
                                             lambda job: figures.worst_error(outputs(engine, job, f"rounded-{engine}"), wanted))
        except Failure:
            continue
    return None, None


def take_turns(engines, plan, results, between):
    """Runs the rounds of all engines. Repeats the rounds at most MORE_GOES times while the spread is too large."""
    times = {name: [] for name in engines}
    play_round(engines, plan, results)  # a warm-up, which does not count
    between()
    for _ in range(1 + MORE_GOES):
        for _ in range(plan.rounds):
            for name, latencies in play_round(engines, plan, results).items():
                times[name].append(latencies)
            between()
        for name in engines:
            results[name].update(figures.timing(times[name]), rounds=len(times[name]))
        if (figures.spread(results) or 0) <= figures.NOISE:
            return


def play_round(engines, plan, results):
    """Runs each engine once and returns its latencies. Closes and removes an engine that fails."""
    times = {}
    for name in list(engines):
        try:
            answer = engines[name].round(plan.runs, plan.seconds)
        except Failure as failure:
            results[name] = {"status": "failed", "reason": str(failure)}
            engines.pop(name).close()
            continue
        results[name]["peak_mb"] = answer["peak_rss_mb"] - engines[name].ready.get("before_rss_mb", 0)
        times[name] = answer[plan.clock]
        if plan.threads > 1:
            time.sleep(REST)
    return times


def start_again(engines, job, folder, plan, results):
    """Starts each engine a second time and stores the better of its two start times. The order of the engines is reversed,
    because during the first starts the earlier engines occupied memory."""
    for name in reversed([n for n in engines if n != SINGLE]):
        try:
            again = start(name, job, folder / f"again-{name}", plan)
        except Failure as failure:
            results[name]["second_start"] = f"failed: {failure}"  # the first measurement stays valid
            continue
        again.close()
        for key in ("load_ms", "first_run_ms"):
            results[name][key] = min(results[name][key], again.ready[key])


def measure(entry, plan, name="", sizes=None, between=lambda: None):
    """Returns the findings by engine. Their 'status' is ok, wrong, inconclusive (the comparison of outputs proves nothing)
    or failed."""
    results = {}
    with tempfile.TemporaryDirectory(prefix="bench") as folder, contextlib.ExitStack() as stack:
        folder = pathlib.Path(folder)
        inputs = folder / "inputs.npz"
        feeds.store(inputs, feeds.make_all(entry, sizes))
        job = {"model": str((plan.cache / entry["file"]).resolve()), "threads": plan.threads, "precision": plan.precision,
               "cache": str(plan.cache.resolve()), "inputs_file": str(inputs), "outputs": entry["outputs"], "network": name}
        engines, reference, rounded = {}, None, None
        if plan.precision != "fp32":
            reference, rounded = exact(job, name, folder, plan, entry)
        for engine in (*plan.peers, "tern", *([SINGLE] if plan.single else [])):
            started, results[engine] = admit(engine, job, folder, plan, entry, reference, rounded)
            outputs = results[engine].pop("outputs", None)
            if started:
                stack.callback(started.close)
                engines[engine] = started
                reference = reference or outputs
        take_turns(engines, plan, results, between)
        stack.close()
        start_again(engines, job, folder, plan, results)
    return results
