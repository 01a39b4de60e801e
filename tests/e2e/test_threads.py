"""Tests how many threads a process has, and that it works if the system refuses to create threads."""

import os
import pathlib
import resource
import shutil
import subprocess
import time
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import TERN, CliTest


def model():
    """Returns a model with a matrix product, a convolution and an LSTM. Its weights are so large that several threads
    copy and pack them."""
    rng = np.random.default_rng(1)
    weights = {"w": (512, 1200), "k": (64, 3, 7, 7), "lw": (1, 1024, 1200), "lr": (1, 1024, 256)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("LSTM", ["m", "lw", "lr"], ["y"], hidden_size=256),
        helper.make_node("Conv", ["picture", "k"], ["z"]),
    ]
    graph = helper.make_graph(
        nodes, "threads",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 4, 512]),
         helper.make_tensor_value_info("picture", TensorProto.FLOAT, [1, 3, 64, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
         helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(rng.standard_normal(dims, dtype=np.float32) * 0.05, name) for name, dims in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Threads(CliTest):
    def setUp(self):
        super().setUp()
        self.dir.chmod(0o755)
        self.model = self.save(model())

    def most_threads(self, *args, cores=None, under=(), env=None, tern=TERN, **kwargs):
        """Runs a benchmark and returns the largest number of threads that it has. Polling every 10 ms is enough,
        because the threads of the pool live until the end of the run."""
        env = env or {**os.environ, "TERN_CORES": str(cores)}
        with subprocess.Popen([*under, tern, "bench", self.model, "--seconds", "0.5", *args], stdout=subprocess.DEVNULL,
                              env=env, **kwargs) as process:
            most = 0
            while process.poll() is None:
                try:
                    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                except OSError:
                    break
                most = max([most, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("Threads:"))])
                time.sleep(0.01)
            self.assertEqual(process.wait(), 0)
        return most

    def test_as_many_as_asked_for(self):
        self.assertEqual(self.most_threads("--threads", "1", cores=4), 1)
        self.assertEqual(self.most_threads("--threads", "3", cores=4), 3)

    def test_no_more_than_cores(self):
        self.assertEqual(self.most_threads("--threads", "64", cores=2), 2)
        self.assertEqual(self.most_threads(cores=3), 3)

    def test_affinity(self):
        core = str(min(os.sched_getaffinity(0)))
        env = {k: v for k, v in os.environ.items() if k != "TERN_CORES"}
        self.assertEqual(self.most_threads(under=["taskset", "-c", core], env=env), 1)

    def test_wrong_number_of_cores(self):
        self.refused("bench", self.model, says="TERN_CORES", env={**os.environ, "TERN_CORES": "many"})
        self.refused("bench", self.model, says="TERN_PIN is neither 0 nor 1", env={**os.environ, "TERN_PIN": "yes"})

    def test_a_system_without_threads(self):
        def none():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        # The limit does not apply to root. If root runs this test, the program therefore runs as the user nobody. The
        # test copies the program, because nobody may have no access to the build folder.
        nobody = {"user": 65534, "extra_groups": [], "cwd": self.dir} if os.getuid() == 0 else {}
        tern = shutil.copy(TERN, self.dir / "tern")
        self.assertEqual(self.most_threads("--threads", "3", cores=4, tern=tern, **nobody), 3)
        self.assertEqual(self.most_threads("--threads", "3", cores=4, tern=tern, preexec_fn=none, **nobody), 1)


if __name__ == "__main__":
    unittest.main()
