"""kserve's REST and gRPC clients against `tern serve`. TERN_KSERVE_PYTHON is a Python with kserve; the suite `kserve` makes one."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from serving import SIMPLE_CONFIG, ServeTest, simple  # pylint: disable=wrong-import-position


class Kserve(ServeTest):
    def test_rest_and_grpc(self):
        """In a process of its own: kserve and tritonclient register the same messages."""
        server = self.serve("--repository", self.repository({"simple": (simple(), SIMPLE_CONFIG)}))
        command = [os.environ["TERN_KSERVE_PYTHON"], HERE / "kserve_client.py", server.http, server.grpc]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_runtime_of_kserve(self):
        runtime = HERE.parents[1] / "deploy" / "kserve" / "clusterservingruntime.yaml"
        done = subprocess.run([os.environ["TERN_KSERVE_PYTHON"], HERE / "runtime_check.py", runtime], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
