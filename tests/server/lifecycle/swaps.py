#!/usr/bin/env python3
"""Changes the version of a model many times while clients send requests. Every request must get exactly one answer, and it must be
right: no error, and the value that the version in the answer computes. Prints one line per order of loading and unloading."""

import argparse
import http.client
import json
import pathlib
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import helper  # noqa: E402
from serving import Server  # noqa: E402
from support import FLOAT, make_model  # noqa: E402

CONFIG = """
max_batch_size: 8
input [ {{ name: "x" data_type: TYPE_FP32 dims: [ 4 ] }} ]
output [ {{ name: "y" data_type: TYPE_FP32 dims: [ 4 ] }} ]
parameters {{ key: "tern_change_order" value {{ string_value: "{order}" }} }}
"""
BODY = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 1, 1, 1]}]})
CLIENTS = 4


def write_version(folder, version):
    """Writes a model that multiplies by its version. The version appears in the repository at once, as a whole."""
    model = make_model([helper.make_node("Mul", ["x", "factor"], ["y"])], {"x": (FLOAT, ["N", 4])}, {"y": (FLOAT, ["N", 4])},
                       {"factor": np.array([version], np.float32)})
    hidden = folder / f".new{version}"
    hidden.mkdir()
    onnx.save(model, hidden / "model.onnx")
    hidden.rename(folder / str(version))


class Client(threading.Thread):
    """Sends requests on one connection, one after the other, and counts the answers."""

    def __init__(self, port, stop):
        super().__init__()
        self.port, self.stop = port, stop
        self.sent = self.answered = 0
        self.errors, self.slowest = [], 0.0

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.stop.is_set():
            self.sent += 1
            begin = time.monotonic()
            try:
                connection.request("POST", "/v2/models/m/infer", BODY)
                answer = connection.getresponse()
                data = json.loads(answer.read())
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.errors.append(repr(error))
                connection.close()
                continue
            self.answered += 1
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if answer.status != 200:
                self.errors.append(f"{answer.status} {data}")
            elif data["outputs"][0]["data"] != [float(data["model_version"])] * 4:
                self.errors.append(f"version {data['model_version']} answers {data['outputs'][0]['data']}")
        connection.close()


def swap(server, folder, count):
    """Replaces version 1 by 2, and so on. Returns the errors."""
    errors = []
    for version in range(2, count + 2):
        write_version(folder, version)
        status, answer = server.json("POST", "/v2/repository/models/m/load", {})
        if status != 200 or answer["version"] != str(version):
            errors.append(f"load of version {version}: {status} {answer}")
        if version > 3:
            shutil.rmtree(folder / str(version - 3))
    return errors


def run(tern, order, count):
    """Returns the errors of one run."""
    with tempfile.TemporaryDirectory(prefix="tern_swaps_") as name:
        root = pathlib.Path(name)
        folder = root / "models" / "m"
        folder.mkdir(parents=True)
        (folder / "config.pbtxt").write_text(CONFIG.format(order=order))
        write_version(folder, 1)
        server = Server(root, "--repository", root / "models", "--model-control", "explicit", "--load-model", "*", "--log-info", "false", tern=tern)
        try:
            server.start()
            stop = threading.Event()
            clients = [Client(server.ports["http"], stop) for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            begin = time.monotonic()
            errors = swap(server, folder, count)
            seconds = time.monotonic() - begin
            stop.set()
            for client in clients:
                client.join()
            code = server.stop()
        finally:
            server.kill()
    sent, answered = (sum(getattr(client, key) for client in clients) for key in ("sent", "answered"))
    errors += [error for client in clients for error in client.errors]
    if answered != sent:
        errors.append(f"{sent} requests were sent, {answered} were answered")
    if code != 0:
        errors.append(f"the server exited with {code}")
    print(f"{order}: {count} swaps in {seconds:.1f} s, {sent} requests, {answered} answers, {len(errors)} errors, "
          f"slowest answer {1000 * max(client.slowest for client in clients):.0f} ms", flush=True)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", required=True)
    parser.add_argument("--swaps", type=int, default=1000, help="number of swaps per order")
    args = parser.parse_args()
    failed = 0
    for order in ("load-first", "unload-first"):
        errors = run(args.tern, order, args.swaps)
        failed += bool(errors)
        for error in errors[:5]:
            print(f"FAIL {order}: {error}")
    print(f"{2 - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
