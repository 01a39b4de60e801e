#!/usr/bin/env python3
"""Measures the memory budget: many models in room for a few, under requests whose models follow Zipf's law. Fails if a request fails or
if the resident models exceed the budget."""

import argparse
import bisect
import contextlib
import http.client
import itertools
import json
import pathlib
import random
import sys
import tempfile
import threading
import time
import urllib.request

import numpy as np
import onnx
from onnx import helper, numpy_helper

import options
import servers

LAYERS = 4


def write_model(root, name, width, seed):
    """Writes a model of LAYERS matrix products."""
    rng = np.random.default_rng(seed)
    weights = [numpy_helper.from_array((rng.standard_normal((width, width)) / width**0.5).astype(np.float32), f"w{i}") for i in range(LAYERS)]
    names = ["x", *(f"h{i}" for i in range(LAYERS - 1)), "y"]
    nodes = [helper.make_node("MatMul", [names[i], f"w{i}"], [names[i + 1]]) for i in range(LAYERS)]
    values = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["N", width]) for n in ("x", "y")]
    graph = helper.make_graph(nodes, name, values[:1], values[1:], weights)
    version = pathlib.Path(root) / name / "1"
    version.mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), version / "model.onnx")
    (version.parent / "config.pbtxt").write_text(
        f'max_batch_size: 8 input {{ name: "x" data_type: TYPE_FP32 dims: {width} }} output {{ name: "y" data_type: TYPE_FP32 dims: {width} }}')


def zipf(count, exponent):
    """Returns a function that draws numbers below `count`."""
    sums = list(itertools.accumulate(1 / rank**exponent for rank in range(1, count + 1)))
    return lambda rng: bisect.bisect(sums, rng.random() * sums[-1])


class Client(threading.Thread):
    def __init__(self, place, args, draw, end, seed):
        super().__init__()
        self.place, self.args, self.draw, self.end, self.rng = place, args, draw, end, random.Random(seed)
        self.latencies, self.errors = [], []

    def run(self):
        head = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, self.args.width],
                                       "parameters": {"binary_data_size": 4 * self.args.width}}],
                           "parameters": {"binary_data_output": True}}).encode()
        body = head + np.ones(self.args.width, np.float32).tobytes()
        headers = {"Inference-Header-Content-Length": str(len(head))}
        connection = http.client.HTTPConnection(self.place, timeout=120)
        while time.monotonic() < self.end:
            begin = time.monotonic()
            connection.request("POST", f"/v2/models/m{self.draw(self.rng)}/infer", body, headers)
            answer = connection.getresponse()
            data = answer.read()
            if answer.status != 200:
                self.errors.append(f"{answer.status} {data[:200]}")
            self.latencies.append(time.monotonic() - begin)
            time.sleep(self.rng.expovariate(self.args.rate / self.args.clients))


def read_metrics(server):
    with urllib.request.urlopen(f"http://{server.metrics}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line.startswith(("tern_", "process_")))}


def total(values, name):
    return sum(value for key, value in values.items() if key.split("{")[0] == name)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))] if values else 0


def measure(server, args):
    draw, end = zipf(args.models, args.exponent), time.monotonic() + args.seconds
    clients = [Client(server.http, args, draw, end, seed) for seed in range(args.clients)]
    before = read_metrics(server)
    for client in clients:
        client.start()
    samples = []
    while any(client.is_alive() for client in clients):
        time.sleep(0.25)
        values = read_metrics(server)
        samples.append((values["tern_budget_resident_bytes"], values["process_resident_memory_bytes"]))
    for client in clients:
        client.join()
    after = read_metrics(server)
    latencies = [latency for client in clients for latency in client.latencies]
    hits, misses = (after[key] - before[key] for key in ("tern_budget_hits_total", "tern_budget_misses_total"))
    return {"requests": len(latencies), "errors": [error for client in clients for error in client.errors], "hit_rate": hits / (hits + misses),
            "misses": misses, "loads": total(after, "tern_model_loads_total") - total(before, "tern_model_loads_total"),
            "evictions": total(after, "tern_model_evictions_total"), "p50_ms": 1000 * quantile(latencies, 0.5), "p99_ms": 1000 * quantile(latencies, 0.99),
            "max_ms": 1000 * max(latencies), "wait_p99_ms": wait_quantile(after, 0.99), "budget": after["tern_budget_bytes"],
            "most_charged": max(sample[0] for sample in samples), "most_resident": max(sample[1] for sample in samples),
            "resident_before": before["process_resident_memory_bytes"]}


def wait_quantile(values, q):
    """Returns the upper end of the bucket that has this quantile of the waits, in ms."""
    prefix = 'tern_budget_wait_seconds_bucket{le="'
    buckets = sorted((float(key[len(prefix):-2]), value) for key, value in values.items() if key.startswith(prefix))
    count = buckets[-1][1] if buckets else 0
    return next((1000 * end for end, value in buckets if count and value >= q * count), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--room", type=int, default=10, help="the budget, in models")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--exponent", type=float, default=1.1, help="of Zipf's law")
    parser.add_argument("--rate", type=float, default=200, help="requests per second")
    parser.add_argument("--clients", type=int, default=8)
    args = options.parsed(parser)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for i in range(args.models):
            write_model(folder / "models", f"m{i}", args.width, i)
        size = LAYERS * args.width**2 * 4
        budget = int(args.room * size * 1.05)
        server = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--memory-budget", budget)
        stack.callback(server.stop)
        report = measure(server, args)
    options.write(args, report)
    print(f"{args.models} models of {size / 1e6:.1f} MB, budget {report['budget'] / 1e6:.0f} MB, {report['requests']} requests, {len(report['errors'])} errors")
    print(f"hit rate {100 * report['hit_rate']:.1f} %, {report['misses']:.0f} requests waited for {report['loads']:.0f} loads, {report['evictions']:.0f} evictions")
    print(f"latency p50 {report['p50_ms']:.1f} ms, p99 {report['p99_ms']:.1f} ms, at most {report['max_ms']:.1f} ms; wait for a load p99 {report['wait_p99_ms']:.1f} ms")
    print(f"charged at most {report['most_charged'] / 1e6:.0f} MB; resident memory {report['resident_before'] / 1e6:.0f} MB at first, {report['most_resident'] / 1e6:.0f} MB at most")
    for error in report["errors"][:5]:
        print("FAIL", error)
    return 1 if report["errors"] or report["most_charged"] > 1.2 * report["budget"] else 0


if __name__ == "__main__":
    sys.exit(main())
