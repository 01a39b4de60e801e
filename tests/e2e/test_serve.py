"""Tests tern serve, tern load and tern top with HTTP requests."""

import http.client
import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

import numpy as np

from serving import ROOT, SIMPLE_CONFIG, Server, ServeTest, identity, infer_body, simple, slow, wait_for
from support import TERN, run


class Serve(ServeTest):
    def test_the_built_in_model_answers_the_line_that_it_prints(self):
        server = self.serve()
        text = server.text()
        line = re.search(r"^  curl (\S+) -d @(\S+)$", text, re.M)
        self.assertTrue(line, text)
        url, path = line.groups()
        self.assertEqual(url, f"{server.http}/v2/models/digits/infer")
        with open(path, encoding="utf8") as file:
            body = file.read()
        status, _, data = server.call("POST", "/v2/models/digits/infer", body)
        self.assertEqual(status, 200, data)
        best = json.loads(data)["outputs"][0]["data"][0]
        self.assertTrue(best.endswith(":7"), best)
        self.assertEqual(server.stop(), 0)
        self.assertFalse(server.ready_file.exists())

    def test_the_request_of_the_examples(self):
        server = self.serve()
        body = (ROOT / "examples/digits/seven.json").read_text()
        status, _, data = server.call("POST", "/v2/models/digits/infer", body)
        self.assertEqual((status, json.loads(data)["model_name"]), (200, "digits"))

    def test_health_metadata_and_errors(self):
        server = self.serve("--repository", self.repository({"simple": (simple(), SIMPLE_CONFIG)}))
        self.assertEqual(server.json("GET", "/v2/health/live"), (200, {"live": True}))
        self.assertEqual(server.json("GET", "/v2/health/ready"), (200, {"ready": True}))
        self.assertEqual(server.json("GET", "/v2/models/simple/ready")[0], 200)
        status, metadata = server.json("GET", "/v2/models/simple")
        self.assertEqual(metadata["inputs"][0], {"name": "INPUT0", "datatype": "INT32", "shape": [-1, 16]})
        self.assertEqual(server.json("GET", "/v2/models/none")[0], 404)
        self.assertEqual(server.json("POST", "/v2")[0], 405)
        self.assertEqual(server.json("GET", "/nothing")[0], 404)
        status, error = server.json("POST", "/v2/models/simple/infer", {"inputs": []})
        self.assertEqual(status, 400)
        self.assertIn("expected 2 inputs but got 0 inputs for model 'simple'", error["error"])
        self.assertEqual(server.json("GET", "/v2")[1]["name"], "tern")

    def test_inference_is_right(self):
        server = self.serve("--repository", self.repository({"simple": (simple(), SIMPLE_CONFIG)}))
        a, b = np.arange(16, dtype=np.int32).reshape(1, 16), np.ones((1, 16), np.int32)
        body = {"id": "7", "inputs": infer_body("INPUT0", a, "INT32")["inputs"] + infer_body("INPUT1", b, "INT32")["inputs"]}
        status, answer = server.json("POST", "/v2/models/simple/infer", body)
        self.assertEqual((status, answer["id"], answer["model_version"]), (200, "7", "1"))
        outputs = {o["name"]: o["data"] for o in answer["outputs"]}
        self.assertEqual(outputs["OUTPUT0"], (a + b).ravel().tolist())
        self.assertEqual(outputs["OUTPUT1"], (a - b).ravel().tolist())

    def test_a_flat_model_and_explicit_control(self):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG), "id": (identity(), None)})
        server = self.serve("--repository", root, "--model-control", "explicit", "--load-model", "id")
        self.assertEqual(server.json("GET", "/v2/models/simple/ready")[0] // 100, 4)
        self.assertEqual(server.json("POST", "/v2/repository/models/simple/load", {})[0], 200)
        self.assertEqual(server.json("GET", "/v2/models/simple/ready")[0], 200)
        index = {m["name"]: m.get("state") for m in server.json("POST", "/v2/repository/index", {})[1]}
        self.assertEqual(index["simple"], "READY")
        self.assertEqual(server.json("POST", "/v2/repository/models/simple/unload", {})[0], 200)
        flat = self.serve("--model", f"mine={root}/id/1/model.onnx")
        status, answer = flat.json("POST", "/v2/models/mine/infer", infer_body("x", np.ones((2, 3), np.float32)))
        self.assertEqual((status, answer["outputs"][0]["shape"]), (200, [2, 3]))

    def test_settings_from_flags_environment_and_file(self):
        config = self.dir / "serve.yml"
        config.write_text("server_name: of-file\nmax-body-bytes: 1000\n")
        server = self.serve("--config", config, env={"TERN_SERVE_SERVER_NAME": "of-environment"})
        self.assertEqual(server.json("GET", "/v2")[1]["name"], "of-environment")
        self.assertEqual(server.call("POST", "/v2/models/digits/infer", b" " * 2000)[0] // 100, 4)
        self.refused("serve", "--config", self.dir / "none.yml", says="none.yml")
        self.refused("serve", "--http-port", "x", says="http-port: 'x' is not an integer")
        self.refused("serve", "--model", "x", says="NAME=PATH")
        self.refused("serve", "--repository", self.dir / "none", says="none")

    def test_a_broken_model_ends_the_server(self):
        broken = self.dir / "broken.onnx"
        broken.write_bytes(b"no model")
        ports = ("--address", "127.0.0.1", "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")
        done = run("serve", "--model", f"mine={broken}", *ports)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("model 'mine' cannot be loaded: ", done.stderr)
        root = self.repository({"id": (identity(), None)})
        (root / "bad/1").mkdir(parents=True)
        (root / "bad/1/model.onnx").write_bytes(b"no model")
        self.assertEqual(run("serve", "--repository", root, "--strict", *ports).returncode, 2)
        for arguments, name in ((("--repository", root), "bad"), (("--model", f"mine={broken}", "--strict=false"), "mine")):
            server = self.serve(*arguments)
            self.assertEqual(server.json("GET", "/v2/health/ready")[0], 200)
            self.assertNotEqual(server.json("GET", f"/v2/models/{name}/ready")[0], 200)

    def test_port_in_use(self):
        server = self.serve()
        self.refused("serve", "--http-port", server.ports["http"], "--address", "127.0.0.1", "--grpc-port", 0, "--metrics-port", 0,
                     says=[str(server.ports["http"]), "choose other ports (http-port"])

    def test_a_model_without_a_name_is_served_under_that_of_its_file(self):
        shutil.copytree(ROOT / "examples/digits", self.dir / "nets/digits")
        for path in ("nets/digits/digits.onnx", "nets/digits", "nets/digits/"):
            server = self.serve(f"{self.dir}/{path}")
            self.assertEqual(server.json("GET", "/v2/models/digits/ready")[0], 200)
        self.assertRegex(server.text(), r"curl \S*/v2/models/digits/infer -H 'Content-Type: application/octet-stream' --data-binary @FILE   # input 'image'")
        self.refused("serve", "--model", self.dir / "nets/digits/digits.onnx", says=f"such as digits={self.dir}/nets/digits/digits.onnx")
        self.refused("serve", "digits=digits.onnx", says=["'digits=digits'", "--model NAME=PATH"])
        tern, folder = pathlib.Path(TERN).resolve(), self.dir / "here"
        folder.mkdir()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir / "nets/digits")
        server = Server(folder, ".", tern=tern)
        self.addCleanup(server.kill)
        self.assertEqual(server.start().json("GET", "/v2/models/digits/ready")[0], 200)

    def test_second_signal_exits_at_once(self):
        server = self.serve("--model", f"slow={self.save(slow())}", "--exit-timeout-secs", "30")
        load = subprocess.Popen([TERN, "load", server.http, "slow", "--concurrency", "8", "--seconds", "20"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(10)
        self.assertLess(time.monotonic() - started, 10)
        load.send_signal(signal.SIGINT)
        load.wait(60)

    def test_sigterm_under_load_answers_every_accepted_request(self):
        log = self.dir / "access.json"
        server = self.serve("--model", f"slow={self.save(slow())}", "--log", log)
        body = json.dumps(infer_body("x", np.zeros((64, 512), np.float32)))
        outcomes, lock = [], threading.Lock()

        def client():
            """Sends requests on one connection until the server announces that it closes the connection."""
            connection = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=60)
            outcome, more = None, True
            while more:
                try:
                    connection.request("POST", "/v2/models/slow/infer", body)
                    answer = connection.getresponse()
                    outcome, more = (answer.status, len(answer.read())), answer.getheader("Connection") != "close"
                except (OSError, http.client.HTTPException) as error:
                    outcome, more = (repr(error), 0), False
                with lock:
                    outcomes.append(outcome)
            connection.close()

        threads = [threading.Thread(target=client) for _ in range(6)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(outcomes) > 12)
        self.assertEqual(server.stop(), 0)
        for thread in threads:
            thread.join()
        self.assertGreater(len(outcomes), 6)
        self.assertEqual(len(set(outcomes)), 1, set(outcomes))
        self.assertEqual(outcomes[0][0], 200)
        self.assertEqual(len(log.read_text().splitlines()), len(outcomes))


class Sockets(ServeTest):
    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_tls(self):
        cert, key = self.dir / "cert.pem", self.dir / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], check=True, capture_output=True)
        server = self.serve("--tls-certificate", cert, "--tls-key", key)
        trusting = ssl.create_default_context(cafile=str(cert))
        connection = http.client.HTTPSConnection("127.0.0.1", server.ports["http"], timeout=30, context=trusting)
        self.addCleanup(connection.close)
        body = (ROOT / "examples/digits/seven.json").read_text()
        for _ in range(3):
            connection.request("POST", "/v2/models/digits/infer", body)
            answer = connection.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())["model_name"]), (200, "digits"))
        self.assertEqual(server.stop(), 0)
        mutual = self.serve("--tls-certificate", cert, "--tls-key", key, "--tls-client-ca", cert)
        stranger = http.client.HTTPSConnection("127.0.0.1", mutual.ports["http"], timeout=30, context=trusting)
        self.addCleanup(stranger.close)
        with self.assertRaises(OSError):
            stranger.request("GET", "/v2")
            stranger.getresponse().read()
        known = ssl.create_default_context(cafile=str(cert))
        known.load_cert_chain(cert, key)
        friend = http.client.HTTPSConnection("127.0.0.1", mutual.ports["http"], timeout=30, context=known)
        self.addCleanup(friend.close)
        friend.request("GET", "/v2")
        self.assertEqual(friend.getresponse().status, 200)

    def test_unix_socket(self):
        path = self.dir / "http.sock"
        self.serve("--http-address", f"unix:{path}")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            text = b""
            while block := client.recv(4096):
                text += block
        self.assertTrue(text.startswith(b"HTTP/1.1 200"), text)

    def test_traces_reach_a_collector(self):
        received = queue.Queue()

        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                received.put((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        server = self.serve("--trace-endpoint", f"http://127.0.0.1:{collector.server_port}/v1/traces", "--trace-rate", "0")
        body = (ROOT / "examples/digits/seven.json").read_text()
        trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        server.call("POST", "/v2/models/digits/infer", body)  # not sampled
        server.call("POST", "/v2/models/digits/infer", body, {"traceparent": f"00-{trace}-{parent}-01"})
        path, message = received.get(timeout=10)
        spans = message["resourceSpans"][0]["scopeSpans"][0]["spans"]
        self.assertEqual((path, [span["name"] for span in spans]), ("/v1/traces", ["infer digits", "queue", "compute"]))
        self.assertEqual((spans[0]["traceId"], spans[0]["parentSpanId"]), (trace, parent))
        self.assertEqual({span["parentSpanId"] for span in spans[1:]}, {spans[0]["spanId"]})
        for span in spans:
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))


class Observe(ServeTest):
    def test_metrics(self):
        server = self.serve()
        body = (ROOT / "examples/digits/seven.json").read_text()
        for _ in range(3):
            server.call("POST", "/v2/models/digits/infer", body)
        status, headers, data = server.call("GET", "/metrics", port="metrics")
        text = data.decode()
        self.assertEqual(status, 200)
        self.assertIn("text/plain", headers["Content-Type"])
        self.assertIn('nv_inference_request_success{model="digits",version="1"} 3\n', text)
        self.assertIn('nv_inference_request_failure{model="digits",version="1",reason="REJECTED"} 0\n', text)
        self.assertIn('tern_request_duration_seconds_count{model="digits",version="1",phase="compute"} 3\n', text)
        for name in ("nv_cpu_utilization", "nv_cpu_memory_total_bytes", "process_resident_memory_bytes", "tern_model_cpu_seconds_total"):
            self.assertRegex(text, rf"(?m)^{name}\S* [0-9.e+-]+$")
        for line in text.splitlines():
            self.assertRegex(line, r"^(# (HELP|TYPE) .+|[a-zA-Z_:][\w:]*(\{.*\})? [-+0-9.eInfNa]+)$")

    def test_access_log(self):
        log = self.dir / "access.json"
        server = self.serve("--log", log)
        body = json.loads((ROOT / "examples/digits/seven.json").read_text())
        body["id"] = 'a"b'
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        server.call("POST", "/v2/models/digits/infer", json.dumps(body), {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        server.call("GET", "/v2/models/none")
        self.assertEqual(server.stop(), 0)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        infer = next(line for line in lines if line.get("model") == "digits")
        self.assertEqual((infer["status"], infer["request_id"], infer["trace_id"], infer["method"]), (200, 'a"b', trace, "POST"))
        self.assertGreaterEqual(infer["duration_us"], infer["phases_us"]["compute"])
        self.assertRegex(infer["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertTrue(any(line["status"] == 404 for line in lines))

    def test_settings(self):
        server = self.serve()
        self.assertEqual(server.json("GET", "/v2/trace/setting")[1]["trace_level"], ["OFF"])
        status, answer = server.json("POST", "/v2/trace/setting", {"trace_rate": "5", "trace_level": ["TIMESTAMPS"]})
        self.assertEqual((status, answer["trace_rate"]), (200, "5"))
        self.assertEqual(server.json("POST", "/v2/models/digits/trace/setting", {"trace_rate": "9"})[1]["trace_rate"], "9")
        self.assertEqual(server.json("POST", "/v2/models/digits/trace/setting", {"trace_rate": None})[1]["trace_rate"], "5")
        self.assertNotEqual(server.json("POST", "/v2/trace/setting", {"trace_file": "x"})[0], 200)


    def test_log_settings_change_the_log(self):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG), "broken": (simple(), "max_batch_size: -1")})
        server = self.serve("--repository", root, "--model-control", "explicit")
        load = lambda: server.json("POST", "/v2/repository/models/broken/load", {})[0]
        lines = lambda: re.findall(r"^(.*)error: model 'broken' is not loaded", server.text(), re.M)
        self.assertNotEqual(load(), 200)
        self.assertEqual(lines(), [""])
        self.assertEqual(server.json("POST", "/v2/logging", {"log_error": False})[1]["log_error"], False)
        load()
        self.assertEqual(len(lines()), 1, "errors are off")
        self.assertNotIn("verbose: ", server.text())
        server.json("POST", "/v2/logging", {"log_error": True, "log_format": "ISO8601", "log_verbose_level": 1})
        load()
        self.assertRegex(lines()[1], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z $")
        server.json("POST", "/v2/repository/models/simple/load", {})
        self.assertIn("verbose: model 'simple' version 1 is loaded", server.text())
        self.assertRegex(server.text(), r'verbose: \{.*"target":"/v2/repository/models/simple/load"')
        before = server.text().count("verbose: ")
        server.json("POST", "/v2/logging", {"log_verbose_level": 0})
        server.json("GET", "/v2")
        self.assertLessEqual(server.text().count("verbose: "), before + 1)
        status, answer = server.json("POST", "/v2/logging", {"log_file": str(self.dir / "x"), "log_error": False})
        self.assertEqual((status // 100, answer["error"]), (5, "log file location can not be updated through network protocol"))
        self.assertEqual(server.json("GET", "/v2/logging")[1]["log_error"], True, "all changes or none")

    def test_log_settings_at_the_start(self):
        server = self.serve("--log-verbose", "1", "--log-error", "false", env={"TERN_SERVE_LOG_FORMAT": "ISO8601"})
        self.assertRegex(server.text(), r"(?m)^\S+Z verbose: model 'digits' version 1 is loaded$")
        self.assertEqual(server.json("GET", "/v2/logging")[1]["log_error"], False)
        self.refused("serve", "--log-format", "xml", says="xml")

    def test_restricted_apis(self):
        config = self.dir / "serve.yml"
        config.write_text("http-restricted-api: ['model-repository,logging:admin=a', 'metadata:user=b']\n")
        server = self.serve("--config", config)
        status, _, data = server.call("GET", "/v2/logging", headers={"user": "b"})
        self.assertEqual((status, json.loads(data)["error"]), (403, "This API is restricted, expecting header 'admin'"))
        self.assertEqual(server.call("GET", "/v2/logging", headers={"Admin": "a"})[0], 200)
        self.assertEqual(server.call("GET", "/v2")[0], 403)
        self.assertEqual(server.call("GET", "/v2/health/ready")[0], 200)
        self.refused("serve", "--http-restricted-api=health:a=b", "--http-restricted-api=trace,health:c=d",
                     says="api 'health' can not be specified in multiple config groups")

    def test_metric_tags(self):
        tagged = SIMPLE_CONFIG + 'metric_tags { key: "team" value: "birds" }\n'
        wrong = SIMPLE_CONFIG.replace('"simple"', '"wrong"') + 'metric_tags { key: "model" value: "x" }\n'
        server = self.serve("--repository", self.repository({"simple": (simple(), tagged), "wrong": (simple(), wrong)}))
        text = server.call("GET", "/metrics", port="metrics")[2].decode()
        self.assertRegex(text, r'(?m)^nv_model_load_duration_secs\{model="simple",version="1",team="birds"\} 0\.\d+$')
        self.assertNotIn("wrong", text)
        self.assertIn("metric_tags has the name 'model', which is a label of the server's own metrics", server.text())


class Load(ServeTest):
    def test_load_and_top(self):
        server = self.serve()
        for args in (["http", "--concurrency", "4"], ["grpc", "--concurrency", "2"], ["http", "--rate", "100"],
                     ["grpc", "--steps", "50,100"]):
            with self.subTest(args=args):
                place = server.grpc if args[0] == "grpc" else server.http
                report = self.json("load", place, "digits", "--protocol", *args, "--seconds", "0.5", "--warmup", "0.1", "--json")
                self.assertEqual(report["errors"], 0, report)
                self.assertGreater(report["throughput"], 10)
                self.assertLessEqual(report["latency_ms"]["p50"], report["latency_ms"]["p99"])
        svg = self.dir / "plot.svg"
        self.ok("load", server.http, "digits", "--seconds", "0.3", "--dim", "2", "--svg", svg)
        self.assertIn("<polyline", svg.read_text())
        self.refused("load", server.http, "none", "--seconds", "0.1", says="none")
        self.refused("load", "127.0.0.1:1", "digits", "--seconds", "0.1", says="127.0.0.1:1")
        self.refused("load", server.http, "digits", "--shape", "wrong=1x2", says="its inputs are: image")
        load = subprocess.Popen([TERN, "load", server.http, "digits", "--rate", "200", "--seconds", "2"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        top = self.json("top", server.metrics, "--once", "--json", "--interval", "0.5")
        self.assertEqual(load.wait(60), 0)
        self.assertEqual([m["model"] for m in top["models"]], ["digits"])
        model = top["models"][0]
        self.assertTrue(100 < model["requests_per_s"] < 300, model)
        self.assertTrue(0 < model["latency_ms"]["p50"] <= model["latency_ms"]["p99"], model)
        self.assertGreater(model["cores"], 0)
        self.assertIn(model["slowest_phase"], ("parse", "queue", "input", "compute", "output"))
        self.assertIn("digits", self.ok("top", server.metrics, "--once", "--interval", "0.2").stdout)

    def test_shared_memory(self):
        server = self.serve("--shared-memory")
        for protocol, place in (("http", server.http), ("grpc", server.grpc)):
            report = self.json("load", place, "digits", "--protocol", protocol, "--shared-memory", "system", "--seconds", "0.3", "--json")
            self.assertEqual((report["errors"], report["answers"] > 10), (0, True), report)
        self.assertEqual(server.json("GET", "/v2/systemsharedmemory/status")[1], [])
        plain = self.serve()
        self.assertEqual(run("load", plain.http, "digits", "--shared-memory", "system", "--seconds", "0.1").returncode, 2)

    def test_shared_memory_that_its_client_shrinks(self):
        server = self.serve("--model", f"id={self.save(identity())}", "--shared-memory")
        memory = pathlib.Path(f"/dev/shm/tern_e2e_shrink_{os.getpid()}")
        self.addCleanup(memory.unlink, missing_ok=True)
        memory.write_bytes(np.arange(8, dtype=np.float32).tobytes() + bytes(32))
        self.assertEqual(server.json("POST", "/v2/systemsharedmemory/region/r/register", {"key": f"/{memory.name}", "byte_size": 64})[0], 200)
        place = {"shared_memory_region": "r", "shared_memory_byte_size": 32}
        shared_input = {"inputs": [{"name": "x", "shape": [2, 4], "datatype": "FP32", "parameters": place}]}
        shared_output = {**infer_body("x", np.ones((2, 4), np.float32)), "outputs": [{"name": "y", "parameters": {**place, "shared_memory_offset": 32}}]}
        status, answer = server.json("POST", "/v2/models/id/infer", shared_input)
        self.assertEqual((status, answer["outputs"][0]["data"]), (200, list(range(8))))
        self.assertEqual(server.json("POST", "/v2/models/id/infer", shared_output)[0], 200)
        self.assertEqual(memory.read_bytes()[32:], np.ones(8, np.float32).tobytes())
        os.truncate(memory, 0)
        for body in (shared_input, shared_output):
            status, answer = server.json("POST", "/v2/models/id/infer", body)
            self.assertEqual(status, 400, answer)
            self.assertIn("'r' can no longer be used", answer["error"])
        self.assertEqual(memory.stat().st_size, 0)
        self.assertEqual(server.json("GET", "/v2/health/live")[0], 200)
        self.assertEqual(server.stop(), 0)
