"""Attempts to get past the access control of `tern serve`. Every one must be refused, and nothing may have happened afterwards."""

import http.client
import json
import re
import socket
import struct
import unittest

import numpy as np

from securing import bearer, make_token
from serving import SIMPLE_CONFIG, ServeTest, simple, wait_for
from test_serve_clients import missing

BODY = json.dumps({"inputs": [{"name": name, "datatype": "INT32", "shape": [1, 16], "data": list(range(16))} for name in ("INPUT0", "INPUT1")]})
INFER = "/v2/models/simple/infer"
UNLOAD = "/v2/repository/models/simple/unload"
# What a refused request may be answered with. A 2xx is never among them.
REFUSED = {400, 401, 403, 404, 405, 408, 411, 413, 415, 417, 429, 431, 501, 505}


def post(target, fields="", body=BODY, version="1.1", method="POST"):
    return f"{method} {target} HTTP/{version}\r\nHost: x\r\n{fields}Content-Length: {len(body)}\r\n\r\n{body}"


def get(target, fields=""):
    return f"GET {target} HTTP/1.1\r\nHost: x\r\n{fields}\r\n"


def statuses(data):
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) ", data)]


class Bypass(ServeTest):
    def setUp(self):
        super().setUp()
        self.file = self.dir / "access.yml"
        self.runner = make_token(self.file, "runner", "--role", "infer")
        self.limited = make_token(self.file, "limited", "--role", "infer", "--model", "sim*", "--model", "other")
        self.watcher = make_token(self.file, "watcher", "--role", "observe")
        self.boss = make_token(self.file, "boss", "--role", "admin")
        self.file.write_text(self.file.read_text() + f"- name: old\n  hash: sha256:{'0' * 64}\n  roles: [admin]\n")
        self.expired = make_token(self.file, "expired", "--role", "admin", "--expires", "2020-01-01")

    def start(self, *flags):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG), "secret": (simple(), SIMPLE_CONFIG.replace('"simple"', '"secret"'))})
        return self.serve("--repository", root, "--model-control", "explicit", "--load-model", "*", "--shared-memory", "--access-file",
                          self.file, "--access-failures", "0", "--http-metrics", *flags)

    @staticmethod
    def send(place, *parts):
        """Sends the parts and returns everything that the server answers."""
        with socket.create_connection(place, timeout=10) as client:
            client.settimeout(3)
            data = b""
            try:
                for part in parts:
                    client.sendall(part if isinstance(part, bytes) else part.encode("latin1"))
                client.shutdown(socket.SHUT_WR)
                while more := client.recv(65536):
                    data += more
            except OSError:
                pass
            return data

    def check_untouched(self, server, inferences):
        """Nothing happened but the authorised inferences."""
        _, _, data = server.call("GET", "/v2/models/simple/stats", headers=bearer(self.boss))
        self.assertEqual(json.loads(data)["model_stats"][0]["inference_count"], inferences)
        _, _, data = server.call("GET", "/v2/models/secret/stats", headers=bearer(self.boss))
        self.assertEqual(json.loads(data)["model_stats"][0]["inference_count"], 0)
        for model in ("simple", "secret"):
            self.assertEqual(server.call("GET", f"/v2/models/{model}/ready", headers=bearer(self.boss))[0], 200)
        self.assertEqual(server.call("GET", "/v2/systemsharedmemory/status", headers=bearer(self.boss))[2], b"[]")
        self.assertTrue(json.loads(server.call("GET", "/v2/logging", headers=bearer(self.boss))[2])["log_warning"])

    def attempts(self):
        """Returns a dict from a name to a request, which is one text or bytes."""
        good = f"Authorization: Bearer {self.runner}\r\n"
        weak = f"Authorization: Bearer {self.watcher}\r\n"
        few = f"Authorization: Bearer {self.limited}\r\n"
        all_of = {}
        # Paths.
        for number, target in enumerate((
                "/v2/health/live/../../models/simple/infer", "/v2/health/../models/simple/infer", "/v2//models/simple/infer", "//v2/models/simple/infer",
                "/v2/models/simple/infer/", "/v2/models/simple/infer;health", "/v2/models/simple;x=/v2/health/live/infer", "/V2/models/simple/infer",
                "/v2/models/simple/INFER", "/v2/models/simple/infer?/v2/health/live", "/v2/models/simple/infer#/v2/health/live",
                "/v2/%6dodels/simple/infer", "/v2/models%2fsimple%2finfer", "/v2/models/simple/%69nfer", "/v2/models/simple/infer%00",
                "/v2/models/simple/infer%2f..%2f..%2fhealth%2flive", "/v2/health/live%2f..%2f..%2fmodels/simple/infer", "/v2/models/simple./infer",
                "/v2/models/simple/infer.", "/v2/models/%2e/simple/infer", "/v2/./models/simple/infer", "/v2\\models\\simple\\infer",
                "http://x/v2/models/simple/infer", "http://v2/health/live/v2/models/simple/infer", "https://x@y/v2/models/simple/infer",
                "HTTP://x/v2/models/simple/infer", "*", "x:443", "/metrics/../v2/models/simple/infer", "/v2/models/simple/versions/1/infer",
                "/v2/models/simple/versions//infer", "/v2/models/s%69mple/generate", "/v2/models/simple/generate_stream")):
            all_of[f"path {number}: {target}"] = post(target)
        for target in ("/v1/models/simple:predict", "/v1/models/simple/versions/1:classify", "/v1/models/simple/labels/stable:regress", "/v1/completions",
                       "/v1/chat/completions", "/v1/embeddings", "/v1//models/simple:predict", "/V1/models/simple:predict", "/v1/models/simple%3Apredict"):
            all_of[f"dialect {target}"] = post(target)
        for target in ("/v1/models", "/v1/models/simple", "/v1/models/simple/metadata", "/monitoring/prometheus/metrics"):
            all_of[f"dialect {target}"] = get(target)
        for target in ("http:///v2/repository/models/simple/unload", UNLOAD, "/v2/repository/x/models/simple/unload", "/v2/repository/models/sim%70le/unload"):
            all_of[f"admin path {target}"] = post(target, good, "")
        # Headers.
        token = self.runner
        for number, fields in enumerate((
                f"Authorization: Bearer {token}\r\nAuthorization: Bearer {token}\r\n", f"Authorization: Bearer wrong\r\n{good}",
                f"{good}Authorization: Bearer wrong\r\n", f"Authorization: Bearer {token}, Bearer wrong\r\n",
                f"Authorization: Bearer wrong, Bearer {token}\r\n", f"Authorization: Bearer {token} x\r\n", f"Authorization: Bearer  {token}\r\n",
                f"Authorization: Bearer\t{token}\r\n", f"Authorization: {token}\r\n", f"Authorization: Basic {token}\r\n",
                f"Authorization: Digest {token}\r\n", f"Authorization: Bearer token={token}\r\n", f"Authorization: Bearer \"{token}\"\r\n",
                f"Authorization : Bearer {token}\r\n", f" Authorization: Bearer {token}\r\n", f"Authorization:\r\n Bearer {token}\r\n",
                f"X-Authorization: Bearer {token}\r\n", f"Proxy-Authorization: Bearer {token}\r\n", f"Cookie: Authorization=Bearer {token}\r\n",
                f"X-Forwarded-Authorization: Bearer {token}\r\n", f"Authorization\0: Bearer {token}\r\n", f"Authorization: Bearer {token}\0\r\n",
                f"Authorization: Bearer {token[:-1]}\r\n", f"Authorization: Bearer {token}A\r\n", f"Authorization: Bearer {token.upper()}\r\n",
                f"Authorization: Bearer {'x' * 600}\r\n", f"Authorization: Bearer {'x' * 15000}\r\n", "Authorization: Bearer \r\n", "Authorization:\r\n",
                f"Authorization: Bearer {'0' * 64}\r\n", f"Authorization: Bearer sha256:{'0' * 64}\r\n", f"Authorization: Bearer {self.expired}\r\n",
                "X-Forwarded-For: 127.0.0.1\r\n", "X-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n", "X-Original-URL: /v2/health/live\r\n",
                "X-Rewrite-URL: /v2/health/live\r\n", "X-Forwarded-User: boss\r\nRemote-User: boss\r\n", "triton-grpc-protocol-admin: x\r\n")):
            all_of[f"header {number}"] = post(INFER, fields)
        # Methods.
        for name in ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"):
            all_of[f"override {name}"] = post(UNLOAD, f"{weak}{name}: GET\r\n", "")
            all_of[f"override {name} of GET"] = get(UNLOAD, f"{weak}{name}: POST\r\n")
        for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "post", "BREW"):
            all_of[f"method {method}"] = post(INFER, method=method)
        all_of["HTTP/1.0"] = post(INFER, version="1.0")
        all_of["HTTP/0.9"] = f"POST {INFER}\r\n\r\n"
        # Upgrades.
        all_of["h2c"] = post(INFER, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n")
        all_of["websocket"] = get(INFER, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGVzdA==\r\nSec-WebSocket-Version: 13\r\n")
        all_of["h2 on the port of HTTP/1"] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">I", 0)[1:] + b"\4\0\0\0\0\0"
        # Rights that a token does not have.
        all_of["observer infers"] = post(INFER, weak)
        all_of["runner unloads"] = post(UNLOAD, good, "")
        all_of["runner loads"] = post("/v2/repository/models/secret/load", good, "{}")
        all_of["runner reads statistics"] = get("/v2/models/stats", good)
        all_of["runner reads metrics"] = get("/metrics", good)
        all_of["runner lists the repository"] = post("/v2/repository/index", good, "")
        all_of["observer changes settings"] = post("/v2/logging", weak, '{"log_warning":false}')
        all_of["observer changes traces"] = post("/v2/trace/setting", weak, '{"trace_rate":"1"}')
        all_of["runner registers memory"] = post("/v2/systemsharedmemory/region/r/register", good, '{"key":"/tern_bypass","byte_size":64}')
        all_of["observer registers memory"] = post("/v2/systemsharedmemory/region/r/register", weak, '{"key":"/tern_bypass","byte_size":64}')
        all_of["runner registers CUDA memory"] = post("/v2/cudasharedmemory/region/r/register", good, "{}")
        all_of["another model"] = post("/v2/models/secret/infer", few)
        for target in ("/v2/models/simple%2f..%2fsecret/infer", "/v2/models/simple/../secret/infer", "/v2/models/Secret/infer", "/v2/models/s%65cret/infer",
                       "/v2/models/secret/versions/1/infer", "/v2/models/secret/config", "/v2/models/secret/ready", "/v2/models/secret"):
            all_of[f"another model {target}"] = post(target, few) if target.endswith("infer") else get(target, few)
        for target in ("/v1/models/secret:predict", "/v1/models/s%65cret:classify", "/v1/models/secret/versions/1:regress"):
            all_of[f"another model {target}"] = post(target, few, '{"instances":[1]}')
        for target in ("/v1/models/secret", "/v1/models/secret/metadata", "/v1/models"):
            all_of[f"another model {target}"] = get(target, few)
        for target in ("/v1/completions", "/v1/chat/completions", "/v1/embeddings"):
            all_of[f"another model {target}"] = post(target, few, '{"model":"secret","prompt":"a","input":"a","messages":[{"role":"user","content":"a"}]}')
        return all_of

    def test_requests(self):
        server = self.start()
        place = ("127.0.0.1", server.ports["http"])
        attempts = self.attempts()
        self.assertGreaterEqual(len(attempts), 50)
        for name, request in attempts.items():
            with self.subTest(name):
                found = statuses(self.send(place, request))
                self.assertLessEqual(set(found), REFUSED, name)
                # Only what is not HTTP may be closed without a status.
                self.assertTrue(found or name in ("HTTP/0.9",), name)
        self.check_untouched(server, 0)
        print(f"bypass attempts over HTTP: {len(attempts)}, all refused")

    def test_connections(self):
        """What follows or precedes an authorised request on a connection."""
        server = self.start()
        place = ("127.0.0.1", server.ports["http"])
        good = post(INFER, f"Authorization: Bearer {self.runner}\r\n")
        hidden = post(UNLOAD, "", "")
        chunk = f"{len(hidden):x}\r\n{hidden}\r\n0\r\n\r\n"
        smuggled = {  # name -> (request, number of 200s at most)
            "pipelined after": (good + post(INFER), 1),
            "pipelined before": (post(INFER) + good, 1),
            "pipelined between": (good + post(UNLOAD, "", "") + good, 2),
            "kept alive": (good + get("/v2") + get("/v2/models/secret"), 1),
            "both lengths": (post(INFER, "Transfer-Encoding: chunked\r\n", chunk) + good, 0),
            "two lengths": (post(INFER, f"Content-Length: {len(BODY) + len(hidden)}\r\n") + hidden, 0),
            "length in a list": (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nContent-Length: 0, {len(hidden)}\r\n\r\n{hidden}", 0),
            "length with a sign": (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nContent-Length: +{len(hidden)}\r\n\r\n{hidden}", 0),
            "chunked twice": (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n{chunk}", 0),
            "obscure chunked": (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n{chunk}", 0),
            "chunked in HTTP/1.0": (f"POST {INFER} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}", 0),
            "body of a refused request": (post(INFER, "", hidden), 0),
            "body of GET": (f"GET /v2/health/live HTTP/1.1\r\nHost: x\r\nContent-Length: {len(hidden)}\r\n\r\n{hidden}", 1),
            "bare line feeds": (f"GET /v2/health/live HTTP/1.1\nHost: x\n\n{hidden}", 0),
            "field after a bare CR": (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nX: a\rAuthorization: Bearer {self.runner}\r\nContent-Length: 0\r\n\r\n", 0),
            "token in trailers": (f"POST {INFER} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n{len(BODY):x}\r\n{BODY}"
                                  f"\r\n0\r\nAuthorization: Bearer {self.runner}\r\n\r\n", 0),
            "second line of the request": (f"POST {INFER} HTTP/1.1 \r\nHost: x\r\nAuthorization: Bearer {self.runner}\r\n\r\n", 0),
        }
        inferences = 0
        for name, (request, most) in smuggled.items():
            with self.subTest(name):
                found = statuses(self.send(place, request))
                self.assertLessEqual(found.count(200), most, (name, found))
                self.assertLessEqual(set(found) - {200}, REFUSED, name)
                inferences += found.count(200) if "GET" not in name else 0
        self.check_untouched(server, inferences)
        # The rest of the body of an authorised request that never comes authorises nobody else.
        with socket.create_connection(place, timeout=10) as client:
            client.sendall(good[:-10].encode())
            self.assertEqual(statuses(self.send(place, post(INFER))), [401])
        print(f"bypass attempts on connections: {len(smuggled) + 1}, all refused")

    def test_other_ports(self):
        server = self.start("--cors-origin", "*", "--base-path", "/tern")
        metrics, place = ("127.0.0.1", server.ports["metrics"]), ("127.0.0.1", server.ports["http"])
        attempts = {f"metrics {target} {fields}": self.send(metrics, get(target, fields)) for target in ("/metrics", "/metrics/", "/tern/metrics", INFER)
                    for fields in ("", "Authorization: Bearer x\r\n", f"Authorization: Bearer {self.runner}\r\n")}
        attempts["metrics without a Host"] = self.send(metrics, "GET /metrics HTTP/1.0\r\n\r\n")
        attempts["infer on the port of metrics"] = self.send(metrics, post(INFER))
        attempts["no base path"] = self.send(place, post(INFER))
        attempts["base path twice"] = self.send(place, post(f"/tern/tern{INFER}"))
        attempts["base path"] = self.send(place, post(f"/tern{INFER}"))
        attempts["base path in capitals"] = self.send(place, post(f"/TERN{INFER}"))
        for name, data in attempts.items():
            with self.subTest(name):
                self.assertTrue(statuses(data), name)
                self.assertLessEqual(set(statuses(data)), REFUSED, name)
        preflight = f"OPTIONS /tern{INFER} HTTP/1.1\r\nHost: x\r\nOrigin: http://evil\r\nAccess-Control-Request-Method: POST\r\n\r\n"
        self.assertEqual(statuses(self.send(place, preflight + post(f"/tern{INFER}", "Origin: http://evil\r\n"))), [204, 401])
        print(f"bypass attempts on other ports: {len(attempts) + 1}, all refused")

    def test_a_revoked_token_on_an_open_connection(self):
        server = self.start()
        connection = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=30)
        self.addCleanup(connection.close)

        def infer():
            connection.request("POST", INFER, BODY, bearer(self.runner))
            answer = connection.getresponse()
            answer.read()
            return answer.status

        self.assertEqual(infer(), 200)
        text = self.file.read_text()
        self.file.write_text(text[text.index('- name: "boss"'):])
        wait_for(lambda: infer() == 401, 10)

    @unittest.skipIf(missing("grpc"), "grpcio is not installed")
    def test_grpc(self):
        import grpc  # pylint: disable=import-outside-toplevel
        server = self.start()
        service = "/inference.GRPCInferenceService/"
        name = b"\x0a\x06simple"
        tensor = b"".join(b"\x2a\x13\x0a\x06INPUT" + str(i).encode() + b"\x12\x05INT32\x1a\x02\x01\x10" for i in range(2))
        raw = b"".join(b"\x3a\x40" + np.arange(16, dtype=np.int32).tobytes() for _ in range(2))
        request = name + tensor + raw
        good = ("authorization", f"Bearer {self.runner}")
        refused = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}
        attempts = {}
        with grpc.insecure_channel(server.grpc) as channel:

            def call(method, metadata=(), message=request):
                return channel.unary_unary(method)(message, metadata=metadata, timeout=10)

            self.assertGreater(len(call(service + "ModelInfer", [good])), 10)
            for number, metadata in enumerate((
                    [], [good, good], [("authorization", "Bearer wrong"), good], [good, ("authorization", "Bearer wrong")],
                    [("authorization", f"Bearer {self.runner}, Bearer x")], [("authorization", self.runner)], [("authorization", f"Basic {self.runner}")],
                    [("authorization", f"Bearer  {self.runner}")], [("x-authorization", good[1])], [("proxy-authorization", good[1])],
                    [("authorization-bin", good[1].encode())], [("authorization", f"Bearer {self.expired}")], [("authorization", f"Bearer {'x' * 4000}")],
                    [("triton-grpc-protocol-infer", self.runner)], [("x-user", "boss")], [("authorization", f"Bearer {self.watcher}")])):
                attempts[f"metadata {number}"] = (service + "ModelInfer", metadata, request)
            weak, few = [("authorization", f"Bearer {self.watcher}")], [("authorization", f"Bearer {self.limited}")]
            attempts |= {
                "load": (service + "RepositoryModelLoad", [good], b"\x12\x06simple"),
                "unload": (service + "RepositoryModelUnload", weak, b"\x12\x06simple"),
                "unload by the other field": (service + "RepositoryModelUnload", [good], b"\x0a\x06simple"),
                "register memory": (service + "SystemSharedMemoryRegister", [good], b"\x0a\x01r\x12\x02/r\x20\x40"),
                "change the log": (service + "LogSettings", weak, b"\x0a\x0f\x0a\x0blog_warning\x12\x00"),
                "change traces": (service + "TraceSetting", weak, b"\x0a\x10\x0a\x0atrace_rate\x12\x02\x0a\x00"),
                "hidden settings": (service + "LogSettings", weak, b"\x0b\x0c\x0a\x0f\x0a\x0blog_warning\x12\x00"),
                "another model": (service + "ModelInfer", few, request.replace(b"simple", b"secret")),
                "another model behind the first": (service + "ModelInfer", few, request + b"\x0a\x06secret"),
                "another model's metadata": (service + "ModelMetadata", few, b"\x0a\x06simple\x0a\x06secret"),
                "all statistics": (service + "ModelStatistics", [("authorization", f"Bearer {self.limited}")], b""),
                "health of a model": ("/grpc.health.v1.Health/Check", [], b"\x0a\x06simple"),
                "health of a model behind the server": ("/grpc.health.v1.Health/Check", [], b"\x0a\x00\x0a\x06simple"),
                "reflection": ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", [], b"\x3a\x00"),
                "old reflection": ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", [], b"\x3a\x00"),
                "unknown method": (service + "Unknown", [], b""),
                "method in other case": (service + "modelinfer", [], request),
                "method with a slash": (service + "ModelInfer/", [], request),
                "method with two slashes": ("/" + service + "ModelInfer", [], request),
                "method with a query": (service + "ModelInfer?x=/grpc.health.v1.Health/Check", [], request)}
            for name, (method, metadata, message) in attempts.items():
                with self.subTest(name), self.assertRaises(grpc.RpcError) as caught:
                    call(method, metadata, message)
                self.assertIn(caught.exception.code(), refused, name)
            for metadata in ([], weak):
                with self.assertRaises(grpc.RpcError) as caught:
                    list(channel.stream_stream(service + "ModelStreamInfer")(iter([request]), metadata=metadata, timeout=10))
                self.assertIn(caught.exception.code(), refused)
            # A stream that was opened before its token was revoked.
            answers = channel.stream_stream(service + "ModelStreamInfer")(self.requests(request), metadata=[good], timeout=30)
            next(answers)
            text = self.file.read_text()
            self.file.write_text(text[text.index('- name: "boss"'):])
            with self.assertRaises(grpc.RpcError) as caught:
                for _ in answers:
                    pass
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        print(f"bypass attempts over gRPC: {len(attempts) + 3}, all refused")

    @staticmethod
    def requests(request):
        import time  # pylint: disable=import-outside-toplevel
        for _ in range(200):
            yield request
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
