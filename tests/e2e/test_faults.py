"""Faults of models: every accepted request gets exactly one answer, counted by the client."""

import json
import os
import pathlib
import shutil
import signal
import time
import unittest

import numpy as np

from fault_load import GrpcLoad, Load, action, echo
from faults import FAIL, FULL, HANG, NOTHING, SEGFAULT, SLEEP, FaultTest, children, nothing
from serving import identity, wait_for


class Process(FaultTest):
    """A model in a process of its own."""

    def test_killed(self):
        server = self.plug_in_server(self.misbehaving(isolation="process"))
        kills, threads = (20 if FULL else 3), 4
        with Load(server.ports["http"], nothing("m"), threads) as web, GrpcLoad(server.grpc, "m") as grpc:
            for i in range(kills):
                web.wait_answers(50)
                grpc.wait_answers(5)
                (pid,) = children(server.process.pid)
                os.kill(pid, signal.SIGKILL)
                wait_for(lambda old=pid: children(server.process.pid) not in ([], [old]))
                wait_for(lambda: self.ready(server), 90)
                if i % 4 == 3:  # from the fifth end in a row on, requests fail at once until the process runs again
                    time.sleep(31)  # then it is healthy, and the delays begin again
            web.wait_answers(50)
        self.every_answer(web.counter, 200, 503)
        self.every_answer(grpc.counter, "OK", "StatusCode.UNAVAILABLE")
        failed = web.counter.answers[503] + grpc.counter.answers["StatusCode.UNAVAILABLE"]
        self.assertLessEqual(failed, kills * (threads + 2), "only requests in flight fail")
        self.assertEqual(self.metric(server, "tern_model_process_restarts_total"), kills)
        self.assertEqual(server.stop(), 0)

    def test_crashes_by_some_requests(self):
        server = self.plug_in_server(self.misbehaving(isolation="process", sandbox="true"))
        crashes = 10 if FULL else 2

        def make(number):
            bad = number % 40 == 7 and number < 40 * crashes
            if number % 40 == 8:  # from the fifth crash on, requests fail at once until the process runs again
                wait_for(lambda: self.ready(server), 90)
            return "/v2/models/m/infer", action("m", SEGFAULT if bad else NOTHING), lambda found: True

        with Load(server.ports["http"], make, 1) as load:
            load.wait_answers(40 * crashes + 10, 300)
        self.every_answer(load.counter, 200, 503)
        self.assertEqual(load.counter.answers[503], crashes, "with one client, only the bad requests fail")

    def test_hangs(self):
        server = self.plug_in_server(self.misbehaving(isolation="process", execution_timeout_ms=300))
        for path, body in [("/v2/models/m/infer", action("m", HANG))]:
            status, _, answer = server.call("POST", path, json.dumps(body))
            self.assertEqual(status, 503)
            self.assertIn(b"execution_timeout_ms, 300", answer)
        self.assertEqual(server.json("POST", "/v2/models/m/infer", action("m", NOTHING))[0], 200)
        self.assertIn('reason="timeout"} 1', server.call("GET", "/metrics", port="metrics")[2].decode())
        self.assertIn("took longer than execution_timeout_ms", server.text())

    def test_hangs_over_grpc(self):
        from tritonclient import grpc  # pylint: disable=import-outside-toplevel
        from tritonclient.utils import InferenceServerException  # pylint: disable=import-outside-toplevel
        server = self.plug_in_server(self.misbehaving(isolation="process", execution_timeout_ms=300))
        tensor = grpc.InferInput("ACTION", [1], "INT32")
        tensor.set_data_from_numpy(np.array([HANG], np.int32))
        with self.assertRaises(InferenceServerException) as caught, grpc.InferenceServerClient(server.grpc) as client:
            client.infer("m", [tensor])
        self.assertEqual(caught.exception.status(), "StatusCode.DEADLINE_EXCEEDED")

    def test_a_hang_in_the_server_is_answered(self):
        server = self.plug_in_server(self.misbehaving(execution_timeout_ms=300), "--exit-timeout-secs", 1)
        status, answer = server.json("POST", "/v2/models/m/infer", action("m", SLEEP, 1500))
        self.assertEqual(status, 503)
        self.assertIn("takes longer than execution_timeout_ms, 300", answer["error"])
        self.assertEqual(self.metric(server, "tern_model_hangs_total"), 1)
        time.sleep(1.3)
        self.assertEqual(server.json("POST", "/v2/models/m/infer", action("m", NOTHING))[0], 200)

    def test_ends_with_the_server(self):
        server = self.plug_in_server(self.misbehaving(isolation="process"))
        (pid,) = children(server.process.pid)
        server.process.kill()
        server.process.wait()
        wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists() or "Z (zombie)" in pathlib.Path(f"/proc/{pid}/status").read_text())
        server = self.plug_in_server(self.dir / "models")
        (pid,) = children(server.process.pid)
        self.assertEqual(server.stop(), 0)
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())

    def test_signals_of_a_terminal_do_not_end_it_early(self):
        server = self.plug_in_server(self.misbehaving(isolation="process"))
        (pid,) = children(server.process.pid)
        with Load(server.ports["http"], lambda n: ("/v2/models/m/infer", action("m", SLEEP, 30), lambda f: True), 2) as load:
            load.wait_answers(4)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(pid, number)
            os.kill(server.process.pid, signal.SIGINT)
            self.assertEqual(server.process.wait(30), 0)
        self.every_answer(load.counter, 200)

    def test_a_model_of_the_built_in_engine(self):
        config = 'name: "e" parameters { key: "sandbox" value { string_value: "true" } }'
        server = self.serve("--repository", self.repository({"e": (identity(), config)}))
        with Load(server.ports["http"], echo("e"), 2) as load:
            load.wait_answers(30)
            os.kill(children(server.process.pid)[0], signal.SIGKILL)
            load.wait_answers(30)
        self.every_answer(load.counter, 200, 503)
        self.assertLessEqual(load.counter.answers[503], 2)

    def test_settings_of_the_server(self):
        root = self.repository({"a": (identity(), None), "b": (identity(), 'parameters { key: "isolation" value { string_value: "none" } }')})
        server = self.serve("--repository", root, "--isolation", "process")
        self.assertEqual(len(children(server.process.pid)), 1)
        server.stop()
        server = self.serve("--repository", root, "--sandbox")
        self.assertEqual(len(children(server.process.pid)), 1)
        self.assertEqual(server.call("GET", "/v2/models/b/ready")[0], 404)
        self.assertIn("a sandbox needs a process", server.text())
        self.assertIn("is in a sandbox", server.text())


class Models(FaultTest):
    def test_a_model_that_fails_at_run_time(self):
        server = self.plug_in_server(self.misbehaving())

        def make(number):
            code = FAIL if number % 5 == 0 else NOTHING
            return "/v2/models/m/infer", action("m", code), lambda found: found["outputs"][0]["data"] == [0]

        count = 2000 if FULL else 200
        with Load(server.ports["http"], make, 3) as load:
            load.wait_answers(count)
        self.every_answer(load.counter, 200, 500)
        share = load.counter.answers[500] / load.counter.answered
        self.assertTrue(0.15 < share < 0.25, load.counter)

    def poll(self, load, server, text):
        """Waits until the log has this text, while requests are answered."""
        wait_for(lambda: text in server.text())
        load.wait_answers(20)

    def test_damaged_versions_are_never_served(self):
        root = self.repository({"m": (identity(), None)})
        server = self.serve("--repository", root, "--model-control", "poll", "--poll-secs", 1, "--log-verbose", 1)
        good = (root / "m/1/model.onnx").read_bytes()
        with Load(server.ports["http"], echo("m"), 3, 0.001) as load:
            load.wait_answers(20)
            for round_, damaged in enumerate([b"no model", good[:len(good) // 2], b"", bytes(len(good))][:None if FULL else 2]):
                version = str(round_ + 2)
                (root / "m" / version).mkdir()
                (root / "m" / version / "model.onnx").write_bytes(damaged)
                self.poll(load, server, f"version {version} is at UNAVAILABLE state")
                self.assertTrue(self.ready(server), "the version before it is served")
                shutil.rmtree(root / "m" / version)
                load.wait_answers(20)
            # A copy that takes a while. Its last state is the whole model.
            (root / "m/9").mkdir()
            with open(root / "m/9/model.onnx", "wb") as file:
                for at in range(0, len(good), max(1, len(good) // 4)):
                    file.write(good[at:at + max(1, len(good) // 4)])
                    file.flush()
                    time.sleep(0.6)
            wait_for(lambda: server.call("GET", "/v2/models/m/versions/9/ready")[0] == 200)
            load.wait_answers(20)
        self.every_answer(load.counter, 200)

    def test_the_repository_is_deleted(self):
        root = self.repository({"m": (identity(), None)})
        server = self.serve("--repository", root, "--model-control", "poll", "--poll-secs", 1)
        with Load(server.ports["http"], echo("m"), 3, 0.001) as load:
            load.wait_answers(20)
            shutil.rmtree(root)
            time.sleep(2.5)
            load.wait_answers(20)
        self.every_answer(load.counter, 200, 404, 503)
        self.assertEqual(server.call("GET", "/v2/health/live")[0], 200)
        self.assertEqual(server.stop(), 0)

    def test_the_folder_of_an_isolated_model_is_deleted(self):
        root = self.misbehaving(isolation="process")
        server = self.plug_in_server(root)
        shutil.rmtree(root)
        with Load(server.ports["http"], nothing("m"), 2, 0.01) as load:
            load.wait_answers(5)
            os.kill(children(server.process.pid)[0], signal.SIGKILL)
            wait_for(lambda: "its files have changed" in server.text())
            wait_for(lambda: load.counter.answers[503] > 10)
        self.every_answer(load.counter, 200, 503)
        self.assertFalse(self.ready(server))


if __name__ == "__main__":
    unittest.main()
