"""What disturbs a server during a soak: loads, new versions, killed processes, models that do not fit into the memory."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import threading
import time

import options
import processes
import repositories

PARAMETER = 'parameters {{ key: "{}" value {{ string_value: "{}" }} }}\n'
DIGITS = options.ROOT / "examples/digits/digits.onnx"
BUDGET_MODELS, ROOM = 8, 4  # models that are used in turn, and how many of them fit


def request(server, method, path, body=None):
    """Sends one request. Returns the status and the body of the answer."""
    host, port = server.http.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    finally:
        connection.close()


def expect(answer, what, *statuses):
    status, body = answer
    if status not in (statuses or (200,)):
        raise AssertionError(f"{what}: {status} {body[:300]}")
    return body


class Reload:
    """Loads models again, whose files look new."""

    name = "model loaded again"

    def __init__(self, seconds, files):
        self.seconds, self.files, self.turn = seconds, files, 0

    def act(self, server):
        model, path = self.files[self.turn % len(self.files)]
        self.turn += 1
        os.utime(path)
        expect(request(server, "POST", f"/v2/repository/models/{model}/load", {}), f"load {model}")


class NewVersion:
    """Adds a version, which is rolled out, and removes the versions before the last two."""

    name = "version rolled out"

    def __init__(self, seconds, folder, model):
        self.seconds, self.folder, self.model, self.version = seconds, folder, model, 1
        self.stop = threading.Event()  # Running replaces it by its own

    def act(self, server):
        self.version += 1
        shutil.copytree(self.folder / str(self.version - 1), self.folder / str(self.version))
        expect(request(server, "POST", f"/v2/repository/models/{self.model}/load", {}), f"load version {self.version}")
        end = time.monotonic() + 180  # copies wait while clients keep the server busy
        while f'"stable":"{self.version}"' not in self._labels(server):
            if self.stop.is_set():
                return  # the load has ended, and without requests no version is promoted
            if time.monotonic() > end:
                raise AssertionError(f"version {self.version} was not promoted: {self._labels(server)[:300]}")
            time.sleep(0.2)
        for old in self.folder.iterdir():
            if old.name.isdigit() and int(old.name) < self.version - 1:
                shutil.rmtree(old)

    def _labels(self, server):
        text = expect(request(server, "GET", f"/v2/repository/models/{self.model}/rollout"), "the server has no rollouts")
        labels = json.loads(text).get("labels", {})
        return json.dumps({name: str(version) for name, version in labels.items()}, separators=(",", ":"))


class Kill:
    """Kills the process of an isolated model."""

    name = "process killed"

    def __init__(self, seconds):
        self.seconds = seconds

    def act(self, server):
        for pid in processes.tree(server.process.pid)[1:]:
            os.kill(pid, signal.SIGKILL)


class UseAll:
    """Sends a request to each of more models than fit into the memory budget."""

    name = "model used that did not fit"

    def __init__(self, seconds):
        self.seconds, self.turn = seconds, 0

    def act(self, server):
        model = f"budget{self.turn % BUDGET_MODELS}"
        self.turn += 1
        body = {"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 1, 28, 28], "data": [0.0] * 784}]}
        expect(request(server, "POST", f"/v2/models/{model}/infer", body), f"infer {model}")


class Running:
    """Runs each disturbance on a thread, every few seconds."""

    def __init__(self, server, disturbing):
        self.server, self.disturbing, self.stop = server, disturbing, threading.Event()
        self.counts, self.errors = {each.name: 0 for each in disturbing}, []
        self.threads = [threading.Thread(target=self._run, args=(each,), daemon=True) for each in disturbing]

    def _run(self, each):
        each.stop = self.stop
        while not self.stop.wait(each.seconds):
            try:
                each.act(self.server)
                self.counts[each.name] += 1
            except (AssertionError, OSError, http.client.HTTPException, ValueError) as error:
                self.errors.append(f"{each.name}: {error!r}")

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(120)

    def __str__(self):
        return ", ".join(f"{count} x {name}" for name, count in self.counts.items()) + (f", {len(self.errors)} errors" if self.errors else "")


def settled(server, seconds=8):
    """Returns the resident memory after the server has returned idle memory to the system."""
    time.sleep(seconds)
    return server.resident_mb()


def prepare(args, folder):
    """Writes the models. Returns the options of `tern serve` and the disturbances."""
    root = pathlib.Path(folder) / "models"
    rollout = PARAMETER.format("tern_rollout", '{\\"steps\\": [0, 50], \\"step_seconds\\": 2}') if args.canaries else ""
    repositories.tern_identity(root)
    own = pathlib.Path(folder) / "own.onnx"  # the budget's models are links to it, so that loads of `digits` do not change their times
    shutil.copy(DIGITS, own)
    repositories.onnx_model(root, "digits", DIGITS, rollout)
    flags = ["--repository", root, "--model-control", "explicit", "--load-model", "*"]
    reloaded = [("identity", root / "identity/config.pbtxt")]
    disturbing = []
    if args.isolated:
        repositories.tern_identity(root, PARAMETER.format("isolation", "process"), "isolated")
        reloaded.append(("isolated", root / "isolated/config.pbtxt"))
        if args.kill_secs:
            disturbing.append(Kill(args.kill_secs))
    if args.reload_secs:
        if args.canaries:
            disturbing.append(NewVersion(args.reload_secs, root / "digits", "digits"))
        else:
            reloaded.append(("digits", root / "digits/1/model.onnx"))
        disturbing.append(Reload(args.reload_secs / len(reloaded), reloaded))
    if args.evictions:
        for i in range(BUDGET_MODELS):
            repositories.onnx_model(root, f"budget{i}", own, "")
        # Models whose files change must stay loaded: an evicted model is not loaded from files that have changed since it was read.
        for model in ("digits", "identity"):
            flags += ["--pin-model", model]
        flags += ["--memory-budget", f"{(ROOM + 2) * DIGITS.stat().st_size * 5}"]  # a loaded model takes 4.8 times its file, and a change of `digits` needs two versions
        disturbing.append(UseAll(0.5))
    return flags, disturbing
