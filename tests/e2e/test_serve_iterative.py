"""Iterative sequences: the model schedules a request again until it is finished."""

import http.client
import json
import threading
import time
import unittest

from serving import BACKENDS, ServeTest
from test_serve_clients import missing

COUNTDOWN = """
name: "countdown"
backend: "iterative_sequence"
max_batch_size: 4
input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
parameters [ { key: "delay_ms" value: { string_value: "5" } } ]
"""
WITH_STATE = """
sequence_batching {
  iterative_sequence: true
  oldest { max_candidate_sequences: 16 }
  control_input [
    { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
    { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] }
  ]
  state [ { input_name: "STATE" output_name: "NEXT" data_type: TYPE_INT32 dims: [ 1 ] } ]
}
"""


class Iterative(ServeTest):
    def start(self, *configs):
        root = self.dir / "models"
        for name, config in configs:
            (root / name / "1").mkdir(parents=True)
            (root / name / "config.pbtxt").write_text(config.replace("countdown", name))
        return self.serve("--repository", root, "--backend-folder", BACKENDS)

    def events(self, server, model, start):
        """The outputs of the events that generate_stream sends."""
        status, headers, body = server.call("POST", f"/v2/models/{model}/generate_stream", json.dumps({"INPUT": start}))
        self.assertEqual((status, headers["Content-Type"].partition(";")[0]), (200, "text/event-stream"), body)
        return [json.loads(line[6:]).get("OUTPUT") for line in body.decode().splitlines() if line.startswith("data: ")]

    def test_generate_stream(self):
        decoupled = "model_transaction_policy { decoupled: true }\n"
        server = self.start(("stateful", COUNTDOWN + decoupled + WITH_STATE),
                            ("direct", COUNTDOWN + decoupled + "sequence_batching { iterative_sequence: true }"))
        for model in ("stateful", "direct"):
            self.assertEqual(self.events(server, model, 4), [3, 2, 1, 0])
            self.assertEqual(self.events(server, model, 1), [0])
        # Iterations of several requests share batches.
        outputs, lock = {}, threading.Lock()

        def client(start):
            found = self.events(server, "stateful", start)
            with lock:
                outputs[start] = found

        threads = [threading.Thread(target=client, args=(start,)) for start in range(20, 32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outputs, {start: list(range(start - 1, -1, -1)) for start in range(20, 32)})
        statistics = server.json("GET", "/v2/models/stateful/stats")[1]["model_stats"][0]
        self.assertEqual(statistics["inference_stats"]["success"]["count"], 14)
        self.assertLess(statistics["execution_count"], sum(range(20, 32)), "batches of one request each")
        self.assertIn(4, [entry["batch_size"] for entry in statistics["batch_stats"]])

    def test_client_that_disconnects(self):
        """The plug-in is told that the sequence ended, so that it can drop what it keeps for it."""
        server = self.start(("endless", COUNTDOWN + "model_transaction_policy { decoupled: true }\n" +
                             "sequence_batching { iterative_sequence: true }"))

        def sequences():
            text = server.call("GET", "/metrics", port="metrics")[2].decode()
            lines = [line for line in text.splitlines() if line.startswith("tern_backend_value") and 'name="sequences"' in line]
            return float(lines[0].split()[-1])

        connection = http.client.HTTPConnection(server.http, timeout=30)
        connection.request("POST", "/v2/models/endless/generate_stream", json.dumps({"INPUT": 1_000_000_000}))
        response = connection.getresponse()
        response.readline()
        self.assertEqual(sequences(), 1)
        response.close()
        connection.close()
        end = time.monotonic() + 30
        while sequences() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(sequences(), 0)
        self.assertEqual(self.events(server, "endless", 3), [2, 1, 0])

    def test_one_answer(self):
        """A model that is not decoupled answers after the last iteration."""
        server = self.start(("countdown", COUNTDOWN + WITH_STATE), ("plain", COUNTDOWN))
        body = {"inputs": [{"name": "INPUT", "datatype": "INT32", "shape": [1, 1], "data": [7]}]}
        status, answer = server.json("POST", "/v2/models/countdown/infer", body)
        self.assertEqual((status, answer["outputs"][0]["data"]), (200, [0]), answer)
        status, answer = server.json("POST", "/v2/models/countdown/generate", {"INPUT": 3})
        self.assertEqual((status, answer["OUTPUT"]), (200, 0), answer)
        statistics = server.json("GET", "/v2/models/countdown/stats")[1]["model_stats"][0]
        self.assertEqual((statistics["inference_count"], statistics["execution_count"]), (2, 10))
        status, answer = server.json("POST", "/v2/models/plain/infer", body)
        self.assertEqual(status, 400)
        self.assertIn("set iterative_sequence of sequence_batching", answer["error"])

    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient[grpc] is not installed")
    def test_sigterm_lets_iterations_end(self):
        import queue  # pylint: disable=import-outside-toplevel
        import numpy as np  # pylint: disable=import-outside-toplevel
        import tritonclient.grpc as triton  # pylint: disable=import-outside-toplevel
        server = self.start(("countdown", COUNTDOWN + "model_transaction_policy { decoupled: true }\n" + WITH_STATE))
        answers = queue.Queue()
        client = triton.InferenceServerClient(server.grpc)
        self.addCleanup(client.close)
        client.start_stream(lambda result, error: answers.put(error or int(result.as_numpy("OUTPUT")[0][0])))
        tensor = triton.InferInput("INPUT", [1, 1], "INT32")
        tensor.set_data_from_numpy(np.array([[60]], np.int32))
        client.async_stream_infer("countdown", [tensor])
        self.assertEqual(answers.get(timeout=30), 59)
        self.assertEqual(server.stop(), 0)
        self.assertEqual([answers.get(timeout=30) for _ in range(59)], list(range(58, -1, -1)))
