"""Runs load generators. Each function returns requests/s, p50 and p99 in ms, and the number of errors."""

import csv
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

import wire


class Failed(SystemExit):
    """A load generator failed. The message contains its command and its output."""


def _output(command, **options):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300, **options)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(map(str, command))}\ndid not end within {error.timeout} s") from error
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\nfailed: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def wrk(server, model, tensor, seconds, connections=16, threads=2):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "request.lua"
        script.write_text(wire.lua_script(model, tensor))
        out = _output(["wrk", "-t", min(threads, connections), "-c", connections, "-d", f"{seconds}s", "--latency", "-s", script,
                       f"http://{server.http}/"])
    found = json.loads(out.splitlines()[-1])
    return {"throughput": found["requests"] / found["seconds"], **{key: found[key] for key in ("requests", "errors", "p50_ms", "p99_ms")}}


def _percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))] if values else float("nan")


def h2load(server, model, tensor, seconds, connections=16, threads=2):
    with tempfile.TemporaryDirectory() as folder:
        body, log = pathlib.Path(folder) / "frame", pathlib.Path(folder) / "log"
        body.write_bytes(wire.grpc_frame(model, tensor))
        out = _output(["h2load", "-D", seconds, "-c", connections, "-m", 1, "-t", threads, "-d", body, "-H",
                       "content-type: application/grpc", "-H", "te: trailers", "--log-file", log,
                       f"http://{server.grpc}/inference.GRPCInferenceService/ModelInfer"])
        rows = [line.split("\t") for line in log.read_text().splitlines()]
    times = [int(row[2]) / 1e3 for row in rows if row[1] == "200"]
    failed = int(re.search(r"(\d+) failed", out)[1]) + int(re.search(r"(\d+) errored", out)[1])
    return {"throughput": len(times) / seconds, "requests": len(times), "errors": failed,
            "p50_ms": _percentile(times, 50), "p99_ms": _percentile(times, 99)}


def run_perf_analyzer(program, server, model, protocol, seconds, *options):
    """Measures three windows, each a third of `seconds`, and returns the output. perf_analyzer accepts any difference between the
    windows."""
    return _output([program, "-m", model, "-u", getattr(server, protocol), "-i", protocol, "-p", round(seconds * 1000 / 3), "-r", 3, "-s", 99999,
                    *options])


def perf_analyzer(*args):
    """Calls run_perf_analyzer. `served` is the number of requests in the server's statistics, which perf_analyzer reads."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "out.csv"
        out = run_perf_analyzer(*args, "-f", table)
        row = next(csv.DictReader(table.open()))
    requests, served = (int(re.search(rf"{name} count: (\d+)", out)[1]) for name in ("Request", "Inference"))
    return {"throughput": float(row["Inferences/Second"]), "requests": requests, "served": served, "errors": 0,
            "p50_ms": float(row["p50 latency"]) / 1e3, "p99_ms": float(row["p99 latency"]) / 1e3}


def perf_analyzer_profile(*args):
    """Calls run_perf_analyzer. Returns the number of requests in the profile that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "profile.json"  # perf_analyzer refuses an existing file
        run_perf_analyzer(*args, "--profile-export-file", profile)
        return sum(len(each["requests"]) for each in json.loads(profile.read_text())["experiments"])


def tern_load(tern, address, model, *options, seconds=3, protocol="http", warmup=0.3):
    """Returns the JSON that `tern load --json` prints."""
    return json.loads(_output([tern, "load", address, model, "--protocol", protocol, "--seconds", seconds, "--warmup", warmup, "--json",
                               *options]))


def median(rounds, key):
    return statistics.median(each[key] for each in rounds)


def median_ratio(ours, theirs, key="throughput"):
    """Returns the median over the rounds of the ratio in each round. Both runs of a ratio are only seconds apart, so noise affects
    both."""
    return statistics.median(mine[key] / other[key] for mine, other in zip(ours, theirs))
