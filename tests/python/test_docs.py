"""Runs the Python examples of the documentation."""

import contextlib
import io
import pathlib
import re
import shutil
import tempfile
import unittest

import support

PAGES = ("README.md", "docs/guide/python.md")


def python_blocks(page):
    """Returns the Python blocks of a page with empty lines before them, so that line numbers of errors are those of the page."""
    text = (support.ROOT / page).read_text(encoding="utf-8")
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.S | re.M):
        yield "\n" * text.count("\n", 0, match.start(1)) + match.group(1)


class Pages(unittest.TestCase):
    def test_blocks(self):
        for page in PAGES:
            with self.subTest(page), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                shutil.copytree(support.ROOT / "examples/digits", pathlib.Path(folder, "examples/digits"))
                scope = {"__name__": "docs"}
                blocks = list(python_blocks(page))
                self.assertTrue(blocks)
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    for block in blocks:
                        exec(compile(block, page, "exec"), scope)  # noqa: S102
                self.assertTrue(printed.getvalue().strip())


if __name__ == "__main__":
    unittest.main()
