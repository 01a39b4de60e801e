"""A folder that looks like a checkout after a build, in which the code blocks of a page run."""

import importlib.util
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

from docs_pages import blocks, needs  # noqa: E402

TERN = pathlib.Path(os.environ.get("TERN_BIN", ROOT / "build/release/bin/tern")).resolve()
BUILD = TERN.parents[1]
PACKAGE = BUILD / "python"  # the target python_module makes it
MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "'tritonclient[http]'": "tritonclient"}  # packages whose modules have another name


def missing(page, scripts=()):
    """Returns the packages that the page and the scripts need and that are not installed."""
    code = [block.text for block in blocks(page, "python")] + [path.read_text() for path in scripts]
    wanted = dict.fromkeys(needs(page) + (["tern"] if any("import tern" in text for text in code) else []))
    return [name for name in wanted if not (importlib.util.find_spec(MODULES.get(name, name)) if name != "tern" else (PACKAGE / "tern").is_dir())]


SESSION = """
import json, os, sys, traceback
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
scope = {"__name__": "page"}
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "block", "exec"), scope)
        error = ""
    except BaseException:
        error = traceback.format_exc()
    sys.stdout.flush()
    print(json.dumps(error), file=answers, flush=True)
"""


class Session:
    """A Python process that runs the Python blocks of a page one after the other, in one scope."""

    def __init__(self, folder, env):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, "-c", SESSION], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def run(self, text):
        """Returns the exit status that the block would have as a program, and what it and the blocks before it printed."""
        print(json.dumps(text), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        error = json.loads(answer) if answer else "the process ended"
        self.log.seek(0)
        return (1 if error else 0), self.log.read() + error

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self.log.close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Checkout:
    """A folder that looks like a checkout after a build, in which a page's blocks run."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(BUILD)
        (folder / "tern").write_text(f'#!/bin/sh\nexec "{TERN}" "$@"\n')
        (folder / "tern").chmod(0o755)
        path = f"{pathlib.Path(sys.executable).parent}:{TERN.parent}:{os.environ['PATH']}"
        self.env = dict(os.environ, PATH=path, PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="3",
                        TERN_SERVE_HTTP_PORT=str(self.port), TERN_SERVE_GRPC_PORT="0", TERN_SERVE_METRICS_PORT="0")
        self.session = None

    def text(self, block):
        """Returns the text of a block with the port of the server. A server that a block starts listens on a free port instead of 8000."""
        return block.text.replace("localhost:8000", f"localhost:{self.port}")

    def save(self, block):
        (self.folder / block.saved_as).write_text(self.text(block))

    def run(self, block):
        """Runs one block. Returns its exit status, what it printed, and its errors. Python blocks see the names of the Python
        blocks before them."""
        text = self.text(block)
        if block.language == "python":
            self.session = self.session or Session(self.folder, self.env)
            return (*self.session.run(text), "")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=600)
        return done.returncode, done.stdout, done.stderr

    def close(self):
        if self.session:
            self.session.close()
