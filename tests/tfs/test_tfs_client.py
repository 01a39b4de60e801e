"""TensorFlow Serving's client against `tern serve`. TERN_TFS_PYTHON is a Python with tensorflow-serving-api; the suite `tfs` makes one."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from saved_model import half_plus_two  # pylint: disable=wrong-import-position
from serving import ServeTest  # pylint: disable=wrong-import-position

ZOO = os.environ.get("TERN_ZOO", "")
HALF = pathlib.Path(ZOO, "models/tensorflow")


class Client(ServeTest):
    def talk(self, server, model, regress, classify):
        command = [os.environ["TERN_TFS_PYTHON"], HERE / "tfs_client.py", server.grpc, model, "123", regress, classify]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_saved_model(self):
        half_plus_two(self.dir / "models/half/123")
        self.talk(self.serve("--repository", self.dir / "models"), "half", "regress", "classify")

    @unittest.skipUnless(ZOO and (HALF / "saved_model_half_plus_two_cpu").is_dir(), "TERN_ZOO is not set")
    def test_the_models_of_the_documentation(self):
        names = ("saved_model_half_plus_two_cpu", "saved_model_half_plus_two_tf2_cpu")
        for name in names:
            shutil.copytree(HALF / name / "00000123", self.dir / "models" / name / "123")
        server = self.serve("--repository", self.dir / "models")
        for name in names:
            with self.subTest(name):
                self.talk(server, name, "regress_x_to_y", "classify_x_to_y")


if __name__ == "__main__":
    unittest.main()
