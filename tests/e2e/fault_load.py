"""Clients that count: every request must get exactly one answer."""

import collections
import json
import socket
import threading
import time

import numpy as np


class Connection:
    """A kept HTTP/1.1 connection that sends one request at a time. Bytes that belong to no request are an error."""

    def __init__(self, port, timeout=30):
        self.port, self.timeout, self.socket, self.rest = port, timeout, None, b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.rest = None, b""

    def _connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=self.timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _more(self):
        got = self.socket.recv(65536)
        if not got:
            raise ConnectionError("closed inside an answer" if self.rest else "closed before an answer")
        self.rest += got

    def ask(self, path, body):
        """Returns the status and body of the answer. Raises ConnectionRefusedError if the server no longer listens, and
        ConnectionError if the connection ends without a complete answer."""
        if not self.socket:
            self._connect()
        assert not self.rest, "bytes that belong to no request"
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        self.socket.sendall(head + body)
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        size = int(fields.get("content-length", 0))
        while len(self.rest) < size:
            self._more()
        answer, self.rest = self.rest[:size], self.rest[size:]
        if fields.get("connection", "").lower() == "close":
            if self.rest or self.socket.recv(1):
                raise AssertionError("bytes after the last answer of a connection")
            self.close()
        return int(lines[0].split()[1]), answer


class Counter:
    """Counts requests and their answers by status. Thread-safe."""

    def __init__(self):
        self.lock, self.sent, self.refused, self.wrong = threading.Lock(), 0, 0, []
        self.answers, self.lost, self.times = collections.Counter(), [], []

    def add(self, status, seconds):
        with self.lock:
            self.sent += 1
            self.answers[status] += 1
            self.times.append(seconds)

    @property
    def answered(self):
        return sum(self.answers.values())

    def percentile(self, share):
        times = sorted(self.times)
        return times[min(len(times) - 1, int(share * len(times)))] if times else 0.0

    def __str__(self):
        return f"{self.sent} sent, {dict(self.answers)}, {len(self.lost)} lost, {self.refused} refused, {len(self.wrong)} wrong"


class Load:
    """Threads that send requests without a pause. `make(i)` returns the path and the body of request i, as an object, and a function
    that checks the answer's object and returns whether it is right; it is called for status 200."""

    def __init__(self, port, make, threads=4, pause=0.0):
        self.counter, self.make, self.port, self.pause = Counter(), make, port, pause
        self.stop_event, self.next, self.lock = threading.Event(), 0, threading.Lock()
        self.threads = [threading.Thread(target=self._run) for _ in range(threads)]

    def _number(self):
        with self.lock:
            self.next += 1
            return self.next

    def _run(self):
        connection, count = Connection(self.port), self.counter
        while not self.stop_event.is_set():
            number = self._number()
            path, body, right = self.make(number)
            body["id"] = f"r{number}"
            begin = time.monotonic()
            try:
                status, answer = connection.ask(path, json.dumps(body).encode())
            except ConnectionRefusedError:
                with count.lock:
                    count.refused += 1
                break
            except (ConnectionError, OSError) as error:
                with count.lock:
                    count.sent += 1
                    count.lost.append(f"r{number}: {error!r}")
                connection.close()
                continue
            count.add(status, time.monotonic() - begin)
            if status == 200:
                found = json.loads(answer)
                if found.get("id") != body["id"] or not right(found):
                    count.wrong.append(found)
            if self.pause:
                time.sleep(self.pause)
        connection.close()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stop_event.set()
        for thread in self.threads:
            if thread.is_alive():
                thread.join()
        return self.counter

    def wait_answers(self, number, seconds=60):
        """Waits until this many more requests were answered."""
        target, end = self.counter.answered + number, time.monotonic() + seconds
        while self.counter.answered < target:
            if time.monotonic() > end:
                raise AssertionError(f"no progress: {self.counter}")
            time.sleep(0.005)


def echo(model, name="x", datatype="FP32"):
    """Requests to a model that returns its input."""
    def make(number):
        data = [float(number % 1000), 2.0]
        return (f"/v2/models/{model}/infer", {"inputs": [{"name": name, "datatype": datatype, "shape": [1, 2], "data": data}]},
                lambda found: found["outputs"][0]["data"] == data)
    return make


def action(model, code, text=""):
    """The body of a request to the back end `misbehave`."""
    return {"inputs": [{"name": "ACTION", "datatype": "INT32", "shape": [1], "data": [code]},
                       {"name": "TEXT", "datatype": "BYTES", "shape": [1], "data": [str(text)]}]}


class GrpcLoad(Load):
    """The same over gRPC, for models of the back end `misbehave`."""

    def __init__(self, place, model, threads=2):
        super().__init__(None, None, threads)
        self.place, self.model = place, model

    def _run(self):
        from tritonclient import grpc  # pylint: disable=import-outside-toplevel
        from tritonclient.utils import InferenceServerException  # pylint: disable=import-outside-toplevel
        client, count = grpc.InferenceServerClient(self.place), self.counter
        tensors = [grpc.InferInput("ACTION", [1], "INT32")]
        tensors[0].set_data_from_numpy(np.zeros(1, np.int32))
        while not self.stop_event.is_set():
            begin = time.monotonic()
            try:
                result = client.infer(self.model, tensors, request_id=str(self._number()))
                status = "OK"
                if result.as_numpy("RESULT")[0] != 0:
                    count.wrong.append(result)
            except InferenceServerException as error:
                status = str(error.status())
            count.add(status, time.monotonic() - begin)
        client.close()
