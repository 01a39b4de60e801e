"""Tests golden requests, failed and half-copied versions, and the memory budget of tern serve."""

import json
import pathlib
import random
import shutil
import threading
import time
import unittest

import numpy as np
import onnx
from onnx import helper

from serving import ServeTest, infer_body, wait_for
from support import FLOAT, make_model

ONES = np.ones((1, 4), np.float32)


def multiply(factor, size=4):
    """Returns a model that computes y = x * factor."""
    return make_model([helper.make_node("Mul", ["x", "factor"], ["y"])], {"x": (FLOAT, ["N", size])}, {"y": (FLOAT, ["N", size])},
                      {"factor": np.array([factor], np.float32)})


def write(folder, version, factor):
    hidden = pathlib.Path(folder) / f".new{version}"
    hidden.mkdir(parents=True)
    onnx.save(multiply(factor), hidden / "model.onnx")
    target = pathlib.Path(folder) / str(version)
    shutil.rmtree(target, ignore_errors=True)
    hidden.rename(target)


class LifeCycle(ServeTest):
    def value(self, server, model="m"):
        status, answer = server.json("POST", f"/v2/models/{model}/infer", infer_body("x", ONES))
        self.assertEqual(status, 200, answer)
        return answer["outputs"][0]["data"][0]

    def load(self, server):
        return server.json("POST", "/v2/repository/models/m/load", {})

    def state(self, server, version):
        index = server.json("POST", "/v2/repository/index", {})[1]
        return next(((entry.get("state"), entry.get("reason", "")) for entry in index if entry.get("version") == version), None)

    def explicit(self, *args):
        root = self.dir / "models"
        write(root / "m", 1, 2)
        return root, self.serve("--repository", root, "--model-control", "explicit", "--load-model", "*", *args)

    def test_golden_requests_decide_about_a_release(self):
        root, server = self.explicit()
        made = self.json("golden", server.http, "m", "-o", root / "m/golden", "--count", "2", "--json")
        self.assertEqual(made["requests"], 2)
        self.assertEqual(sorted(path.name for path in (root / "m/golden").iterdir()), ["random_1.json", "random_2.json"])
        write(root / "m", 2, 3)
        status, answer = self.load(server)
        self.assertNotEqual(status, 200)
        self.assertIn("golden request 'golden/random_1.json': output 'y'[0,0]: expected ", answer["error"])
        self.assertEqual(self.value(server), 2)
        self.assertEqual(self.state(server, "1")[0], "READY")
        state, reason = self.state(server, "2")
        self.assertEqual(state, "UNAVAILABLE")
        self.assertIn("golden/random_1.json", reason)
        write(root / "m", 3, 2.00001)
        status, answer = self.load(server)
        self.assertEqual((status, answer["golden_requests"], answer["version"], answer["order"]), (200, 2, "3", "load-first"))
        self.assertGreaterEqual(answer["resident_bytes"]["peak"], answer["resident_bytes"]["before"])
        self.assertGreater(answer["resident_bytes"]["before"], 0)
        metrics = server.call("GET", "/metrics", port="metrics")[2].decode()
        self.assertIn('tern_model_golden_requests{model="m",version="3"} 2', metrics)
        self.assertIn('nv_inference_request_success{model="m",version="3"} 0', metrics)
        self.assertIn("version 3 replaces 1", server.text())

    def test_the_command_golden(self):
        root, server = self.explicit()
        request = self.dir / "ones.json"
        request.write_text(json.dumps(infer_body("x", ONES)))
        self.ok("golden", server.http, "m", "--request", request, "-o", root / "m/golden", "--jsonl", root / "m/warmup/requests.jsonl",
                "--absolute", "0.5", "--relative", "0")
        golden = json.loads((root / "m/golden/ones.json").read_text())
        self.assertEqual(golden["response"]["outputs"][0]["data"], [2.0] * 4)
        self.assertEqual(golden["tolerance"], {"absolute": 0.5, "relative": 0})
        write(root / "m", 2, 2.4)
        self.assertEqual(self.load(server)[0], 200)
        self.assertAlmostEqual(self.value(server), 2.4, places=5)
        self.refused("golden", server.http, "m", says="nothing to write")
        self.refused("golden", server.http, "none", "-o", self.dir / "g", says="none")
        request.write_text('{"inputs": []}')
        self.refused("golden", server.http, "m", "--request", request, "-o", self.dir / "g", says="request 1 of 1: the server answers: ")

    def test_a_broken_version_waits_until_its_files_change(self):
        root = self.dir / "models"
        write(root / "m", 1, 2)
        server = self.serve("--repository", root, "--model-control", "poll", "--poll-secs", "1")
        whole = multiply(3).SerializeToString()
        (root / "m/2").mkdir()
        (root / "m/2/model.onnx").write_bytes(whole[:len(whole) // 2])
        wait_for(lambda: self.state(server, "2"))
        self.assertEqual(self.state(server, "2")[0], "UNAVAILABLE")
        self.assertEqual(self.value(server), 2)
        (root / "m/2/model.onnx").write_bytes(whole)
        wait_for(lambda: self.value(server) == 3)
        shutil.rmtree(root)
        time.sleep(2.5)
        self.assertEqual(self.value(server), 3)
        self.assertEqual(server.json("GET", "/v2/models/m/ready")[0], 200)

    def test_unload_first_holds_requests(self):
        root, server = self.explicit("--change-order", "unload-first")
        statuses, stop = [], threading.Event()

        def client():
            while not stop.is_set():
                statuses.append(server.json("POST", "/v2/models/m/infer", infer_body("x", ONES))[0])

        threads = [threading.Thread(target=client) for _ in range(2)]
        for thread in threads:
            thread.start()
        for version in range(2, 6):
            write(root / "m", version, version)
            self.assertEqual(self.load(server)[1]["order"], "unload-first")
        (root / "m/6").mkdir()
        (root / "m/6/model.onnx").write_bytes(b"no model")
        self.assertNotEqual(self.load(server)[0], 200)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses), {200})
        self.assertEqual(self.value(server), 5)


class Budget(ServeTest):
    """Eight models of about 4 MB each, in room for about three."""

    MODELS, SIZE = 8, 1024

    def budget(self, *args):
        root = self.dir / "models"
        rng = np.random.default_rng(1)
        for i in range(self.MODELS):
            weights = {"w": rng.standard_normal((self.SIZE, self.SIZE)).astype(np.float32) / self.SIZE}
            model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (FLOAT, ["N", self.SIZE])},
                               {"y": (FLOAT, ["N", self.SIZE])}, weights)
            (root / f"m{i}/1").mkdir(parents=True)
            onnx.save(model, root / f"m{i}/1/model.onnx")
            (root / f"m{i}/config.pbtxt").write_text(
                'max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: %d } output { name: "y" data_type: TYPE_FP32 dims: %d }' %
                (self.SIZE, self.SIZE))
        return root, self.serve("--repository", root, "--memory-budget", "30M", *args)

    def metrics(self, server):
        lines = server.call("GET", "/metrics", port="metrics")[2].decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line.startswith("tern_"))}

    def infer(self, server, model, timeout=None):
        body = infer_body("x", np.ones((1, self.SIZE), np.float32))
        if timeout:
            body["parameters"] = {"timeout": timeout}
        return server.json("POST", f"/v2/models/{model}/infer", body)

    def test_models_share_the_budget(self):
        _, server = self.budget()
        self.assertEqual(self.metrics(server)["tern_budget_resident_models"], 0)
        for i in range(self.MODELS):
            self.assertEqual(server.json("GET", f"/v2/models/m{i}/ready")[0], 200)
            self.assertEqual(server.json("GET", f"/v2/models/m{i}")[1]["inputs"][0]["name"], "x")
            self.assertEqual(server.json("GET", f"/v2/models/m{i}/config")[1]["max_batch_size"], 4)
        statuses, lock, rng = [], threading.Lock(), random.Random(5)
        order = [f"m{min(int(rng.paretovariate(0.8)) - 1, self.MODELS - 1)}" for _ in range(160)]

        def client(models):
            for model in models:
                status = self.infer(server, model)[0]
                with lock:
                    statuses.append(status)

        threads = [threading.Thread(target=client, args=(order[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        most = 0
        while any(thread.is_alive() for thread in threads):
            most = max(most, self.metrics(server)["tern_budget_resident_bytes"])
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, [200] * len(order))
        values = self.metrics(server)
        self.assertLessEqual(values["tern_budget_resident_bytes"], 30 << 20)
        self.assertLessEqual(most, 1.35 * (30 << 20), "costs are known better after the first load")
        self.assertEqual(values["tern_budget_hits_total"] + values["tern_budget_misses_total"], len(order))
        loads, evictions = (sum(v for k, v in values.items() if k.startswith(f"tern_model_{what}_total")) for what in ("loads", "evictions"))
        self.assertGreater(evictions, 0)
        self.assertLessEqual(loads, values["tern_budget_misses_total"])
        self.assertGreater(values["tern_budget_hits_total"], len(order) / 4)
        reasons = {e["name"]: e.get("reason", "") for e in server.json("POST", "/v2/repository/index", {})[1]}
        self.assertTrue(any("not resident" in reason for reason in reasons.values()), reasons)
        self.assertEqual(server.stop(), 0)

    def test_one_load_for_many_requests(self):
        _, server = self.budget()
        threads = [threading.Thread(target=self.infer, args=(server, "m3")) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.metrics(server)['tern_model_loads_total{model="m3",version="1"}'], 1)

    def test_pinned_and_too_large_models(self):
        root, server = self.budget("--pin-model", "m7")
        loads = 'tern_model_loads_total{model="m7",version="1"}'
        self.assertEqual(self.metrics(server)[loads], 1)
        for i in range(self.MODELS - 1):
            self.assertEqual(self.infer(server, f"m{i}")[0], 200)
        values = self.metrics(server)
        self.assertEqual((values[loads], values['tern_model_resident{model="m7",version="1"}']), (1, 1))
        small = self.serve("--repository", root, "--memory-budget", "1M")
        status, answer = self.infer(small, "m0")
        self.assertEqual(status, 503)
        self.assertRegex(answer["error"], r"model 'm0' version 1 needs \d+ bytes, more than the memory budget of 1048576 bytes")
        self.refused("serve", "--repository", root, "--memory-budget", "much", says="memory-budget: 'much' is not a number of bytes")

    def test_files_that_change_are_not_loaded_unseen(self):
        root, server = self.budget()
        self.assertEqual(self.infer(server, "m0")[0], 200)
        (root / "m1/1/model.onnx").write_bytes(b"half")
        status, answer = self.infer(server, "m1")
        self.assertEqual(status, 503)
        self.assertIn("its files have changed or are gone", answer["error"])
        self.assertNotIn(str(root), answer["error"])


if __name__ == "__main__":
    unittest.main()
