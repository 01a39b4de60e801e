"""Runs the code blocks of docs/guide/torch.md."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

from docs_pages import blocks  # noqa: E402


class Page(unittest.TestCase):
    def test_blocks(self):
        found = blocks(ROOT / "docs/guide/torch.md", "python")
        self.assertGreaterEqual(len(found), 3)
        for block in found:
            with self.subTest(block.place):
                done = subprocess.run([sys.executable, "-c", block.text], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
