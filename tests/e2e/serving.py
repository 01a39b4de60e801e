"""Starts `tern serve` for tests and sends HTTP requests to it."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time

import numpy as np
import onnx

from support import FLOAT, TERN, CliTest, make_model
from onnx import helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKENDS = pathlib.Path(TERN).resolve().parents[1] / "backends"  # the sample plug-ins of tests/server/backends


class Server:
    """A `tern serve` process. The operating system chooses its ports. `start` waits until all models are loaded."""

    def __init__(self, folder, *args, env=None, tern=None):
        self.folder = pathlib.Path(folder)
        self.ready_file = self.folder / "ready.json"
        self.out = open(self.folder / "serve.out", "w+b")
        ports = ["--address", "127.0.0.1", "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
        self.process = subprocess.Popen([tern or TERN, "serve", *ports, "--ready-file", self.ready_file, *map(str, args)], stdout=self.out,
                                        stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
        self.ports = None

    def start(self, seconds=60):
        end = time.monotonic() + seconds
        while not self.ready_file.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"the server did not start\n{self.text()}")
            time.sleep(0.01)
        self.ports = json.loads(self.ready_file.read_text())
        return self

    @property
    def http(self):
        return f"127.0.0.1:{self.ports['http']}"

    @property
    def grpc(self):
        return f"127.0.0.1:{self.ports['grpc']}"

    @property
    def metrics(self):
        return f"127.0.0.1:{self.ports['metrics']}"

    def text(self):
        self.out.flush()
        return (self.folder / "serve.out").read_text(errors="replace")

    def call(self, method, path, body=None, headers=None, port="http"):
        """Sends one request. Returns the status, headers and body of the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[port], timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None):
        status, _, data = self.call(method, path, json.dumps(body) if body is not None else None)
        return status, json.loads(data) if data else None

    def stop(self, number=signal.SIGTERM, seconds=40):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(seconds)
        self.out.close()
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out.close()


class ServeTest(CliTest):
    def serve(self, *args, env=None):
        folder = self.dir / f"server{len(list(self.dir.glob('server*')))}"
        folder.mkdir()
        server = Server(folder, *args, env=env)
        self.addCleanup(server.kill)
        return server.start()

    def repository(self, models):
        """Creates a model repository in Triton's layout and returns its folder. `models` is a dict from name to (model,
        text of config.pbtxt or None)."""
        root = self.dir / "models"
        for name, (model, config) in models.items():
            (root / name / "1").mkdir(parents=True)
            onnx.save(model, root / name / "1" / "model.onnx")
            if config is not None:
                (root / name / "config.pbtxt").write_text(config)
        return root


def wait_for(condition, seconds=60):
    """Waits until `condition` holds, on a busy machine longer."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"the condition does not hold after {seconds} s")
        time.sleep(0.01)


def simple():
    """Returns Triton's sample model `simple`: the sum and the difference of two INT32[N,16]."""
    integer = onnx.TensorProto.INT32
    nodes = [helper.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]), helper.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])]
    return make_model(nodes, {"INPUT0": (integer, ["N", 16]), "INPUT1": (integer, ["N", 16])},
                      {"OUTPUT0": (integer, ["N", 16]), "OUTPUT1": (integer, ["N", 16])})


SIMPLE_CONFIG = """
name: "simple"
max_batch_size: 8
input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ 16 ] }, { name: "INPUT1" data_type: TYPE_INT32 dims: [ 16 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 16 ] }, { name: "OUTPUT1" data_type: TYPE_INT32 dims: [ 16 ] } ]
"""


def identity(dims=("N", "M")):
    return make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": (FLOAT, list(dims))}, {"y": (FLOAT, list(dims))})


def slow():
    """Returns a model of eight matrix products, which runs for a few milliseconds."""
    rng = np.random.default_rng(0)
    size, depth = 512, 8
    weights = {f"w{i}": (rng.standard_normal((size, size)) / size**0.5).astype(np.float32) for i in range(depth)}
    nodes = [helper.make_node("MatMul", ["x" if i == 0 else f"h{i}", f"w{i}"], ["y" if i == depth - 1 else f"h{i + 1}"]) for i in range(depth)]
    return make_model(nodes, {"x": (FLOAT, [64, size])}, {"y": (FLOAT, [64, size])}, weights)


def infer_body(name, array, datatype="FP32"):
    return {"inputs": [{"name": name, "datatype": datatype, "shape": list(array.shape), "data": array.ravel().tolist()}]}
