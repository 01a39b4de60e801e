"""Access control, TLS that is replaced, quotas and the audit log of `tern serve`."""

import http.client
import json
import os
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

from securing import Authority, bearer, has_openssl, make_token
from serving import ROOT, SIMPLE_CONFIG, ServeTest, infer_body, simple, slow, wait_for
from support import TERN, run
from test_serve_clients import missing

SEVEN = (ROOT / "examples/digits/seven.json").read_text()


def metric(server, name, token):
    _, _, data = server.call("GET", "/metrics", headers=bearer(token), port="metrics")
    found = re.search(rf"^{re.escape(name)} (\S+)$", data.decode(), re.M)
    return float(found.group(1)) if found else None


class Tokens(ServeTest):
    def setUp(self):
        super().setUp()
        self.file = self.dir / "access.yml"

    def test_roles_and_commands(self):
        runner = make_token(self.file, "alice", "--role", "infer", "--model", "dig*", "--expires", "90d")
        watcher = make_token(self.file, "prometheus", "--role", "observe")
        log = self.dir / "access.json"
        server = self.serve("--access-file", self.file, "--log", log)
        self.assertNotIn(runner, self.file.read_text())
        self.assertEqual(self.file.stat().st_mode & 0o077, 0)
        infer = "/v2/models/digits/infer"
        status, headers, body = server.call("POST", infer, SEVEN)
        self.assertEqual((status, headers["WWW-Authenticate"]), (401, 'Bearer realm="tern"'))
        self.assertEqual(json.loads(body), {"error": "the request has no valid credentials"})
        self.assertEqual(server.call("POST", infer, SEVEN, bearer(runner))[0], 200)
        self.assertEqual(server.call("POST", infer, SEVEN, bearer(watcher))[0], 403)
        self.assertEqual(server.call("GET", "/v2/models/other", headers=bearer(runner))[0], 403)
        self.assertEqual(server.call("GET", "/metrics", port="metrics")[0], 401)
        self.assertEqual(server.call("GET", "/metrics", headers=bearer(runner), port="metrics")[0], 403)
        self.assertEqual(metric(server, 'tern_tenant_requests_total{tenant="alice"}', watcher), 3)
        for path in ("live", "ready"):
            self.assertEqual(server.call("GET", f"/v2/health/{path}")[0], 200)
        for flags, env in ((["--token", runner], {}), ([], {"TERN_TOKEN": runner})):
            for protocol, place in (("http", server.http), ("grpc", server.grpc)):
                done = run("load", place, "digits", "--protocol", protocol, "--seconds", "0.2", "--warmup", "0", "--json", *flags,
                           env={**os.environ, **env})
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual(report["errors"], 0, report)
                self.assertGreater(report["answers"], 0)
        self.refused("load", server.http, "digits", says="HTTP 401")
        self.refused("load", server.grpc, "digits", "--protocol", "grpc", says="gRPC 16")
        self.refused("top", server.metrics, "--once", says="status 401")
        self.refused("load", server.http, "digits", "--token", "a b", says="printable")
        self.assertEqual(self.json("top", server.metrics, "--once", "--json", "--interval", "0.1", "--token", watcher)["models"][0]["model"], "digits")
        server.stop()
        users = {json.loads(line).get("user") for line in log.read_text().splitlines()}
        self.assertEqual(users, {None, "alice", "prometheus"})

    def test_changes_of_the_file_take_effect(self):
        first = make_token(self.file, "first", "--role", "infer")
        server = self.serve("--access-file", self.file)

        def status(token):
            return server.call("GET", "/v2", headers=bearer(token))[0]

        self.assertEqual(status(first), 200)
        second = make_token(self.file, "second", "--role", "infer")
        wait_for(lambda: status(second) == 200, 10)
        self.file.write_text(self.file.read_text() + "- name: [broken\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "entries of before stay" in server.text(), 10)
        self.assertEqual((status(first), status(second)), (200, 200))
        entries = self.file.read_text().split("- name: ")
        self.file.write_text("- name: " + entries[2])  # revokes the first
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: status(first) == 401, 10)
        self.assertEqual(status(second), 200)

    def test_mistakes_at_the_start(self):
        self.file.write_text("- name: a\n  roles: [king]\n")
        self.refused("serve", "--access-file", self.file, "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0",
                     says=["access.yml", "line 2", "'king' is no role"])
        self.refused("token", self.file, "--name", "x", "--role", "infer", says="'king' is no role")
        self.refused("token", self.dir / "new.yml", "--role", "infer", says="--name is missing")
        self.refused("token", self.dir / "new.yml", "--name", "x", says="--role is missing")
        self.refused("serve", "--access-open", "all", says="must be none, health")
        self.refused("serve", "--tls-client-auth", "request", says="needs tls-client-ca")
        self.refused("serve", "--metrics-tls", says="needs tls-certificate")

    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient[grpc] is not installed")
    def test_clients_of_triton_send_tokens(self):
        import tritonclient.grpc as grpcclient  # pylint: disable=import-outside-toplevel
        import tritonclient.http as httpclient  # pylint: disable=import-outside-toplevel
        token = make_token(self.file, "alice", "--role", "infer")
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG)})
        server = self.serve("--access-file", self.file, "--repository", root)
        value = np.arange(16, dtype=np.int32).reshape(1, 16)
        for module, place, header in ((httpclient, server.http, "Authorization"), (grpcclient, server.grpc, "authorization")):
            inputs = [module.InferInput(name, [1, 16], "INT32") for name in ("INPUT0", "INPUT1")]
            for tensor in inputs:
                tensor.set_data_from_numpy(value)
            with module.InferenceServerClient(place) as client:
                self.assertTrue(client.is_server_ready())
                with self.assertRaisesRegex(Exception, "no valid credentials"):
                    client.infer("simple", inputs)
                result = client.infer("simple", inputs, headers={header: f"Bearer {token}"})
                np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), 2 * value)

    def test_audit_log(self):
        audit = self.dir / "audit.json"
        boss = make_token(self.file, "boss", "--role", "admin")
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG)})
        server = self.serve("--access-file", self.file, "--repository", root, "--model-control", "explicit", "--audit-log", audit)
        self.assertEqual(server.call("POST", "/v2/repository/models/simple/load", headers=bearer(boss))[0], 200)
        self.assertEqual(server.call("POST", "/v2/repository/models/none/load", headers=bearer(boss))[0], 404)
        self.assertEqual(server.call("POST", "/v2/logging", '{"log_warning":false}', bearer(boss))[0], 200)
        server.call("POST", "/v2/repository/models/simple/unload")  # without a token
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        self.assertEqual([(line["event"], line["number"], line.get("status")) for line in lines],
                         [("start", 1, None), ("end", 1, 200), ("start", 2, None), ("end", 2, 404), ("start", 3, None), ("end", 3, 200)])
        self.assertEqual({line["user"] for line in lines}, {"boss"})
        self.assertEqual(lines[0]["name"], "simple")
        self.assertIn("error", lines[3])
        self.assertEqual(lines[4]["detail"], '{"log_warning":false}')
        audit.rename(self.dir / "old.json")
        server.process.send_signal(signal.SIGHUP)
        wait_for(audit.exists, 10)
        self.assertEqual(server.call("POST", "/v2/logging", '{"log_warning":true}', bearer(boss))[0], 200)
        self.assertEqual(len(audit.read_text().splitlines()), 2)
        server.stop()
        full = self.serve("--audit-log", "/dev/full", "--model-control", "explicit", "--repository", root)
        status, _, body = full.call("POST", "/v2/repository/models/simple/load")
        self.assertEqual(status, 503)
        self.assertIn("the audit log cannot be written", json.loads(body)["error"])
        self.assertEqual(full.call("GET", "/v2/models/simple/ready")[0], 404)

    def test_quota(self):
        token = make_token(self.file, "batch", "--role", "infer", "--requests", "50", "--burst", "5")
        watcher = make_token(self.file, "watcher", "--role", "observe")
        server = self.serve("--access-file", self.file)
        report = self.json("load", server.http, "digits", "--rate", "500", "--seconds", "3", "--warmup", "0", "--token", token, "--json")
        self.assertAlmostEqual(report["throughput"], 50, delta=10)
        self.assertGreater(report["refused"], 1000)
        self.assertEqual(report["errors"], report["refused"], report["messages"])
        self.assertIn("the quota of this client is used up: 50 requests per second", str(report["messages"]))
        refused = metric(server, 'tern_tenant_refused_total{tenant="batch",quota="rate"}', watcher)
        self.assertAlmostEqual(refused, report["refused"], delta=5)
        self.assertEqual(metric(server, 'tern_tenant_in_flight{tenant="batch"}', watcher), 0)

    def test_unix_socket(self):
        token, path = make_token(self.file, "a", "--role", "infer"), self.dir / "http.sock"
        self.serve("--http-address", f"unix:{path}", "--access-file", self.file)

        def status(fields):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.sendall(f"GET /v2 HTTP/1.1\r\nHost: x\r\n{fields}Connection: close\r\n\r\n".encode())
                return int(client.makefile("rb").readline().split()[1])

        self.assertEqual(status(""), 401)
        self.assertEqual(status(f"Authorization: Bearer {token}\r\n"), 200)
        for _ in range(40):
            self.assertEqual(status("Authorization: Bearer wrong\r\n"), 401, "local clients have no addresses that could be blocked")


class Client(threading.Thread):
    """Sends requests until `stop` is set, and counts the answers. `keep`: over one connection."""

    def __init__(self, port, context, keep):
        super().__init__()
        self.port, self.context, self.keep = port, context, keep
        self.stop, self.sent, self.answered, self.refused = threading.Event(), 0, 0, 0
        self.connection = None

    def connect(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.context)
        try:
            connection.connect()
        except ssl.SSLCertVerificationError:
            self.refused += 1  # this client saw that the certificate has expired, and sent nothing
            time.sleep(0.01)
            return None
        return connection

    def run(self):
        while not self.stop.is_set():
            self.connection = self.connection or self.connect()
            if not self.connection:
                continue
            self.sent += 1
            self.connection.request("POST", "/v2/models/digits/infer", SEVEN)
            answer = self.connection.getresponse()
            self.answered += b'"outputs"' in answer.read() and answer.status == 200
            if not self.keep or self.stop.is_set():
                self.connection.close()
                self.connection = None


@unittest.skipUnless(has_openssl(), "openssl is not installed")
class Certificates(ServeTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.dir / "ca")

    def context(self, *pair):
        context = ssl.create_default_context(cafile=str(self.authority.ca))
        if pair:
            context.load_cert_chain(*pair)
        return context

    def status(self, port, context, path="/v2", headers=None):
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
        try:
            connection.request("GET", path, headers=headers or {})
            return connection.getresponse().status
        finally:
            connection.close()

    def test_expired_and_replaced_while_serving(self):
        cert, key = self.authority.issue("short", seconds=6)
        used = self.dir / "used.pem", self.dir / "used.key"
        shutil.copy(cert, used[0])
        shutil.copy(key, used[1])
        end = time.monotonic() + 6
        server = self.serve("--tls-certificate", used[0], "--tls-key", used[1])
        clients = [Client(server.ports["http"], self.context(), keep) for keep in (True, True, False, False)]
        for client in clients:
            client.start()
        try:
            wait_for(lambda: all(client.answered > 5 for client in clients))
            time.sleep(max(0.0, end + 0.5 - time.monotonic()))
            before = [client.answered for client in clients]
            wait_for(lambda: "has expired" in server.text(), 10)
            wait_for(lambda: all(client.answered > count + 5 for client, count in zip(clients[:2], before)))
            wait_for(lambda: all(client.refused > 0 for client in clients[2:]))
            self.assertLess(self.remaining(server), 0)
            # First the certificate, later the key: in between, the pair does not fit.
            cert, key = self.authority.issue("long")
            shutil.copy(cert, used[0])
            wait_for(lambda: "does not belong to the certificate" in server.text(), 10)
            shutil.copy(key, self.dir / "new.key")
            os.rename(self.dir / "new.key", used[1])
            wait_for(lambda: "new connections use the new certificate" in server.text(), 10)
            after = [client.answered for client in clients]
            wait_for(lambda: all(client.answered > count + 5 for client, count in zip(clients, after)))
            self.assertGreater(self.remaining(server), 80000)
        finally:
            for client in clients:
                client.stop.set()
            for client in clients:
                client.join()
        for client in clients:
            self.assertEqual(client.answered, client.sent, "every request that was sent has its answer")
        self.assertEqual([client.refused for client in clients[:2]], [0, 0], "old connections go on")
        self.assertEqual(server.stop(), 0)
        print(f"certificate expired and replaced: {sum(c.sent for c in clients)} requests, all answered; "
              f"{sum(c.refused for c in clients)} handshakes were refused by clients while it was expired")

    def remaining(self, server):
        _, _, data = server.call("GET", "/metrics", port="metrics")
        return float(re.search(r"^tern_tls_certificate_remaining_seconds (\S+)$", data.decode(), re.M).group(1))

    def test_roles_by_certificate(self):
        cert, key = self.authority.issue("server")
        file = self.dir / "access.yml"
        file.write_text("- name: trainer\n  subject: CN=trainer\n  roles: [infer]\n"
                        "- name: mesh\n  san: URI:spiffe://example/watcher\n  roles: [observe]\n")
        token = make_token(file, "boss", "--role", "admin")
        flags = ("--tls-certificate", cert, "--tls-key", key, "--tls-client-ca", self.authority.ca, "--access-file", file, "--metrics-tls")
        server = self.serve(*flags, "--tls-client-auth", "request")
        port, metrics = server.ports["http"], server.ports["metrics"]
        trainer = self.context(*self.authority.issue("trainer"))
        mesh = self.context(*self.authority.issue("mesh", san="URI:spiffe://example/watcher"))
        stranger = self.context(*self.authority.issue("stranger"))
        self.assertEqual(self.status(port, trainer), 200)
        self.assertEqual(self.status(port, trainer, "/v2/models/stats"), 403)
        self.assertEqual(self.status(port, mesh, "/v2/models/stats"), 200)
        self.assertEqual(self.status(metrics, mesh, "/metrics"), 200)
        self.assertEqual(self.status(metrics, trainer, "/metrics"), 403)
        self.assertEqual(self.status(port, stranger), 401)
        self.assertEqual(self.status(port, self.context()), 401)
        self.assertEqual(self.status(port, self.context(), headers=bearer(token)), 200)
        self.assertEqual(self.status(port, trainer, headers=bearer("wrong")), 401)
        # A certificate of another authority that claims the same name.
        other = Authority(self.dir / "other")
        forged = self.context(*other.issue("trainer"))
        with self.assertRaises(OSError):
            self.status(port, forged)
        required = self.serve(*flags)
        with self.assertRaises(OSError):
            self.status(required.ports["http"], self.context(), headers=bearer(token))
        self.assertEqual(self.status(required.ports["http"], trainer), 200)

    def test_tls_1_2_can_be_switched_off(self):
        cert, key = self.authority.issue("server")
        server = self.serve("--tls-certificate", cert, "--tls-key", key, "--tls-min-version", "1.3")
        old = self.context()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with self.assertRaises(OSError):
            self.status(server.ports["http"], old)
        self.assertEqual(self.status(server.ports["http"], self.context()), 200)


class FairShare(ServeTest):
    def test_a_tenant_over_its_quota_does_not_delay_another(self):
        """A loose bound, because test machines are busy. bench/serving/tenants.py measures."""
        file = self.dir / "access.yml"
        quota = ("--role", "infer", "--requests", "20")
        greedy, modest = make_token(file, "greedy", *quota), make_token(file, "modest", *quota)
        server = self.serve("--access-file", file, "--repository", self.repository({"slow": (slow(), None)}))
        command = [TERN, "load", server.http, "slow", "--seconds", "3", "--warmup", "0", "--json"]
        flood = subprocess.Popen([*command, "--rate", "200", "--token", greedy], stdout=subprocess.PIPE, text=True)
        report = self.json(*command[1:], "--rate", "10", "--token", modest)
        flooded = json.loads(flood.communicate(timeout=60)[0])
        self.assertEqual(report["errors"], 0, report)
        self.assertGreater(flooded["refused"], 300)
        self.assertAlmostEqual(flooded["throughput"], 20 + 20 / 3, delta=6)
        body = infer_body("x", np.zeros((64, 512), np.float32))
        self.assertEqual(server.call("POST", "/v2/models/slow/infer", json.dumps(body), bearer(modest))[0], 200)


if __name__ == "__main__":
    unittest.main()
