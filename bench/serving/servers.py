"""Starts the servers that are compared, on free loopback ports."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import processes
import repositories


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Server:
    """A running server. `http`, `grpc` and `metrics` are addresses HOST:PORT, or None."""

    def __init__(self, name, command, folder, env=None):
        self.name, self.folder = name, pathlib.Path(folder)
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=subprocess.STDOUT,
                                            env={**os.environ, **(env or {})})
        self.http = self.grpc = self.metrics = None

    def wait(self, is_ready, seconds=120):
        end = time.monotonic() + seconds
        while not is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise SystemExit(f"{self.name} did not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)
        return self

    def check(self):
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} ended with {self.process.returncode}:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")

    def cpu_seconds(self):
        return processes.cpu_seconds(self.process.pid)

    def resident_mb(self):
        return processes.resident_mb(self.process.pid)

    def stop(self):
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _answers(address):
    try:
        with urllib.request.urlopen(f"http://{address}", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False


def start_tern(tern, folder, *options, name="tern"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    ports = ["--address", "127.0.0.1", "--http-port", 0, "--grpc-port", 0, "--metrics-port", 0]
    server = Server(name, [tern, "serve", *ports, "--ready-file", ready, "--strict", *options], folder).wait(ready.exists)
    found = json.loads(ready.read_text())
    server.http, server.grpc, server.metrics = (f"127.0.0.1:{found[key]}" for key in ("http", "grpc", "metrics"))
    return server


def _python_backend(triton, folder):
    """Copies Triton's back ends to `folder` and returns the folder of the copy. Its python back end gets the stub for the running
    Python version, which pytriton stores in python_backend_stubs."""
    triton, copy = pathlib.Path(triton).resolve(), pathlib.Path(folder) / "backends"
    shutil.copytree(triton.parents[1] / "backends", copy)
    stub = triton.parents[1] / "python_backend_stubs" / f"{sys.version_info.major}.{sys.version_info.minor}" / "triton_python_backend_stub"
    if stub.exists():
        shutil.copy(stub, copy / "python")
    return copy


def start_triton(triton, folder):
    """Starts Triton. `triton` is the path of bin/tritonserver in pytriton's wheel, whose folder also contains its libraries."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    home, (http, grpc, metrics) = pathlib.Path(triton).resolve().parents[1], free_ports(3)
    repositories.triton_identity(folder / "models", home.parents[1])
    command = [triton, "--model-repository", folder / "models", "--backend-directory", _python_backend(triton, folder), "--cache-directory",
               home / "caches", "--cache-config", "local,size=67108864", "--http-address", "127.0.0.1", "--grpc-address", "127.0.0.1",
               "--http-port", http, "--grpc-port", grpc, "--metrics-port", metrics]
    libraries = os.pathsep.join(map(str, [*home.parents[1].glob("*pytriton.libs"), os.environ.get("LD_LIBRARY_PATH", "")]))
    server = Server("triton", command, folder, {"LD_LIBRARY_PATH": libraries})
    server.http, server.grpc = f"127.0.0.1:{http}", f"127.0.0.1:{grpc}"
    return server.wait(lambda: _answers(f"{server.http}/v2/health/ready"))


def start_nginx(nginx, folder, body):
    """Starts an nginx that answers every request with `body`. It shows the highest rate that the machine and the client permit."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    (port,) = free_ports(1)
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes auto; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ access_log off; keepalive_requests 100000000; server {{ listen 127.0.0.1:{port};\n"
        f"location / {{ return 200 '{body}'; }} }} }}\n")
    server = Server("nginx", [nginx, "-c", folder / "nginx.conf", "-p", folder], folder)
    server.http = f"127.0.0.1:{port}"
    return server.wait(lambda: _answers(server.http))
