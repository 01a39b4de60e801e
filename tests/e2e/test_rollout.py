"""Rollouts of new versions: labels, weights, copies, promotion, rollback, pins, and what is kept over a restart.

The versions run in the plug-in `release`, whose file behaviour.txt says what a version does wrong."""

import itertools
import json
import queue
import re
import threading
import time
import unittest

import numpy as np

from serving import BACKENDS, ServeTest, wait_for
from test_serve_clients import missing

# Faster than the defaults, so that a test takes seconds: fewer requests are enough for a limit of 2 %.
QUICK = {"steps": [0, 30], "step_seconds": 0.5, "step_requests": 20, "mirror_per_second": 0, "max_error_rate": 0.02, "max_disagreement": 0.02,
         "max_slowdown": None}


def config(policy, instances=1):
    parameter = f"parameters {{ key: 'tern_rollout' value {{ string_value: '{json.dumps(policy)}' }} }}" if policy is not None else ""
    return f'backend: "release"\ninstance_group [ {{ count: {instances} kind: KIND_CPU }} ]\n{parameter}\n'


class Clients:
    """Threads that send requests at a rate, and count the answers by version and the failures."""

    def __init__(self, server, path, rate, threads=4, parameters=None):
        self.server, self.path, self.parameters = server, path, parameters
        self.versions, self.failures, self.lock, self.stopped = {}, [], threading.Lock(), threading.Event()
        self.numbers = itertools.count()
        self.threads = [threading.Thread(target=self.run, args=(threads / rate, i / rate)) for i in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def run(self, period, due):
        begin = time.monotonic()
        while not self.stopped.wait(max(0, begin + due - time.monotonic())):
            due += period
            status, answer = infer(self.server, self.path, next(self.numbers) % 100, self.parameters)
            with self.lock:
                if status == 200:
                    self.versions[answer["model_version"]] = self.versions.get(answer["model_version"], 0) + 1
                else:
                    self.failures.append((status, answer))


def infer(server, path, value=3, parameters=None):
    body = {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [2], "data": [value, 1]}]}
    if parameters:
        body["parameters"] = parameters
    return server.json("POST", f"/v2/models/{path}/infer", body)


class Rollout(ServeTest):
    def setUp(self):
        super().setUp()
        self.models = self.dir / "models"
        self.isolation = ""  # more of the configuration

    def version(self, number, text="", model="m"):
        """Adds a version at once, as a deployment should: the folder appears complete."""
        hidden = self.models / model / f".{number}"
        hidden.mkdir(parents=True)
        (hidden / "behaviour.txt").write_text(text)
        hidden.rename(self.models / model / str(number))

    def start(self, policy, *args, instances=1):
        self.models.mkdir(exist_ok=True)
        self.version(1)
        (self.models / "m" / "config.pbtxt").write_text(config(policy, instances) + self.isolation)
        return self.again(*args)

    def again(self, *args):
        return self.serve("--repository", self.models, "--model-control", "poll", "--poll-secs", "1", "--backend-folder", BACKENDS, *args)

    def state(self, server, model="m"):
        status, state = server.json("GET", f"/v2/repository/models/{model}/rollout")
        self.assertEqual(status, 200, state)
        return state

    def change(self, server, status=200, **request):
        answered, state = server.json("POST", "/v2/repository/models/m/rollout", request)
        self.assertEqual(answered, status, state)
        return state if status == 200 else state["error"]

    def changes(self, server):
        return [(event["change"], event["version"]) for event in self.state(server)["history"]]

    def metrics(self, server):
        text = server.call("GET", "/metrics", port="metrics")[2].decode()
        return {key: float(value) for key, value in re.findall(r"^(tern_rollout\S*(?:\{[^}]*\})?) (\S+)$", text, re.M)}

    def wait_until(self, server, change, version, seconds=60):
        wait_for(lambda: (change, version) in self.changes(server), seconds)

    # What must happen by itself.

    def roll_back(self, behaviour, test, **policy):
        server = self.start({**QUICK, **policy})
        with Clients(server, "m", 150) as clients, Clients(server, "m/versions/stable", 50) as stable:
            self.version(2, behaviour)
            self.wait_until(server, "rollback", "2")
        state = self.state(server)
        self.assertEqual((state["stable"], state["candidate"], state["state"]), ("1", "", "idle"))
        self.assertEqual(state["rejected"][0]["version"], "2")
        self.assertIn(f"{test}: ", state["rejected"][0]["reason"])
        self.assertEqual(stable.failures, [])
        self.assertEqual(list(stable.versions), ["1"])
        self.assertIn(f"rollout of model 'm': rollback version 2: against version 1: {test}:", server.text())
        wait_for(lambda: server.json("GET", "/v2/models/m/versions/2/ready")[0] != 200)  # it is unloaded
        self.assertEqual(infer(server, "m")[1]["model_version"], "1")
        return server, clients

    def test_wrong_outputs_are_rolled_back(self):
        server, clients = self.roll_back("wrong_rate 0.1", "disagreement")
        self.assertEqual(clients.failures, [])
        self.assertIn("output 'OUTPUT0', element", self.state(server)["history"][-1]["reason"])
        metrics = self.metrics(server)
        self.assertGreater(metrics['tern_rollout_disagreements_total{model="m",version="2"}'], 0)
        self.assertEqual(metrics['tern_rollout_changes_total{model="m",change="rollback"}'], 1)
        self.assertEqual(metrics['tern_rollout_weight{model="m",version="1"}'], 100)

    def test_failures_are_rolled_back_before_a_client_sees_one(self):
        server, clients = self.roll_back("fail_every 10", "errors")
        self.assertEqual(clients.failures, [])  # the first step sends copies only
        self.assertGreater(self.metrics(server)['tern_rollout_errors_total{model="m",version="2"}'], 8)

    def test_a_crash_of_its_process_is_the_candidates_fault(self):
        self.isolation = "parameters { key: 'isolation' value { string_value: 'process' } }"
        server, clients = self.roll_back("crash_every 15", "errors")
        self.assertEqual(clients.failures, [])  # the first step sends copies only
        self.assertRegex(server.text(), r"model 'm': process \d+ ended: signal 11")

    def test_clients_of_the_stable_version_do_not_see_crashes_of_the_candidate(self):
        self.isolation = "parameters { key: 'isolation' value { string_value: 'process' } }"
        server, clients = self.roll_back("crash_every 10", "errors", steps=[20], mirror=0)
        self.assertTrue(clients.failures)
        self.assertTrue(all(status == 503 for status, _ in clients.failures), clients.failures[:3])

    def test_a_slow_version_is_rolled_back(self):
        self.models.mkdir()
        self.version(1, "delay_us 3000", "m2")
        (self.models / "m2").rename(self.models / "m")
        (self.models / "m" / "config.pbtxt").write_text(config({**QUICK, "max_slowdown": 0.2}))
        server = self.again()
        with Clients(server, "m", 60):
            self.version(2, "delay_us 4500")
            self.wait_until(server, "rollback", "2")
        self.assertIn("latency: the candidate took over 10 % longer in", self.state(server)["rejected"][0]["reason"])

    def test_a_hang_counts_as_a_failure(self):
        server, clients = self.roll_back("hang_after 20", "errors", hang_seconds=0.5)
        self.assertEqual(clients.failures, [])
        self.assertIn("no answer within 0.5 s", self.state(server)["rejected"][0]["reason"])

    def test_live_failures_are_rolled_back_without_copies(self):
        server, clients = self.roll_back("fail_every 5", "errors", steps=[20], mirror=0)
        self.assertTrue(clients.failures)
        self.assertTrue(all(status == 500 for status, _ in clients.failures), clients.failures[:3])

    def test_a_good_version_is_promoted(self):
        server = self.start({**QUICK, "max_slowdown": 1})
        with Clients(server, "m", 150) as clients, Clients(server, "m/versions/stable", 50) as stable:
            self.version(2)
            self.wait_until(server, "step", "2")
            self.assertEqual(self.state(server)["labels"], {"stable": "1", "canary": "2"})
            self.wait_until(server, "promote", "2")
            wait_for(lambda: stable.versions.get("2", 0) > 3)
        self.assertEqual((clients.failures, stable.failures), ([], []))
        self.assertGreater(clients.versions["2"], 20)
        state = self.state(server)
        self.assertEqual((state["stable"], state["labels"]), ("2", {"stable": "2"}))
        self.assertEqual(self.changes(server), [("stable", "1"), ("start", "2"), ("step", "2"), ("promote", "2")])
        wait_for(lambda: server.json("GET", "/v2/models/m/versions/1/ready")[0] != 200)  # the policy is latest 1
        status, answer = server.json("GET", "/v2/models/m/versions/canary/ready")
        self.assertEqual((status, "has no label 'canary'" in answer["error"]), (404, True))

    # What people do.

    def test_a_pinned_rollback_ends_at_the_next_good_version(self):
        server = self.start(None)
        self.assertEqual(self.state(server)["state"], "idle")
        self.version(2)
        wait_for(lambda: infer(server, "m")[1]["model_version"] == "2")  # no rollouts: it replaces version 1
        state = self.change(server, action="rollback", version=1, reason="users complain")
        self.assertEqual((state["state"], state["stable"], state["labels"]["stable"]), ("pinned", "1", "1"))
        self.assertEqual(infer(server, "m")[1]["model_version"], "1")
        self.assertIn("users complain", state["history"][-1]["reason"])
        # A version that does not load does not end it.
        self.version(3, "no_such_behaviour 1")
        wait_for(lambda: "unknown name" in server.text())
        self.assertEqual((infer(server, "m")[1]["model_version"], self.state(server)["state"]), ("1", "pinned"))
        self.version(4)
        wait_for(lambda: infer(server, "m")[1]["model_version"] == "4")
        self.assertEqual(self.state(server)["state"], "idle")
        self.assertIn(("unpin", "1"), self.changes(server))

    def test_the_state_survives_a_restart(self):
        server = self.start({**QUICK, "promote": False})
        self.version(2)
        self.wait_until(server, "start", "2")
        self.change(server, action="weight", weight=25)
        self.change(server, action="label", label="beta", version="2")
        self.assertEqual(server.stop(), 0)
        self.assertTrue((self.models / ".tern-rollouts.json").exists())
        server = self.again()
        state = self.state(server)
        self.assertEqual((state["stable"], state["candidate"], state["rollout"]["weight"]), ("1", "2", 25))
        self.assertEqual(state["labels"], {"stable": "1", "canary": "2", "beta": "2"})
        self.change(server, action="abort")
        server.stop()
        server = self.again()
        state = self.state(server)
        self.assertEqual((state["stable"], state["candidate"], state["rejected"][0]["version"]), ("1", "", "2"))
        server.stop()
        (self.models / ".tern-rollouts.json").write_text('{"format":1,"models":{"m":{"stable":1}}}')
        with self.assertRaisesRegex(AssertionError, "the state of rollouts in .* is damaged: byte"):
            self.again()

    def test_keys_choose_a_version_and_keep_it(self):
        server = self.start({**QUICK, "promote": False, "steps": [0, 99]}, "--http-header-forward-pattern", "^rollout-key$")
        self.version(2)
        self.wait_until(server, "start", "2")
        self.change(server, action="weight", weight=30)
        chosen = {}
        for i in range(60):
            for _ in range(2):
                chosen.setdefault(i, set()).add(infer(server, "m", parameters={"rollout_key": f"user{i}"})[1]["model_version"])
        self.assertTrue(all(len(versions) == 1 for versions in chosen.values()), chosen)
        self.assertIn(sum(versions == {"2"} for versions in chosen.values()), range(5, 35))
        headers = {}
        for i in range(60):  # a header field is the same as a parameter
            body = json.dumps({"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1]}]})
            answer = json.loads(server.call("POST", "/v2/models/m/infer", body, {"Rollout-Key": f"user{i}"})[2])
            headers[i] = {answer["model_version"]}
        self.assertEqual(headers, chosen)
        self.change(server, action="weight", weight=60)  # nobody goes back
        for i, versions in chosen.items():
            if versions == {"2"}:
                self.assertEqual(infer(server, "m", parameters={"rollout_key": f"user{i}"})[1]["model_version"], "2")

    def test_labels_and_explicit_rollouts(self):
        server = self.start(None)
        for label in ("stable", "canary", "beta"):
            status, answer = infer(server, f"m/versions/{label}")
            self.assertEqual((status, f"has no label '{label}'" in answer["error"]), (404, True))
        self.version(2)
        wait_for(lambda: infer(server, "m")[1]["model_version"] == "2")
        self.change(server, action="label", label="old", version=1)  # loads it again
        self.assertEqual(infer(server, "m/versions/old")[1]["model_version"], "1")
        self.assertEqual(infer(server, "m")[1]["model_version"], "2")
        state = self.change(server, action="start", version="2", stable="1", policy={"steps": [0, 10], "promote": False})
        self.assertEqual((state["stable"], state["candidate"], state["rollout"]["policy"]["steps"]), ("1", "2", [0, 10]))
        self.assertEqual({infer(server, "m")[1]["model_version"] for _ in range(20)}, {"1"})
        self.assertEqual(infer(server, "m/versions/canary")[1]["model_version"], "2")
        state = self.change(server, action="promote")
        self.assertEqual((state["stable"], infer(server, "m/versions/stable")[1]["model_version"]), ("2", "2"))
        self.change(server, action="label", label="old", version=None)
        wait_for(lambda: server.json("GET", "/v2/models/m/versions/1/ready")[0] != 200)

    @unittest.skipIf(missing("tritonclient.grpc"), "tritonclient is not installed")
    def test_grpc_clients_use_labels_and_see_versions(self):
        import tritonclient.grpc as triton  # pylint: disable=import-outside-toplevel
        server = self.start({**QUICK, "promote": False})
        self.version(2)
        self.wait_until(server, "start", "2")
        self.change(server, action="weight", weight=50)
        client = triton.InferenceServerClient(server.grpc)
        tensor = triton.InferInput("INPUT0", [2], "FP32")
        tensor.set_data_from_numpy(np.array([1, 2], np.float32))

        def versions(count, **options):
            return {client.infer("m", [tensor], **options).get_response().model_version for _ in range(count)}

        self.assertEqual(versions(40), {"1", "2"})
        self.assertEqual(versions(10, model_version="stable"), {"1"})
        self.assertEqual(versions(10, model_version="canary"), {"2"})
        self.assertEqual(len(versions(10, parameters={"rollout_key": "me"})), 1)
        self.assertTrue(client.is_model_ready("m", "canary"))
        with self.assertRaisesRegex(triton.InferenceServerException, "NOT_FOUND.*has no label 'beta'"):
            versions(1, model_version="beta")
        answers = queue.Queue()
        client.start_stream(lambda result, error: answers.put((result, error)))
        for _ in range(40):
            client.async_stream_infer("m", [tensor])
        streamed = set()
        for _ in range(40):
            result, error = answers.get(timeout=30)
            self.assertIsNone(error)
            streamed.add(result.get_response().model_version)
        client.stop_stream()
        client.close()
        self.assertEqual(streamed, {"1", "2"})

    def test_clients_of_tensorflow_serving_use_labels(self):
        server = self.start({**QUICK, "promote": False})
        self.version(2)
        self.wait_until(server, "start", "2")
        self.change(server, action="weight", weight=100)
        body = {"inputs": {"INPUT0": [1.0, 2.0]}}
        for label in ("stable", "canary"):
            self.assertEqual(server.json("POST", f"/v1/models/m/labels/{label}:predict", body), (200, {"outputs": [3.0, 5.0]}))
        self.assertEqual(server.json("POST", "/v1/models/m:predict", body), (200, {"outputs": [3.0, 5.0]}))
        requests = self.state(server)["rollout"]["requests"]
        self.assertEqual((requests["stable"], requests["candidate"]), (1, 1))  # the label canary is not part of the comparison
        status, answer = server.json("POST", "/v1/models/m/labels/beta:predict", body)
        self.assertEqual((status, "Unrecognized servable version label: beta" in answer["error"]), (400, True))

    def test_steps_of_an_ensemble_take_part(self):
        self.models.mkdir()
        self.version(1)
        (self.models / "m" / "config.pbtxt").write_text(config({**QUICK, "promote": False}))
        (self.models / "both" / "1").mkdir(parents=True)
        (self.models / "both" / "config.pbtxt").write_text("""platform: "ensemble"
input { name: "x" data_type: TYPE_FP32 dims: -1 } output { name: "y" data_type: TYPE_FP32 dims: -1 }
ensemble_scheduling { step { model_name: "m" model_version: -1 input_map { key: "INPUT0" value: "x" } output_map { key: "OUTPUT0" value: "y" } } }""")
        server = self.again()
        self.version(2, "wrong_rate 0.5")
        self.wait_until(server, "start", "2")

        def send():
            body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [1]}]}
            status, answer = server.json("POST", "/v2/models/both/infer", body)
            self.assertEqual((status, answer["outputs"][0]["data"]), (200, [3.0]))
            return ("rollback", "2") in self.changes(server)

        wait_for(send)

    def test_mistakes_have_clear_messages(self):
        server = self.start(QUICK)
        for request, text in (({}, "'action' is ''; it must be one of start, weight"), ({"action": "start"}, "version 1 of model 'm' is the stable one"),
                              ({"action": "start", "version": 7}, "version 7 of model 'm' does not exist; there are: 1"),
                              ({"action": "start", "policy": {"steps": [10, 5]}}, "is the stable one"),
                              ({"action": "weight", "weight": 120}, "'weight' is 120; it must be from 0 to 100"),
                              ({"action": "weight"}, "action 'weight' needs 'weight'"), ({"action": "promote"}, "no rollout of model 'm' runs"),
                              ({"action": "promote", "weight": 3}, "takes no 'weight'"), ({"action": "rollback"}, "name the 'version' to roll back to"),
                              ({"action": "abort", "x": 1}, "unknown member 'x'"),
                              ({"action": "label", "label": "7", "version": 1}, "'label' is '7'; it must have"),
                              ({"action": "label", "label": "stable", "version": 1}, "label 'stable' moves with the rollout")):
            answered, state = server.json("POST", "/v2/repository/models/m/rollout", request)
            self.assertIn(answered, (400, 404), (request, state))
            self.assertIn(text, state["error"])
        status, answer = server.json("GET", "/v2/repository/models/none/rollout")
        self.assertEqual((status, answer["error"]), (404, "Request for unknown model: 'none' is not found"))
        self.assertEqual(server.call("DELETE", "/v2/repository/models/m/rollout")[0], 405)
        (self.models / "bad").mkdir()
        (self.models / "bad" / "config.pbtxt").write_text(config({"steps": [10, 5]}))
        (self.models / "bad" / "1").mkdir()
        wait_for(lambda: "parameter tern_rollout: rollout policy: 'steps' must ascend, but 5 follows 10" in server.text())

    def test_the_command_shows_and_changes(self):
        server = self.start({**QUICK, "promote": False})
        self.assertIn("version 1 answers", self.ok("rollout", server.http, "m").stdout)
        self.version(2)
        self.wait_until(server, "start", "2")
        shown = self.ok("rollout", server.http, "m").stdout
        self.assertIn("version 2 is rolled out beside version 1: 0 % of the requests, step 1 of 2", shown)
        self.assertIn("labels: stable 1, canary 2", shown.replace("canary 2, stable 1", "stable 1, canary 2"))
        self.assertEqual(self.json("rollout", server.http, "m", "weight", "--weight", "12.5", "--json")["rollout"]["weight"], 12.5)
        self.assertEqual(self.json("rollout", server.http, "m", "promote", "--reason", "it is good", "--json")["stable"], "2")
        self.assertIn("by request: it is good", self.ok("rollout", server.http, "m").stdout)
        self.refused("rollout", server.http, "m", "rollback", says=["answers with status 400", "name the 'version'"])
        self.refused("rollout", server.http, "m", "promote", "--weight", "3", says="action 'promote' takes no --weight")
        self.refused("rollout", server.http, "none", says="Request for unknown model: 'none' is not found")


if __name__ == "__main__":
    unittest.main()
