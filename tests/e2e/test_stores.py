"""Remote repositories: s3://, gs://, https:// and file:// against servers in this process, with faults."""

import hashlib
import http.client
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fake_store import ACCESS_KEY, SECRET_KEY, TOKEN, FakeStore, GoogleHandler, WebHandler
from serving import Server, ServeTest, wait_for
from support import FLOAT, TERN, make_model, run

AWS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_SESSION_TOKEN": TOKEN, "AWS_EC2_METADATA_DISABLED": "true"}
SETTLED = 3600  # seconds: older than any time in which a version must not change
NO_PORTS = ("--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")
POLL = ("--model-control", "poll", "--poll-secs", "1", "--store-settle-secs", "2")


def plus(value):
    """Returns the bytes of a model that adds a number, so that an answer tells which version gave it."""
    node = helper.make_node("Add", ["x", "c"], ["y"])
    return make_model([node], {"x": (FLOAT, ["N", 1])}, {"y": (FLOAT, ["N", 1])}, {"c": np.full((1,), value, np.float32)}).SerializeToString()


def external(value, size=4000):
    """Returns a model of two files: the graph, and the weights in weights.bin."""
    weights = np.full((size,), value, np.float32)
    node = helper.make_node("Add", ["x", "c"], ["y"])
    model = make_model([node], {"x": (FLOAT, [1, size])}, {"y": (FLOAT, [1, size])}, {"c": weights})
    tensor = model.graph.initializer[0]
    tensor.CopyFrom(numpy_helper.from_array(weights, "c"))
    onnx.external_data_helper.set_external_data(tensor, "weights.bin")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    return model.SerializeToString(), weights.tobytes()


def sums(files):
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())


class StoreTest(ServeTest):
    def store(self, handler=None):
        store = FakeStore(handler) if handler else FakeStore()
        self.addCleanup(store.stop)
        return store

    def serve_s3(self, store, *args, env=None):
        return self.serve("--repository", f"s3://{store.endpoint}/models/prod", *args, env={**AWS, **(env or {})})

    def value(self, server, model="add", version=None):
        """Returns what the model adds to 0; None: the request fails."""
        path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"
        status, body = server.json("POST", path, {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [0]}]})
        return body["outputs"][0]["data"][0] if status == 200 else None

    def metric(self, server, name):
        text = server.call("GET", "/metrics", port="metrics")[2].decode()
        return float(re.search(rf"^{name}{{.*}} (\S+)$", text, re.M)[1])


class S3(StoreTest):
    def test_versions_follow_the_bucket(self):
        store = self.store()
        store.objects.page = 2
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        store.put("prod/add/config.pbtxt", "version_policy { all {} }", SETTLED)
        store.put("prod/other model/1/model.onnx", plus(7), SETTLED)
        store.put("elsewhere/no/1/model.onnx", plus(9), SETTLED)
        server = self.serve_s3(store, *POLL)
        self.assertEqual((self.value(server), self.value(server, "other%20model")), (1, 7))
        index = {(m["name"], m.get("version")) for m in server.json("POST", "/v2/repository/index", {})[1]}
        self.assertEqual(index, {("add", "1"), ("other model", "1")})
        downloads = [r for r in store.requests if "model.onnx" in r]
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        wait_for(lambda: self.value(server) == 2)
        self.assertEqual(self.value(server, version=1), 1)
        # Only the new file was fetched.
        self.assertEqual(len([r for r in store.requests if "model.onnx" in r]), len(downloads) + 1)
        store.put("prod/add/2/model.onnx", plus(3), SETTLED)
        wait_for(lambda: self.value(server) == 3)
        store.delete("prod/add/1/")
        wait_for(lambda: self.value(server, version=1) is None)
        store.delete("prod/add/")
        wait_for(lambda: self.value(server) is None)
        self.assertEqual(self.value(server, "other%20model"), 7)
        self.assertEqual(server.stop(), 0)

    def test_nothing_is_lost_while_the_store_is_gone(self):
        store, cache = self.store(), self.dir / "cache"
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        server = self.serve_s3(store, *POLL, "--repository-cache", cache, "--store-attempts", "2")
        answers, done = [], threading.Event()

        def ask():
            while not done.is_set():
                answers.append(self.value(server))

        client = threading.Thread(target=ask)
        client.start()
        self.addCleanup(done.set)
        self.assertEqual(self.metric(server, "tern_repository_up"), 1)
        store.stop()
        wait_for(lambda: self.metric(server, "tern_repository_failed_listings_total") >= 2)
        self.assertEqual(self.metric(server, "tern_repository_up"), 0)
        self.assertIn("cannot be read, its models stay as they are", server.text())
        before = len(answers)
        wait_for(lambda: len(answers) > before + 50)
        store.start()
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        wait_for(lambda: self.value(server) == 2)
        done.set()
        client.join()
        self.assertEqual({value for value in answers if value not in (1, 2)}, set())
        self.assertEqual(answers, sorted(answers))
        self.assertEqual(self.metric(server, "tern_repository_up"), 1)
        self.assertEqual(server.stop(), 0)
        # A restart without the store serves the last copies.
        store.stop()
        server = self.serve_s3(store, *POLL, "--repository-cache", cache, "--store-attempts", "2")
        self.assertEqual(self.value(server), 2)
        store.start()
        store.put("prod/add/3/model.onnx", plus(3), SETTLED)
        wait_for(lambda: self.value(server) == 3)

    def test_start_without_the_store_fails(self):
        store = self.store()
        store.stop()
        place = f"s3://{store.endpoint}/models/prod"
        for key, says in ((SECRET_KEY, ("cannot connect", "there are no copies", place)), ("wrong", ("status 403", "SignatureDoesNotMatch"))):
            done = run("serve", "--repository", place, "--store-attempts", "2", *NO_PORTS, env={**os.environ, **AWS, "AWS_SECRET_ACCESS_KEY": key})
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            for text in says:
                self.assertIn(text, done.stderr)
            if not store.server:
                store.start()

    def test_a_half_copied_version_is_never_loaded(self):
        store = self.store()
        graph, weights = external(5)
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        server = self.serve_s3(store, *POLL)
        files = {"model.onnx": plus(2), "extra.txt": b"more"}
        # The checksums are there, a file is missing: however old the files are, the version is not copied.
        store.put("prod/add/2/SHA256SUMS", sums(files), SETTLED)
        store.put("prod/add/2/model.onnx", files["model.onnx"], SETTLED)
        wait_for(lambda: "SHA256SUMS lists 'extra.txt', which is not there" in server.text())
        self.assertEqual((self.value(server), self.metric(server, "tern_repository_broken_versions")), (1, 1))
        # A file with other content than its checksum.
        store.put("prod/add/2/extra.txt", "mora", SETTLED)
        wait_for(lambda: "the SHA-256 of 'add/2/extra.txt' is" in server.text())
        self.assertEqual(self.value(server), 1)
        store.put("prod/add/2/extra.txt", "more")
        wait_for(lambda: self.value(server) == 2)  # at once, because the checksums say that it is complete
        # Without checksums, a version waits until it has not changed for some time.
        store.put("prod/add/3/model.onnx", graph)
        time.sleep(1.5)
        store.put("prod/add/3/weights.bin", weights[:100])
        time.sleep(1.5)
        store.put("prod/add/3/weights.bin", weights)
        self.assertEqual(self.value(server), 2)
        row = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4000], "data": [0] * 4000}]}
        wait_for(lambda: server.json("POST", "/v2/models/add/versions/3/infer", row)[0] == 200)
        self.assertEqual(server.json("POST", "/v2/models/add/infer", row)[1]["outputs"][0]["data"], [5.0] * 4000)
        self.assertNotIn("version 3 is at UNAVAILABLE", server.text())

    def test_faults_of_transfers_are_repaired(self):
        store = self.store()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        store.put("prod/big/1/model.onnx", plus(4), SETTLED)
        store.put("prod/big/1/data.bin", os.urandom(300_000), SETTLED)
        store.objects.failures, store.objects.cut = 2, 2
        server = self.serve_s3(store, *POLL)
        self.assertEqual((self.value(server), self.value(server, "big")), (1, 4))
        self.assertGreaterEqual(self.metric(server, "tern_repository_retries_total"), 4)
        # Content that differs from its MD5 is never taken over.
        store.objects.corrupt.add("prod/add/2/model.onnx")
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        wait_for(lambda: "the MD5 of 'add/2/model.onnx' is" in server.text())
        self.assertEqual((self.value(server), self.value(server, version=2)), (1, None))
        store.objects.corrupt.clear()
        wait_for(lambda: self.value(server) == 2)

    def test_hostile_keys_stay_outside(self):
        store = self.store()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        for key in ("prod/../../../etc/cron.d/x", "prod//etc/x", "prod/bad/1/../../../../x", "prod/bad/1/model.onnx", "prod/worse/1/a\nb",
                    "prod/both/1/a", "prod/both/1/a/b", "prod/.hidden/1/model.onnx", "prod/long/1/" + "x" * 300):
            store.put(key, plus(6), SETTLED)
        server = self.serve_s3(store, *POLL, "--repository-cache", self.dir / "cache")
        self.assertEqual([self.value(server, m) for m in ("add", "bad", "worse", "both", "long", ".hidden")], [1] + [None] * 5)
        for text in ("'bad/1/../../../../x' is not a plain relative path", "has a control character", "is both a file and a folder", "has a name of more than 255 bytes"):
            self.assertIn(text, server.text())
        kept = [str(p.relative_to(self.dir / "cache")) for p in (self.dir / "cache").rglob("*") if p.is_file()]
        self.assertEqual(sorted(p.split("/", 1)[1].split("/")[0] for p in kept), ["copies", "copies", "lock", "url"], kept)

    def test_explicit_control(self):
        store = self.store()
        for name, value in (("add", 1), ("b", 2)):
            store.put(f"prod/{name}/1/model.onnx", plus(value))
        server = self.serve_s3(store, "--model-control", "explicit", "--poll-secs", "1", "--store-attempts", "1")
        self.assertFalse([r for r in store.requests if "model.onnx" in r])
        self.assertEqual({m["name"] for m in server.json("POST", "/v2/repository/index", {})[1]}, {"add", "b"})
        self.assertEqual(server.json("POST", "/v2/repository/models/add/load", {})[0], 200)
        self.assertEqual((self.value(server), self.value(server, "b")), (1, None))
        store.put("prod/c/1/model.onnx", plus(3))
        self.assertEqual(server.json("POST", "/v2/repository/models/c/load", {})[0], 200)
        store.put("prod/add/2/model.onnx", plus(5))
        self.assertEqual(server.json("POST", "/v2/repository/models/add/load", {})[0], 200)
        self.assertEqual(self.value(server), 5)
        self.assertNotEqual(server.json("POST", "/v2/repository/models/none/load", {})[0], 200)
        # Without the store, models with a copy can be loaded; others fail with the reason.
        store.stop()
        self.assertEqual(server.json("POST", "/v2/repository/models/add/unload", {})[0], 200)
        self.assertEqual(server.json("POST", "/v2/repository/models/add/load", {})[0], 200)
        self.assertEqual(self.value(server), 5)
        status, body = server.json("POST", "/v2/repository/models/b/load", {})
        self.assertNotEqual(status, 200)
        self.assertIn("cannot connect", body["error"])

    def test_a_full_cache_keeps_the_last_copy(self):
        store = self.store()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        server = self.serve_s3(store, *POLL, "--repository-cache", self.dir / "cache", "--repository-cache-bytes", 100_000)
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        store.put("prod/add/2/data.bin", os.urandom(200_000), SETTLED)
        wait_for(lambda: "the repository cache has room for" in server.text())
        self.assertEqual((self.value(server), self.metric(server, "tern_repository_broken_versions")), (1, 1))
        store.put("prod/add/2/data.bin", os.urandom(40_000), SETTLED)
        wait_for(lambda: self.value(server) == 2)
        # Copies that were replaced make room.
        for i in range(3, 6):
            store.put("prod/add/2/data.bin", os.urandom(40_000), SETTLED)
            store.put("prod/add/2/model.onnx", plus(i), SETTLED)
            wait_for(lambda i=i: self.value(server) == i)

    def test_the_server_listens_while_it_copies(self):
        store = self.store()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        store.put("prod/add/1/data.bin", os.urandom(1_000_000), SETTLED)
        store.objects.slow = 3
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([TERN, "serve", "--repository", f"s3://{store.endpoint}/models/prod", "--address", "127.0.0.1", "--http-port", str(port),
                                    "--grpc-port", "0", "--metrics-port", "0"], env={**os.environ, **AWS}, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

        def status(what):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request("GET", f"/v2/health/{what}")
                return connection.getresponse().status
            except OSError:
                return None
            finally:
                connection.close()

        wait_for(lambda: status("live") == 200)
        self.assertNotEqual(status("ready"), 200)
        wait_for(lambda: [r for r in store.requests if "data.bin" in r])
        self.assertNotEqual(status("ready"), 200)
        store.objects.slow = 0
        wait_for(lambda: status("ready") == 200)

    def test_a_signal_ends_a_transfer(self):
        store = self.store()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        server = self.serve_s3(store, *POLL)
        store.objects.slow = 0.5
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        wait_for(lambda: [r for r in store.requests if "/2/model.onnx" in r])
        begin = time.monotonic()
        self.assertEqual(server.stop(signal.SIGTERM), 0)
        self.assertLess(time.monotonic() - begin, 3)

    def test_two_servers_do_not_share_a_cache(self):
        store = self.store()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        place = ("--repository-cache", self.dir / "cache")
        self.serve_s3(store, *place)
        self.refused("serve", "--repository", f"s3://{store.endpoint}/models/prod", *place, *NO_PORTS,
                     env={**os.environ, **AWS}, says="another server uses the repository cache")

    @unittest.skipUnless(os.geteuid() == 0, "only root can mount a small disk")
    def test_a_full_disk(self):
        store, cache = self.store(), self.dir / "cache"
        cache.mkdir()
        store.put("prod/add/1/model.onnx", plus(1), SETTLED)
        store.put("prod/add/1/data.bin", os.urandom(1_000_000), SETTLED)
        # A mount namespace of its own has the disk of 20 MB, of which 16 MiB stay free.
        script = 'mount -t tmpfs -o size=20m none "$0" && exec "$@"'
        probe = subprocess.run(["unshare", "-m", "bash", "-c", script, cache, "true"], capture_output=True, check=False)
        if probe.returncode != 0:
            self.skipTest("this machine does not let tests mount a disk")
        folder = self.dir / "small"
        folder.mkdir()
        wrapper = self.dir / "tern"
        wrapper.write_text(f'#!/bin/bash\nexec unshare -m bash -c \'{script}\' "{cache}" "{TERN}" "$@"\n')
        wrapper.chmod(0o755)
        server = Server(folder, "--repository", f"s3://{store.endpoint}/models/prod", "--repository-cache", cache, *POLL, env=AWS, tern=wrapper)
        self.addCleanup(server.kill)
        server.start()
        self.assertEqual(self.value(server), 1)
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        store.put("prod/add/2/data.bin", os.urandom(4_000_000), SETTLED)
        wait_for(lambda: "(the disk is full)" in server.text())
        self.assertEqual(self.value(server), 1)
        store.put("prod/add/2/data.bin", os.urandom(1_000_000), SETTLED)
        wait_for(lambda: self.value(server) == 2)


class OtherStores(StoreTest):
    def test_google(self):
        store = self.store(GoogleHandler)
        store.objects.page = 2
        for name in ("add", "b", "c"):
            store.put(f"prod/{name}/1/model.onnx", plus(1), SETTLED)
        env = {"STORAGE_EMULATOR_HOST": store.endpoint, "GOOGLE_OAUTH_ACCESS_TOKEN": TOKEN}
        server = self.serve("--repository", "gs://models/prod", *POLL, env=env)
        self.assertEqual([self.value(server, name) for name in ("add", "b", "c")], [1, 1, 1])
        store.put("prod/add/2/model.onnx", plus(2), SETTLED)
        wait_for(lambda: self.value(server) == 2)

    def test_web(self):
        store = self.store(WebHandler)
        files = {"add/1/model.onnx": plus(1), "add/config.pbtxt": b"max_batch_size: 4"}
        for name, data in files.items():
            store.put(f"repo/{name}", data)
        store.put("repo/SHA256SUMS", sums(files))
        server = self.serve("--repository", f"{store.endpoint}/moved/repo/", *POLL)
        self.assertEqual(self.value(server), 1)
        # The index is replaced last. A file that differs from the index is not taken over.
        files["add/1/model.onnx"] = plus(2)
        store.put("repo/SHA256SUMS", sums(files))
        wait_for(lambda: "the SHA-256 of 'add/1/model.onnx' is" in server.text())
        self.assertEqual(self.value(server), 1)
        store.put("repo/add/1/model.onnx", files["add/1/model.onnx"])
        wait_for(lambda: self.value(server) == 2)

    def test_folder(self):
        root = self.dir / "share"
        (root / "add" / "1").mkdir(parents=True)
        (root / "add" / "1" / "model.onnx").write_bytes(plus(1))
        server = self.serve("--repository", f"file://{root}", *POLL)
        self.assertEqual(self.value(server), 1)
        (root / "add" / "2").mkdir()
        with open(root / "add" / "2" / "model.onnx", "wb") as file:
            for byte in plus(2):
                file.write(bytes([byte]))
                file.flush()
                time.sleep(0.02)
        wait_for(lambda: self.value(server) == 2)
        self.assertNotIn("UNAVAILABLE", server.text())

    def test_bad_urls(self):
        for url, says in (("s3://", "no valid name of a bucket"), ("s3://a/b", "no valid name"), ("https://", "not a URL"),
                          ("https://h/p?x=1", "must not have a query"), ("file://relative", "file:///PATH"),
                          ("s3://http://h:99999/bucket", "no valid port")):
            self.refused("serve", "--repository", url, *NO_PORTS, says=says)


if __name__ == "__main__":
    unittest.main()
