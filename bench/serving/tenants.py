"""Measures how a tenant that sends ten times its quota delays another tenant.

Both have the same quota. The modest one sends at half its quota. The greedy one sends nothing, its quota, and ten times its quota, in turns,
so that noise affects all of them. Prints the p99 latency of the modest tenant in each case, and the median over the rounds of the ratio of
the last to the second."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]


def make_model(path, depth, size=256):
    rng = np.random.default_rng(0)
    weights = [numpy_helper.from_array((rng.standard_normal((size, size)) / size**0.5).astype(np.float32), f"w{i}") for i in range(depth)]
    nodes = []
    for i in range(depth):
        nodes.append(helper.make_node("MatMul", [f"h{i}" if i else "x", f"w{i}"], [f"p{i}"]))
        nodes.append(helper.make_node("Relu", [f"p{i}"], [f"h{i + 1}" if i + 1 < depth else "y"]))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, size])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, size])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def token(tern, file, name, quota):
    args = [tern, "token", file, "--name", name, "--role", "infer", "--requests", str(quota)]
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout.strip()


def load(options, place, who, rate, seconds):
    command = [options.tern, "load", place, "model", "--rate", str(rate), "--seconds", str(seconds), "--warmup", "1", "--json", "--token", who,
               "--protocol", options.protocol]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def measure(options, place, tokens, greedy_rate):
    """Returns the reports of the modest and of the greedy tenant."""
    greedy = load(options, place, tokens[0], greedy_rate, options.seconds) if greedy_rate else None
    modest = json.loads(load(options, place, tokens[1], options.quota / 2, options.seconds).communicate()[0])
    return modest, json.loads(greedy.communicate()[0]) if greedy else None


def start(options, folder):
    make_model(folder / "model.onnx", options.depth)
    access, ready = folder / "access.yml", folder / "ready.json"
    tokens = [token(options.tern, access, name, options.quota) for name in ("greedy", "modest")]
    ports = ["--address", "127.0.0.1", "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
    process = subprocess.Popen([options.tern, "serve", "--model", f"model={folder / 'model.onnx'}", "--access-file", access, "--ready-file", ready,
                                "--quiet", *ports])
    while not ready.exists():
        if process.poll() is not None:
            sys.exit("the server did not start")
        time.sleep(0.05)
    return process, f"127.0.0.1:{json.loads(ready.read_text())[options.protocol]}", tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", default=ROOT / "build/release/bin/tern")
    parser.add_argument("--protocol", choices=("http", "grpc"), default="http")
    parser.add_argument("--quota", type=int, default=100, help="requests per second of each tenant")
    parser.add_argument("--depth", type=int, default=12, help="matrix products of the model")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        process, place, tokens = start(options, pathlib.Path(name))
        try:
            for number in range(options.rounds):
                row = {}
                for factor in (0, 1, 10):
                    modest, greedy = measure(options, place, tokens, factor * options.quota)
                    if modest["errors"]:
                        sys.exit(f"requests of the modest tenant failed: {modest['messages']}")
                    row[factor] = modest["latency_ms"]
                    note = f", greedy: {greedy['throughput']:.0f}/s answered, {greedy['refused']} refused" if greedy else ""
                    print(f"round {number + 1}, greedy at {factor:2} x: p50 {row[factor]['p50']:.2f} ms, p99 {row[factor]['p99']:.2f} ms{note}", flush=True)
                rows.append(row)
        finally:
            process.terminate()
            process.wait()
    for factor in (0, 1, 10):
        print(f"greedy at {factor:2} x its quota: p99 of the other {statistics.median(row[factor]['p99'] for row in rows):.2f} ms (median of {len(rows)})")
    ratio = statistics.median(row[10]["p99"] / row[1]["p99"] for row in rows)
    print(f"p99 at 10 x / p99 at 1 x: {ratio:.2f} (median of the rounds); load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
