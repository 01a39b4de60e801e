"""Runs the code blocks of the pages that have Python: tutorials, how-to guides, the README. A page whose packages are not
installed is skipped; `tern test docs` installs them all."""

import importlib.util
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

from docs_pages import blocks, needs, uses_python, written_pages  # noqa: E402

TERN = pathlib.Path(os.environ.get("TERN_BIN", ROOT / "build/release/bin/tern")).resolve()
BUILD = TERN.parents[1]
PACKAGE = BUILD / "python"  # the target python_module makes it
MODULES = {"scikit-learn": "sklearn", "pillow": "PIL"}  # packages whose modules have another name


def missing(page):
    """Returns the packages that the page needs and that are not installed."""
    there = {"tern": (PACKAGE / "tern").is_dir()}
    wanted = needs(page) + (["tern"] if any("import tern" in block.text for block in blocks(page, "python")) else [])
    return [name for name in dict.fromkeys(wanted) if not there.get(name, name != "tern" and importlib.util.find_spec(MODULES.get(name, name)))]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Checkout:
    """A folder that looks like a checkout after a build, in which a page's blocks run."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        shutil.copytree(ROOT / "examples/digits", folder / "examples/digits")
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(BUILD)
        (folder / "tern").write_text(f'#!/bin/sh\nexec "{TERN}" "$@"\n')
        (folder / "tern").chmod(0o755)
        path = f"{pathlib.Path(sys.executable).parent}:{TERN.parent}:{os.environ['PATH']}"
        self.env = dict(os.environ, PATH=path, PYTHONPATH=str(PACKAGE), PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="3",
                        TERN_SERVE_HTTP_PORT=str(self.port), TERN_SERVE_GRPC_PORT="0", TERN_SERVE_METRICS_PORT="0")

    def run(self, block):
        """Runs one block. A server that a block starts listens on a free port instead of 8000."""
        text = block.text.replace("localhost:8000", f"localhost:{self.port}")
        command = ["bash", "-euo", "pipefail", "-c", text] if block.language == "sh" else [sys.executable, "-c", text]
        return subprocess.run(command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600)


class Pages(unittest.TestCase):
    def run_page(self, page):
        with tempfile.TemporaryDirectory(prefix="tern_page_") as name:
            checkout = Checkout(pathlib.Path(name))
            found = blocks(page)
            saved = [block for block in found if block.saved_as]
            for block in saved:
                (checkout.folder / block.saved_as).write_text(block.text)
            before = set(checkout.folder.iterdir())
            for block in found:
                if block.language in ("sh", "python") and block not in saved:
                    done = checkout.run(block)
                    self.assertEqual(done.returncode, 0, f"{block.place}\n{block.text}\n{done.stdout}\n{done.stderr}")
            self.assertEqual([path.name for path in set(checkout.folder.iterdir()) - before], [], f"{page.name} creates files outside build/")
            unused = [block.place for block in saved if not any(block.saved_as in other.text for other in found if other.language == "sh")]
            self.assertEqual(unused, [], "no block runs these files")


def add_tests():
    for page in filter(uses_python, written_pages()):
        def test(self, page=page):
            if gone := missing(page):
                self.skipTest(f"{', '.join(gone)} missing; `tern test docs` installs what the pages need")
            self.run_page(page)
        setattr(Pages, "test_" + str(page.relative_to(ROOT)).replace("/", "_").replace(".", "_"), test)


add_tests()

if __name__ == "__main__":
    unittest.main()
