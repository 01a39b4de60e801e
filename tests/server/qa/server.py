"""Starts `tern serve` on the ports that Triton's tests connect to."""

import os
import signal
import socket
import subprocess
import time

PORTS = (8000, 8001, 8002)


def environment(**more):
    return {**os.environ, "PYTHONUNBUFFERED": "1", "NO_PROXY": "localhost,127.0.0.1", **more}


def port_is_free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


class Server:
    """A context manager. Within the context, the server runs and all its models are loaded. Raises AssertionError if
    the server exits by itself, or does not exit with status 0 after SIGTERM."""

    def __init__(self, tern, repository, folder, flags=(), env=None):
        self.ready_file, self.out_file = folder / "ready.json", folder / "serve.out"
        self.command = [tern, "serve", "--repository", repository, "--ready-file", self.ready_file, "--server-name", "triton",
                        "--backend-folder", tern.resolve().parents[1] / "backends", *flags]
        self.folder, self.env, self.process = folder, env or {}, None

    def __enter__(self):
        end = time.monotonic() + 120
        while taken := [port for port in PORTS if not port_is_free(port)]:
            if time.monotonic() > end:
                raise AssertionError(f"ports in use: {taken}")
            time.sleep(0.5)
        self.ready_file.unlink(missing_ok=True)
        with open(self.out_file, "wb") as out:
            self.process = subprocess.Popen(list(map(str, self.command)), cwd=self.folder, stdout=out, stderr=subprocess.STDOUT,
                                            env=environment(**self.env))
        end = time.monotonic() + 60
        while not self.ready_file.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise AssertionError(f"the server did not start\n{self.text()}")
            time.sleep(0.02)
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is not None:
            raise AssertionError(f"the server exited by itself with status {self.process.returncode}\n{self.text()}")
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the server did not exit within 40 s after SIGTERM") from None
        if code:
            raise AssertionError(f"the server exited with status {code}\n{self.text()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def text(self):
        return self.out_file.read_text(errors="replace")[-2000:]
