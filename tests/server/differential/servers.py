"""Starts the two servers on ports that the system chooses, and stops them."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from models import LOADED, write_models


def free_ports(count):
    """Returns ports that are free at the moment. Triton needs fixed port numbers, because it cannot let the system
    choose them."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Server:
    """A server process that listens on an HTTP port and a gRPC port of 127.0.0.1. Its output is in the file `log`."""

    def __init__(self, name, folder, command, env=None):
        self.name, self.log = name, folder / f"{name}.log"
        self.http = self.grpc = 0
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                                            env={**os.environ, **(env or {})}, start_new_session=True)

    def alive(self):
        return self.process.poll() is None

    def dies(self, seconds):
        """Returns whether the process ends within this time."""
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.http), 5).close()
            return True
        except OSError:
            return False

    def wait(self, ready, seconds):
        """Waits until ready() is true. Raises RuntimeError if the process ends, or if this takes too long."""
        end = time.monotonic() + seconds
        while not ready():
            if not self.alive() or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"{self.name} did not start:\n{self.log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.05)
        return self

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.clean()

    def clean(self):
        """Kills the child processes, because the python processes of Triton survive a crash of Triton."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Tern(Server):
    def __init__(self, program, backends, folder, control):
        ready = folder / f"tern_{control}.json"
        models = write_models(folder / f"tern_{control}", "identity")
        command = [program, "serve", "--repository", models, "--backend-folder", backends, "--model-control", control, "--ready-file", ready,
                   "--address", "127.0.0.1", "--http-port", 0, "--grpc-port", 0, "--metrics-port", 0, "--shared-memory", "--quiet"]
        command += [part for name in LOADED for part in ("--load-model", name)] if control == "explicit" else []
        super().__init__(f"tern_{control}_log", folder, command)
        self.wait(ready.exists, 60)
        ports = json.loads(ready.read_text())
        self.http, self.grpc = ports["http"], ports["grpc"]


class Triton(Server):
    """Triton from the PyPI package nvidia-pytriton. `home` is the folder into which pip installed it and numpy < 2."""

    def __init__(self, home, folder, control):
        server = home / "pytriton" / "tritonserver"
        self.prefix = f"tern_differential_{os.getpid()}_{folder.name}"
        models = write_models(folder / f"triton_{control}", "python")
        self.http, self.grpc = http, grpc = free_ports(2)
        command = [server / "bin" / "tritonserver", f"--model-repository={models}", f"--backend-directory={self.backends(server, folder)}",
                   f"--model-control-mode={control}", "--http-address=127.0.0.1", f"--http-port={http}", "--grpc-address=127.0.0.1",
                   f"--grpc-port={grpc}", "--allow-metrics=false", "--exit-timeout-secs=10",
                   f"--backend-config=python,shm-region-prefix-name={self.prefix}"]
        command += [f"--load-model={name}" for name in LOADED] if control == "explicit" else []
        libraries = os.pathsep.join([str(home / "nvidia_pytriton.libs"), os.environ.get("LD_LIBRARY_PATH", "")])
        super().__init__(f"triton_{control}_log", folder, command, {"LD_LIBRARY_PATH": libraries, "DIFFERENTIAL_NUMPY": str(home)})
        self.http, self.grpc = http, grpc
        self.wait(self.started, 180)

    def clean(self):
        super().clean()
        for region in pathlib.Path("/dev/shm").glob(f"{self.prefix}*"):
            region.unlink(missing_ok=True)

    @staticmethod
    def backends(server, folder):
        """Copies Triton's back ends to `folder` and returns the copy. Adds the stub (the program that runs Python
        models) for the Python version TRITON_PYTHON."""
        target = folder / "backends"
        if not target.exists():
            shutil.copytree(server / "backends", target)
            shutil.copy(stub(server), target / "python")
        return target

    def started(self):
        text = self.log.read_text(errors="replace")
        return "Started HTTPService" in text and "Started GRPCInferenceService" in text and self.listens()


def stub(server):
    version = os.environ.get("TRITON_PYTHON", "3.11")
    return server / "python_backend_stubs" / version / "triton_python_backend_stub"


def missing_triton(home):
    """Returns why Triton cannot be started, or None if it can."""
    if not home:
        return "no Triton: set --triton or TRITON_HOME to the folder into which pip installed nvidia-pytriton 0.7.0"
    server = pathlib.Path(home) / "pytriton" / "tritonserver"
    files = [server / "bin" / "tritonserver", server / "backends" / "python" / "libtriton_python.so", stub(server)]
    absent = [str(f) for f in files if not f.exists()]
    return f"no Triton: {absent[0]} does not exist" if absent else None
