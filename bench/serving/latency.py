"""Measures the latency at half load, the speed of large tensors, and the latency that a server adds to an in-process run."""

import json
import statistics
import subprocess

import clients
import echo
import servers

LARGE = 4 << 20  # number of FP32 elements, 16 MiB
GOAL = {"http": 40000, "grpc": 15000}  # requests/s; half load is at most half of this


def _each(found, args):
    """Yields (name of a server, protocol, its address, name of a model) for all rounds, protocols and servers but nginx."""
    for _ in range(args.rounds):
        for protocol in ("http", "grpc"):
            for name, server, model in found:
                if name != "nginx":
                    yield name, protocol, getattr(server, protocol), model


def half_load(found, args):
    """Measures the latency of an open loop at half of the server's closed-loop throughput, or at half of GOAL if that is less."""
    rows = []
    for name, protocol, address, model in _each(found, args):
        options = {"protocol": protocol, "seconds": args.seconds}
        peak = clients.tern_load(args.tern, address, model, "--concurrency", args.connections, **{**options, "seconds": 1})["throughput"]
        half = clients.tern_load(args.tern, address, model, "--rate", min(peak, GOAL[protocol]) / 2, "--connections", args.connections, **options)
        rows.append({"server": name, "protocol": protocol, "peak": peak, "errors": half["errors"],
                     "throughput": half["throughput"], **{f"{key}_ms": half["latency_ms"][key] for key in ("p50", "p99")}})
    return rows


def large_tensors(found, args):
    """Measures GB/s of FP32 tensors of 16 MiB. Each tensor is sent and received, but counts once."""
    rows = []
    for name, protocol, address, model in _each(found, args):
        got = clients.tern_load(args.tern, address, model, "--concurrency", 2, "--shape", f"INPUT0={LARGE}", protocol=protocol, seconds=args.seconds)
        rows.append({"server": name, "protocol": protocol, "errors": got["errors"], "gb_per_s": got["throughput"] * LARGE * 4 / 1e9})
    for _ in range(args.rounds):
        rows.append({"server": "echo", "protocol": "tcp", "errors": 0, "gb_per_s": echo.gb_per_s(LARGE * 4, args.seconds)})
    return rows


def _in_process(args):
    done = subprocess.run([args.tern, "bench", args.digits, "--seconds", "0.5", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["latency_ms"]["p50"]


def added(stack, folder, args):
    """Measures the median latency of `tern bench`, and of a server that gets one request at a time, in us. Also measures the
    server's resident memory before and after the load."""
    server = servers.start_tern(args.tern, folder / "digits")
    stack.callback(server.stop)
    rows, idle = [], server.resident_mb()
    for _ in range(args.rounds):
        row = {"in_process_us": _in_process(args) * 1e3}
        for protocol in ("http", "grpc"):
            address = server.http if protocol == "http" else server.grpc
            got = clients.tern_load(args.tern, address, "digits", "--concurrency", 1, protocol=protocol, seconds=1)
            row[f"{protocol}_us"] = got["latency_ms"]["p50"] * 1e3
        rows.append(row)
    return {"rounds": rows, "resident_mb": idle, "resident_after_load_mb": server.resident_mb()}


def _groups(rows):
    keys = dict.fromkeys((row["server"], row["protocol"]) for row in rows)
    return {key: [row for row in rows if (row["server"], row["protocol"]) == key] for key in keys}


def show_half_load(found):
    print("\nhalf load: server, protocol, requests/s, p50 ms, p99 ms (best and worst round)")
    for (name, protocol), rows in _groups(found).items():
        worst = [row["p99_ms"] for row in rows]
        print(f"  {name:16}{protocol:6}{clients.median(rows, 'throughput'):10,.0f}{clients.median(rows, 'p50_ms'):9.3f}"
              f"{clients.median(rows, 'p99_ms'):9.3f}  ({min(worst):.3f} to {max(worst):.3f})", flush=True)


def show_large(found):
    print("\n16 MiB tensors: server, protocol, GB/s of one direction (best and worst round)")
    for (name, protocol), rows in _groups(found).items():
        rates = [row["gb_per_s"] for row in rows]
        print(f"  {name:16}{protocol:6}{statistics.median(rates):8.2f}  ({max(rates):.2f} to {min(rates):.2f})", flush=True)


def show_added(found):
    rows = found["rounds"]
    print(f"\ndigits: in process {clients.median(rows, 'in_process_us'):.0f} us")
    for protocol in ("http", "grpc"):
        extra = statistics.median(row[f"{protocol}_us"] - row["in_process_us"] for row in rows)
        print(f"  {protocol} {clients.median(rows, f'{protocol}_us'):.0f} us, added {extra:.0f} us")
    print(f"  resident {found['resident_mb']:.1f} MB, after load {found['resident_after_load_mb']:.1f} MB")
