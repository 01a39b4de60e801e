"""The response cache of `tern serve`: in memory and in Redis."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

import numpy as np
import onnx
from onnx import helper

from fake_redis import FakeRedis
from serving import BACKENDS, SIMPLE_CONFIG, ServeTest, identity, infer_body, simple, wait_for
from support import FLOAT, TERN, make_model

CACHED = "\nresponse_cache { enable: true }\n"
STEP_CONFIG = 'input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]\noutput [ { name: "y" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]\n' + CACHED
ENSEMBLE_CONFIG = """
platform: "ensemble"
input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, -1 ] }, { name: "scale" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "z" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
ensemble_scheduling {
  step [
    { model_name: "features" model_version: -1 input_map { key: "x" value: "x" } output_map { key: "y" value: "f" } },
    { model_name: "head" model_version: -1 input_map { key: "f" value: "f" } input_map { key: "scale" value: "scale" } output_map { key: "z" value: "z" } }
  ]
}
"""


def times(factor):
    weights = {"w": np.array([factor], np.float32)}
    return make_model([helper.make_node("Mul", ["x", "w"], ["y"])], {"x": (FLOAT, ["N", "M"])}, {"y": (FLOAT, ["N", "M"])}, weights)


def body(value):
    return infer_body("x", np.full((1, 2), value, np.float32))


class CacheTest(ServeTest):
    def metric(self, server, name, **labels):
        """The sum of the samples with these labels, or None."""
        text = server.call("GET", "/metrics", port="metrics")[2].decode()
        found = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                 if re.match(rf"{name}[{{ ]", line) and all(f'{key}="{value}"' in line for key, value in labels.items())]
        return sum(found) if found else None

    def answer(self, server, model, value):
        status, answer = server.json("POST", f"/v2/models/{model}/infer", body(value))
        self.assertEqual(status, 200, answer)
        return answer["outputs"][0]["data"]


class Local(CacheTest):
    def test_hits_and_statistics(self):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG + CACHED), "plain": (identity(), None)})
        server = self.serve("--repository", root, "--cache", "local:size=1M")
        array = np.arange(16, dtype=np.int32).reshape(1, 16)
        request = {"inputs": [infer_body(name, array, "INT32")["inputs"][0] for name in ("INPUT0", "INPUT1")]}
        answers = [server.json("POST", "/v2/models/simple/infer", {"id": str(i), **request})[1] for i in range(4)]
        self.assertEqual([answer.pop("id") for answer in answers], ["0", "1", "2", "3"])
        self.assertEqual(answers[1:], answers[:1] * 3)
        swapped = {"inputs": request["inputs"][::-1], "outputs": [{"name": "OUTPUT1", "parameters": {"classification": 2}}]}
        classes = [server.json("POST", "/v2/models/simple/infer", swapped)[1]["outputs"] for _ in range(2)]
        self.assertEqual(classes[0], classes[1])
        self.answer(server, "plain", 1)
        statistics = server.json("GET", "/v2/models/simple/stats")[1]["model_stats"][0]
        self.assertEqual((statistics["inference_count"], statistics["execution_count"]), (2, 2))
        counts = {name: entry["count"] for name, entry in statistics["inference_stats"].items()}
        self.assertEqual((counts["success"], counts["cache_hit"], counts["cache_miss"], counts["compute_infer"]), (6, 4, 2, 2))
        self.assertGreater(statistics["inference_stats"]["cache_hit"]["ns"], 0)
        self.assertEqual(self.metric(server, "nv_cache_num_hits_per_model", model="simple", version="1"), 4)
        self.assertEqual(self.metric(server, "nv_cache_num_misses_per_model", model="simple"), 2)
        self.assertIsNone(self.metric(server, "nv_cache_num_hits_per_model", model="plain"), "has no cache")
        self.assertGreaterEqual(self.metric(server, "nv_cache_miss_duration_per_model", model="simple"), 1)
        self.assertEqual(self.metric(server, "tern_cache_entries"), 2)
        self.assertEqual(self.metric(server, "tern_request_duration_seconds_count", model="simple", phase="cache"), 6)
        bad = server.json("POST", "/v2/models/simple/infer", {"inputs": request["inputs"][:1]})
        self.assertEqual((bad[0], server.json("POST", "/v2/models/simple/infer", {"inputs": request["inputs"][:1]})), (400, bad))
        self.assertEqual(server.stop(), 0)

    def test_a_reloaded_version_does_not_hit(self):
        root = self.repository({"m": (times(2), CACHED)})
        server = self.serve("--repository", root, "--model-control", "explicit", "--load-model", "m", "--cache-config", "local,size=1048576")
        self.assertEqual([self.answer(server, "m", 3) for _ in range(2)], [[6, 6]] * 2)
        onnx.save(times(5), root / "m/1/model.onnx")
        self.assertEqual(server.call("POST", "/v2/repository/models/m/load")[0], 200)
        self.assertEqual([self.answer(server, "m", 3) for _ in range(2)], [[15, 15]] * 2)

    def test_features_of_an_ensemble(self):
        """The first step is expensive and depends on x alone: it runs once per x, whatever the scale is."""
        head = make_model([helper.make_node("Mul", ["f", "scale"], ["z"])], {"f": (FLOAT, ["N", "M"]), "scale": (FLOAT, [1])},
                          {"z": (FLOAT, ["N", "M"])})
        root = self.repository({"features": (times(10), STEP_CONFIG), "head": (head, None)})
        (root / "both/1").mkdir(parents=True)
        (root / "both/config.pbtxt").write_text(ENSEMBLE_CONFIG)
        server = self.serve("--repository", root, "--cache", "local:size=1M")
        for scale in range(10):
            for x in range(5):
                request = {"inputs": body(x)["inputs"] + infer_body("scale", np.full(1, scale, np.float32))["inputs"]}
                status, answer = server.json("POST", "/v2/models/both/infer", request)
                self.assertEqual((status, answer["outputs"][0]["data"]), (200, [10 * x * scale] * 2), answer)
        stats = {s["name"]: s for s in server.json("GET", "/v2/models/stats")[1]["model_stats"]}
        self.assertEqual(stats["features"]["inference_stats"]["cache_hit"]["count"], 45)
        self.assertEqual(stats["features"]["execution_count"], 5)
        self.assertEqual(stats["head"]["execution_count"], 50)

    def test_models_without_a_single_response_are_refused(self):
        repeat = 'name: "repeat" backend: "repeat" model_transaction_policy { decoupled: true }'
        root = self.repository({"s": (identity(), "sequence_batching { }" + CACHED), "ok": (identity(), CACHED)})
        (root / "repeat/1").mkdir(parents=True)
        (root / "repeat/config.pbtxt").write_text(repeat + CACHED)
        server = self.serve("--repository", root, "--backend-folder", BACKENDS, "--cache", "local:size=1M")
        reasons = {entry["name"]: entry.get("reason") for entry in server.json("POST", "/v2/repository/index")[1]}
        self.assertIn("response_cache excludes decoupled responses", reasons["repeat"])
        self.assertIn("response_cache excludes sequence_batching", reasons["s"])
        self.assertEqual(server.call("GET", "/v2/models/ok/ready")[0], 200)

    def test_wrong_settings(self):
        self.refused("serve", "--cache", "local:size=lots", says="size is 'lots'")
        self.refused("serve", "--cache", "local", says="needs a size")
        self.refused("serve", "--cache", "memcached:host=x", says="names no cache")
        server = self.serve("--repository", self.repository({"m": (identity(), CACHED)}))
        self.assertIn("model 'm' has a response_cache, but the server has none", server.text())


class Load(threading.Thread):
    """`tern load` in the background. `report` is its JSON."""

    def __init__(self, server, model, seconds, *args):
        super().__init__()
        self.command = [TERN, "load", server.http, model, "--concurrency", "4", "--seconds", str(seconds), "--warmup", "0", "--json", *args]
        self.start()

    def run(self):
        self.report = json.loads(subprocess.run(self.command, capture_output=True, check=True).stdout)


class Redis(CacheTest):
    def cached_server(self, port, *args):
        root = self.dir / "models"
        if not root.exists():
            self.repository({"m": (times(2), CACHED), "n": (times(3), CACHED)})
        return self.serve("--repository", root, "--cache", f"redis:host=127.0.0.1,port={port}", *args)

    def up(self, server):
        return self.metric(server, "tern_cache_redis_up") == 1

    def check_shared(self, start, stop):
        """`start(port)` starts a Redis and returns its port, `stop()` ends it."""
        port = start(0)
        first, second = self.cached_server(port), self.cached_server(port)
        wait_for(lambda: self.up(first) and self.up(second))
        self.assertEqual(self.answer(first, "m", 3), [6, 6])

        def found():
            self.assertEqual(self.answer(second, "m", 3), [6, 6])
            return self.metric(second, "nv_cache_num_hits_per_model", model="m") == 1
        wait_for(found)
        self.assertEqual(self.answer(second, "n", 3), [9, 9], "another model with the same request")
        # Redis goes under load, and comes back.
        load = Load(first, "m", 4)
        time.sleep(1)
        stop()
        wait_for(lambda: not self.up(first))
        self.assertEqual(self.answer(first, "m", 8), [16, 16])
        time.sleep(1)
        start(port)
        load.join()
        self.assertEqual(load.report["errors"], 0, load.report)
        self.assertGreater(load.report["answers"], 100)
        wait_for(lambda: self.up(first))
        text = first.text()
        self.assertEqual((text.count("is not usable"), text.count("info: cache: ")), (1, 1), text)
        success = self.metric(first, "nv_inference_request_success", model="m")
        counted = self.metric(first, "nv_cache_num_hits_per_model", model="m") + self.metric(first, "nv_cache_num_misses_per_model", model="m")
        self.assertEqual(success, counted, "each request was a hit or a miss")
        self.assertEqual([first.stop(), second.stop()], [0, 0])

    def test_redis_gone_with_a_fake(self):
        state = {}

        def start(port):
            state["redis"] = FakeRedis(port, state["redis"].values if state else None)
            return state["redis"].port
        self.check_shared(start, lambda: state["redis"].stop())
        state["redis"].stop()

    @unittest.skipIf(shutil.which("redis-server") is None, "redis-server is not installed (scripts/deps operations)")
    def test_redis_gone(self):
        self.check_shared(self.start_redis, lambda: (self.redis.kill(), self.redis.wait()))

    def start_redis(self, port):
        if port == 0:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
        self.redis = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.dir)],
                                      stdout=subprocess.DEVNULL)
        self.addCleanup(lambda process=self.redis: (process.send_signal(signal.SIGCONT), process.kill(), process.wait()))
        return port

    @unittest.skipIf(shutil.which("redis-server") is None, "redis-server is not installed (scripts/deps operations)")
    def test_redis_that_hangs(self):
        server = self.cached_server(self.start_redis(0))
        wait_for(lambda: self.up(server))
        os.kill(self.redis.pid, signal.SIGSTOP)
        load = Load(server, "m", 3)
        load.join()
        self.assertEqual(load.report["errors"], 0)
        self.assertFalse(self.up(server))
        self.assertLess(load.report["latency_ms"]["max"], 1000, load.report)
        self.assertLess(load.report["latency_ms"]["p50"], 40, "most requests do not wait for Redis")
        os.kill(self.redis.pid, signal.SIGCONT)
        wait_for(lambda: self.up(server))

    def test_a_server_starts_without_redis(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            server = self.cached_server(probe.getsockname()[1])
            for value in range(5):
                self.assertEqual(self.answer(server, "m", value), [2 * value] * 2)
            self.assertEqual(self.metric(server, "tern_cache_redis_up"), 0)
            self.assertEqual(server.stop(), 0)
