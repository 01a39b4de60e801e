"""Tests what `tern serve` says about folders in another layout than Triton's, models that cannot be loaded, and wrong requests. Also tests several models on
the command line."""

import json
import signal
import socket
import time

import numpy as np

from serving import SIMPLE_CONFIG, ServeTest, identity, infer_body, simple, wait_for
from support import run

PORTS = ("--address", "127.0.0.1", "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")


class Folders(ServeTest):
    def models(self, *paths):
        """Saves a model at each of these paths in the folder `nets`. Returns the folder."""
        for path in paths:
            (self.dir / "nets" / path).parent.mkdir(parents=True, exist_ok=True)
            self.save(identity(), f"nets/{path}")
        return self.dir / "nets"

    def ready(self, server, *names):
        for name in names:
            self.assertEqual(server.json("GET", f"/v2/models/{name}/ready")[0], 200, f"{name}\n{server.text()}")

    def warning(self, *args):
        """Returns the warning of a server that runs without models."""
        text = self.serve(*args).text()
        self.assertIn(" serves\n  no models\n", text)
        return text.partition("\n")[0]

    def test_model_files_outside_of_folders_of_models(self):
        root = self.models("a.onnx", "b.onnx")
        self.assertEqual(self.warning("--repository", root),
                         f"warning: the model repository '{root}' has model files outside of folders of models, which are not served: a.onnx, b.onnx; "
                         f"move a.onnx to {root}/a/1/model.onnx, or serve it with: tern serve --model a={root}/a.onnx")
        self.ready(self.serve("--model", f"a={root}/a.onnx"), "a")
        (root / "a/1").mkdir(parents=True)
        (root / "a.onnx").rename(root / "a/1/model.onnx")
        server = self.serve("--repository", root)
        self.ready(server, "a")
        self.assertIn("which are not served: b.onnx; move b.onnx to ", server.text())

    def test_a_repository_without_models(self):
        root = self.models("m/1/model.onnx")
        text = self.serve("--repository", root / "m").text()
        self.assertIn(f"'{root}/m' has the folder 1, as the folder of one model has; serve it with: tern serve --model m={root}/m, or name the folder above "
                      f"it: --repository {root}\n", text)
        self.ready(self.serve("--model", f"m={root}/m"), "m")
        (self.dir / "empty").mkdir()
        self.assertIn(f"has no folders of models, such as {self.dir}/empty/NAME/1 with the file model.onnx", self.warning("--repository", self.dir / "empty"))
        self.assertNotIn("warning", self.serve("--repository", self.dir / "empty", "--model-control", "poll").text())
        named_7 = self.models("7/1/model.onnx")
        self.assertNotIn("warning", self.serve("--repository", named_7).text())

    def test_a_folder_of_models_without_an_option(self):
        root = self.models("m/1/model.onnx", "n/3/model.onnx")
        self.ready(self.serve(root), "m", "n")
        self.ready(self.serve(root / "m"), "m")
        self.ready(self.serve(root / "n/3"), "3")

    def test_several_files(self):
        root = self.models("a.onnx", "b.onnx", "x/b.onnx")
        self.ok("convert", root / "b.onnx", "-o", root / "c.tern")
        self.ready(self.serve(root / "a.onnx", root / "c.tern", "--model", f"mine={root}/b.onnx"), "a", "c", "mine")
        self.refused("serve", root / "b.onnx", root / "x/b.onnx", says=["b.onnx' would both be served as 'b'", "--model NAME=PATH"])
        self.refused("serve", "", says="the path of a model is empty")
        self.refused("serve", root, says=[f"the folder '{root}' contains several models", f": tern serve {root}/a.onnx {root}/b.onnx {root}/c.tern, or",
                                          f"{root}/a/1/model.onnx"])

    def test_folders_without_versions(self):
        root = self.models("m/model.onnx", "n/net.onnx")
        self.refused("serve", root, says=f"{root}/m/1; serve them without versions: tern serve {root}/m {root}/n")
        self.ready(self.serve(root / "m", root / "n"), "m", "n")

    def test_help_shows_that_the_model_is_optional(self):
        self.assertIn("\nUsage: tern serve [OPTIONS] [MODEL...]\n", self.ok("serve", "--help").stdout)


class Starts(ServeTest):
    def test_an_error_of_the_start_is_printed_once(self):
        for name in ("one", "two"):
            (self.dir / f"{name}.onnx").write_bytes(b"no model")
        done = self.refused("serve", self.dir / "one.onnx", self.dir / "two.onnx", *PORTS)
        self.assertEqual(done.stderr.count("model 'one' cannot be loaded: the file is"), 1, done.stderr)
        self.assertEqual(done.stderr.count("the file is a text file"), 2, done.stderr)
        self.assertNotIn("error: ", done.stderr)
        root = self.repository({"id": (identity(), None)})
        (root / "bad/1").mkdir(parents=True)
        (root / "bad/1/model.onnx").write_bytes(b"no model")
        done = self.refused("serve", "--repository", root, "--strict", *PORTS, says="model 'bad' cannot be loaded: the file is a text file")
        self.assertEqual(done.stderr.count("the file is a text file"), 1, done.stderr)
        text = self.serve("--repository", root).text()
        self.assertIn("error: failed to load 'bad', version 1 is at UNAVAILABLE state: the file is a text file", text)
        done = self.refused("serve", "--model", f"none={self.dir}/none.onnx", *PORTS)
        self.assertEqual(done.stderr.count("does not exist"), 1, done.stderr)

    def test_a_port_in_use_is_printed_once(self):
        port = self.serve().ports["http"]
        done = run("serve", "--http-port", port, "--address", "127.0.0.1", "--grpc-port", 0, "--metrics-port", 0)
        self.assertEqual((done.returncode, done.stderr.count("in use")), (2, 1), done.stderr)

    def test_two_signals_end_the_server_at_once(self):
        server = self.serve("--exit-timeout-secs", "60")
        with socket.create_connection(("127.0.0.1", server.ports["http"])) as client:
            client.sendall(b"POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.2)  # until the server has read the start of the request
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.1)
            self.assertIsNone(server.process.poll(), server.text())
            server.process.send_signal(signal.SIGINT)
            wait_for(lambda: server.process.poll() is not None, 30)
        self.assertEqual(server.process.returncode, 1)
        self.assertTrue(server.text().endswith("tern: second signal\n"), server.text())


class Requests(ServeTest):
    def infer(self, server, model, items):
        status, answer = server.json("POST", f"/v2/models/{model}/infer", infer_body("x", np.zeros((items, 3), np.float32)))
        return status, answer.get("error", "")

    def test_more_items_than_a_batch(self):
        server = self.serve("--model", f"id={self.save(identity())}")
        self.assertEqual(self.infer(server, "id", 4)[0], 200)
        status, error = self.infer(server, "id", 5)
        self.assertEqual(status, 400)
        self.assertIn("batch-size must be <= 4 for 'id', got 5; max_batch_size in the model's config.pbtxt raises the limit", error)

    def test_max_batch_size_0_alone_is_completed(self):
        """docs/guide/serving.md describes both configurations."""
        off = 'max_batch_size: 0\ninput [ { name: "x" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]'
        server = self.serve("--repository", self.repository({"open": (identity(), "max_batch_size: 0"), "off": (identity(), off)}))
        sizes = {name: server.json("GET", f"/v2/models/{name}/config")[1].get("max_batch_size", 0) for name in ("open", "off")}
        self.assertEqual(sizes, {"open": 4, "off": 0})
        self.assertEqual((self.infer(server, "open", 9)[0], self.infer(server, "off", 9)[0]), (400, 200))

    def test_unknown_paths_name_the_right_requests(self):
        server = self.serve("--repository", self.repository({"simple": (simple(), SIMPLE_CONFIG)}))
        status, answer = server.json("GET", "/v2/models")
        self.assertEqual((status, answer["error"]), (404, "Not Found; POST /v2/repository/index lists the models, GET /v2/models/NAME describes a model, "
                                                          "POST /v2/models/NAME/infer runs it"))
        status, answer = server.json("GET", "/v2/repository/index")
        self.assertEqual((status, answer["error"]), (405, "Method Not Allowed; the method of this path is POST"))
        status, _, data = server.call("GET", "/v2", port="metrics")
        self.assertEqual((status, json.loads(data)["error"]), (404, "Not Found; this port serves only GET /metrics"))
