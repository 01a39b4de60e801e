"""Measures how long `tern serve` needs to roll a bad version back, and to promote a good one.

Two open loops of `tern load` send requests: 150 per second without a version and 50 per second with the label
`stable`. Then a version appears that does something wrong (tests/server/backends/release.cc). The time to the decision is read from
the server's API every 50 ms; it begins when the version is the candidate. The rollout has the defaults of `tern_rollout`."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import urllib.request

import servers

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = "delay_us 2000\n"  # every version takes 2 ms
CASES = {  # name: (behaviour, what must happen)
    "2 % wrong outputs": (BASE + "wrong_rate 0.02\n", "rollback"),
    "30 % slower": ("delay_us 2600\n", "rollback"),
    "fails on 1 of 500": (BASE + "fail_every 500\n", "rollback"),
    "crashes on 1 of 500": (BASE + "crash_every 500\n", "rollback"),
    "fails on every request": (BASE + "fail_every 1\n", "rollback"),
    "good": (BASE, "promote"),
}
ISOLATED = "crashes on 1 of 500"  # its versions run in processes of their own, of which the candidate's dies by a signal
CONFIG = """backend: "release"
parameters { key: "tern_rollout" value { string_value: '%s' } }
"""


def add_version(folder, number, behaviour):
    hidden = folder / f".{number}"
    hidden.mkdir()
    (hidden / "behaviour.txt").write_text(behaviour)
    hidden.rename(folder / str(number))


def state(server):
    with urllib.request.urlopen(f"http://{server.http}/v2/repository/models/m/rollout", timeout=10) as answer:
        return json.load(answer)


def load(args, server, rate, seconds, *more):
    command = [args.tern, "load", server.http, "m", "--rate", rate, "--seconds", seconds, "--shape", "INPUT0=16", "--connections", 8, "--json", *more]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, error = process.communicate()
    if process.returncode:
        raise SystemExit(f"tern load failed: {error}")
    return json.loads(out)


def start(args, folder, isolated):
    model = folder / "models" / "m"
    model.mkdir(parents=True)
    isolation = "parameters { key: 'isolation' value { string_value: 'process' } }\n" if isolated else ""
    (model / "config.pbtxt").write_text(CONFIG % json.dumps(args.policy) + isolation)
    add_version(model, 1, BASE)
    ready = folder / "ready.json"
    command = [args.tern, "serve", "--repository", folder / "models", "--model-control", "poll", "--poll-secs", 1, "--address", "127.0.0.1", "--http-port", 0,
               "--grpc-port", 0, "--metrics-port", 0, "--backend-folder", args.backends, "--ready-file", ready]
    server = servers.Server("tern", command, folder)
    server.wait(ready.exists)
    server.http = f"127.0.0.1:{json.loads(ready.read_text())['http']}"
    return server


def wait_for_end(server, seconds):
    """Returns the last change, the seconds from the start of the rollout until then, and the last state of the tests."""
    end, began, last = time.monotonic() + seconds, None, {}
    while time.monotonic() < end:
        now = state(server)
        if now["rollout"]:
            began = began or time.monotonic()
            last = now["rollout"]
        elif began:
            return now["history"][-1], time.monotonic() - began, last
        time.sleep(0.05)
    return {"change": "none", "reason": "undecided"}, seconds, last


def measure(args, name, seed):
    behaviour, expected = CASES[name]
    with tempfile.TemporaryDirectory(prefix="tern_rollout_") as folder:
        folder = pathlib.Path(folder)
        server = start(args, folder, name == ISOLATED)
        try:
            limit = args.limit if expected == "rollback" else 2 * args.limit
            alone = [finish(process) for process in [load(args, server, 150, 5), load(args, server, 50, 5, "--version", "stable")]]
            loads = [load(args, server, 150, limit + 10), load(args, server, 50, limit + 10, "--version", "stable")]
            time.sleep(2)
            add_version(folder / "models" / "m", 2, f"{behaviour}seed {seed}\n")
            change, seconds, last = wait_for_end(server, limit)
            time.sleep(0.5)
            for process in loads:
                process.send_signal(2)  # it prints what it has measured so far
            free, stable = map(finish, loads)
            server.check()
        finally:
            server.stop()
    return {"case": name, "expected": expected, "change": change["change"], "seconds": seconds, "reason": change["reason"],
            "copies": last.get("requests", {}).get("copies", 0), "errors": free["errors"], "stable_errors": stable["errors"],
            "rate": free["throughput"] + stable["throughput"],
            **{f"{when}_{p}_ms": found["latency_ms"][p] for when, found in (("alone", alone[0]), ("rollout", free)) for p in ("p50", "p99")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tern", default=ROOT / "build/release/bin/tern")
    parser.add_argument("--backends", default=ROOT / "build/release/backends")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds in which a bad version must be rolled back")
    parser.add_argument("--policy", type=json.loads, default={}, help="JSON for tern_rollout")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these cases")
    parser.add_argument("--json", help="file for all measurements")
    args = parser.parse_args()
    rows = [measure(args, name, i + 1) for i in range(args.rounds) for name in args.case or CASES]
    print(f"load average {os.getloadavg()[0]:.1f}")
    print("| version | decision | seconds: median | least | most | copies | errors of clients | errors with the label `stable` |")
    print("|---|---|---|---|---|---|---|---|")
    failed = False
    for name in args.case or CASES:
        found = [row for row in rows if row["case"] == name]
        times = [row["seconds"] for row in found]
        right = sum(row["change"] == row["expected"] for row in found)
        failed |= right < len(found) or any(row["stable_errors"] for row in found)
        print(f"| {name} | {found[0]['expected']}: {right} of {len(found)} | {statistics.median(times):.1f} | {min(times):.1f} | {max(times):.1f} | "
              f"{statistics.median(row['copies'] for row in found):.0f} | {sum(row['errors'] for row in found)} | {sum(row['stable_errors'] for row in found)} |")
    for row in rows:
        print(f"{row['case']}: {row['seconds']:.1f} s, {row['rate']:.0f} requests/s, latency of clients p50 {row['alone_p50_ms']:.2f} and p99 "
              f"{row['alone_p99_ms']:.1f} ms before, {row['rollout_p50_ms']:.2f} and {row['rollout_p99_ms']:.1f} ms from then on: "
              f"{row['change']}: {row['reason']}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
