"""OpenAI's Python client against `tern serve`. TERN_OPENAI_PYTHON is a Python with openai; the suite `openai` makes one."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import causal_models  # pylint: disable=wrong-import-position
from serving import ServeTest  # pylint: disable=wrong-import-position
from test_serve_openai import embedder  # pylint: disable=wrong-import-position


class OpenAi(ServeTest):
    def test_client(self):
        causal_models.write_generator(self.dir / "tiny", context=2048)
        embedder(self.dir / "embed")
        server = self.serve("--model", f"tiny={self.dir / 'tiny'}", "--model", f"embed={self.dir / 'embed'}")
        command = [os.environ["TERN_OPENAI_PYTHON"], HERE / "openai_client.py", f"http://{server.http}/v1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
