#!/usr/bin/env python3
"""Measures the peak memory of a change of versions in both orders, and how the change affects another model that is under load."""

import argparse
import contextlib
import http.client
import json
import pathlib
import sys
import tempfile
import threading
import time

import numpy as np

import budget
import options
import servers


def post(place, path, body, headers=None):
    connection = http.client.HTTPConnection(place, timeout=300)
    connection.request("POST", path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {data[:300]}")
    return data


class Live(threading.Thread):
    """Sends requests to a small model and records their latencies."""

    def __init__(self, place, width):
        super().__init__()
        self.place, self.width, self.latencies, self.stop = place, width, [], threading.Event()

    def run(self):
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, self.width], "data": np.ones(self.width).tolist()}]})
        while not self.stop.is_set():
            begin = time.monotonic()
            post(self.place, "/v2/models/live/infer", body)
            self.latencies.append(time.monotonic() - begin)
            time.sleep(0.002)


def change(args, order):
    """Returns the answer to the load request and the latencies of the other model before and during the change."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        budget.write_model(folder / "models", "large", args.width, 1)
        budget.write_model(folder / "models", "live", 128, 2)
        server = servers.start_tern(args.tern, folder / "tern", "--repository", folder / "models", "--model-control", "explicit", "--load-model", "*",
                                    "--change-order", order)
        stack.callback(server.stop)
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, args.width], "data": np.ones(args.width).tolist()}]})
        post(server.http, "/v2/models/large/infer", body)
        budget.write_model(folder / "next", "large", args.width, 3)
        (folder / "next/large/1").rename(folder / "models/large/2")
        live = Live(server.http, 128)
        live.start()
        time.sleep(args.seconds)
        before = len(live.latencies)
        answer = json.loads(post(server.http, "/v2/repository/models/large/load", "{}"))
        during = live.latencies[before:]
        live.stop.set()
        live.join()
        return answer, live.latencies[:before], during


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    options.add(parser)
    parser.add_argument("--width", type=int, default=4096)
    args = options.parsed(parser)
    report = {}
    print(f"a model of {budget.LAYERS * args.width**2 * 4 / 1e6:.0f} MB is replaced by another one")
    for order in ("load-first", "unload-first"):
        answer, before, during = change(args, order)
        memory = answer["resident_bytes"]
        report[order] = {"answer": answer, "p99_before_ms": 1000 * budget.quantile(before, 0.99), "p99_during_ms": 1000 * budget.quantile(during, 0.99)}
        print(f"{order:13} {answer['seconds']:.2f} s, resident memory {memory['before'] / 1e6:.0f} MB before, {memory['peak'] / 1e6:.0f} MB at the peak; "
              f"p99 of another model {report[order]['p99_before_ms']:.1f} ms before ({len(before)} requests), {report[order]['p99_during_ms']:.1f} ms during ({len(during)})",
              flush=True)
    options.write(args, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
