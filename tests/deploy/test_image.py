"""The container image: what deploy/image/build makes, run as a container runs it: another root folder, read-only, not as root."""

import gzip
import hashlib
import http.client
import io
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from support import mlp  # pylint: disable=wrong-import-position

ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("TERN_BIN", ROOT / "build/release/bin/tern")).parents[1]
LIMIT = 50_000_000  # bytes, compressed and not
USER = 65532
# Makes the unpacked layer a read-only root with a /proc of its own, models at /models, and a writable /tmp if $2 is 1.
CONTAINER = """
set -e
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc none "$root/proc"
if [ -n "$3" ]; then mount --bind "$3" "$root/models" && mount -o remount,bind,ro "$root/models"; fi
mount -o remount,bind,ro "$root"
[ "$2" = 0 ] || mount -t tmpfs -o mode=1777 none "$root/tmp"
helper=$4 python=$5
shift 5
exec "$python" "$helper" "$root" "$@"
"""


def build(output):
    done = subprocess.run([sys.executable, ROOT / "deploy/image/build", "--build", BUILD, "--output", output], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def read_layout(path):
    """Checks all digests and sizes of an OCI layout. Returns the configuration and the bytes of the layer."""
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}
    for name, data in files.items():
        if name.startswith("blobs/"):
            assert name == "blobs/sha256/" + hashlib.sha256(data).hexdigest(), name

    def blob(descriptor):
        data = files["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
        assert len(data) == descriptor["size"], descriptor
        return data

    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
    config = json.loads(blob(manifest["config"]))
    layer = gzip.decompress(blob(manifest["layers"][0]))
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    docker = json.loads(files["manifest.json"])[0]
    assert {docker["Config"], *docker["Layers"]} <= set(files)
    return config, layer


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="tern_image_test_")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.dir = pathlib.Path(cls.holder.name)
        os.chmod(cls.dir, 0o755)
        cls.facts = build(cls.dir / "a.tar")
        cls.config, cls.layer = read_layout(cls.dir / "a.tar")
        cls.root = cls.dir / "root"
        cls.root.mkdir()
        with tarfile.open(fileobj=io.BytesIO(cls.layer)) as archive:
            cls.members = archive.getmembers()
            archive.extractall(cls.root, filter="fully_trusted") if hasattr(tarfile, "fully_trusted_filter") else archive.extractall(cls.root)
        (cls.root / "proc").mkdir()

    def test_size_and_digest(self):
        self.assertLessEqual(self.facts["compressed"], LIMIT)
        self.assertLessEqual(self.facts["uncompressed"], LIMIT)
        again = build(self.dir / "b.tar")
        self.assertEqual(again["digest"], self.facts["digest"])
        self.assertEqual((self.dir / "a.tar").read_bytes(), (self.dir / "b.tar").read_bytes())

    def test_only_what_the_server_needs(self):
        names = [member.name for member in self.members]
        self.assertEqual(names, sorted(names))
        self.assertEqual({member.mtime for member in self.members}, {0})
        self.assertFalse([n for n in names if n.endswith((".a", ".h", ".hpp", ".py", ".cmake", ".pc")) or "python" in n or "_test" in n])
        for member in self.members:
            self.assertTrue(member.isdir() or member.issym() or member.isreg(), member.name)
            self.assertFalse(member.mode & 0o6000, f"{member.name} has a set-id bit")
        programs = [m for m in self.members if m.isreg() and m.mode & 0o111 and not m.name.startswith(("usr/lib/", "lib64/", "lib/"))]
        self.assertEqual([m.name for m in programs], ["usr/bin/tern"])
        self.assertEqual(self.config["config"]["User"], f"{USER}:{USER}")
        self.assertEqual(self.config["config"]["Entrypoint"], ["/usr/bin/tern", "serve"])

    def container(self, *args, writable=False, models=None):
        """Runs the entry point in the unpacked layer. Returns the process."""
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("needs root and mount namespaces")
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", CONTAINER, "container", str(self.root), "1" if writable else "0",
                   str(models or ""), str(HERE / "chroot_exec.py"), sys.executable, *self.config["config"]["Entrypoint"], *args]
        env = dict(item.split("=", 1) for item in self.config["config"]["Env"])
        env["PATH"] += ":" + os.environ["PATH"]  # for mount
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def await_ready(self, process, port, begin):
        """Returns the seconds from `begin` until GET /v2/health/ready succeeds."""
        while time.monotonic() < begin + 30:
            if process.poll() is not None:
                raise AssertionError(process.stdout.read().decode())
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", "/v2/health/ready")
                if connection.getresponse().status == 200:
                    return time.monotonic() - begin
            except OSError:
                time.sleep(0.005)
            finally:
                connection.close()
        raise AssertionError("the server is not ready after 30 s")

    def ask(self, port, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST" if body else "GET", path, json.dumps(body) if body else None)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        self.assertEqual(answer.status, 200, data)
        return json.loads(data) if data else None

    def free_ports(self):
        import socket  # pylint: disable=import-outside-toplevel
        sockets = [socket.socket() for _ in range(3)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        ports = [s.getsockname()[1] for s in sockets]
        for s in sockets:
            s.close()
        return ports

    def flags(self, ports):
        return [f"--{name}-port={port}" for name, port in zip(("http", "grpc", "metrics"), ports)]

    def test_read_only_root_without_any_writable_folder(self):
        import onnx  # pylint: disable=import-outside-toplevel
        models = self.dir / "models"
        (models / "mlp" / "1").mkdir(parents=True)
        onnx.save(mlp()[0], models / "mlp" / "1" / "model.onnx")
        best = math.inf
        for start in range(3):  # other programs of the machine may delay one start
            if start:
                self.stop(process)
            ports = self.free_ports()
            begin = time.monotonic()
            process = self.container("--repository", "/models", *self.flags(ports), models=models)
            best = min(best, self.await_ready(process, ports[0], begin))
            if best <= 1:
                break
        print(f"ready after {best:.2f} s")
        self.assertLessEqual(best, 1)
        answer = self.ask(ports[0], "/v2/models/mlp/infer", {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [0] * 4}]})
        self.assertEqual(answer["outputs"][0]["shape"], [1, 3])
        status = self.status_of_server(process)
        self.assertEqual(status["Uid"].split(), [str(USER)] * 4)
        self.assertEqual((status["CapEff"], status["CapBnd"], status["NoNewPrivs"]), ("0" * 16, "0" * 16, "1"))
        self.stop(process)

    def test_the_built_in_model_needs_only_tmp(self):
        ports = self.free_ports()
        process = self.container(*self.flags(ports), writable=True)
        self.await_ready(process, ports[0], time.monotonic())
        self.assertEqual(self.ask(ports[0], "/v2/models/digits")["name"], "digits")
        self.stop(process)
        # Without /tmp, the reason is printed.
        process = self.container(*self.flags(ports))
        self.assertEqual(process.wait(20), 2)
        self.assertIn("Read-only file system", process.stdout.read().decode())

    def server_pid(self, process):
        """The server is the only descendant that runs /usr/bin/tern."""
        pending = [process.pid]
        while pending:
            pid = pending.pop()
            if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"/usr/bin/tern\0"):
                return pid
            pending += [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        raise AssertionError("there is no server")

    def status_of_server(self, process):
        lines = pathlib.Path(f"/proc/{self.server_pid(process)}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def stop(self, process):
        os.kill(self.server_pid(process), signal.SIGTERM)
        self.assertEqual(process.wait(40), 0, process.stdout.read().decode())


if __name__ == "__main__":
    unittest.main()
