"""Runs the examples and compares what they print and draw with their pages. An example whose packages or models are missing is
skipped; `tern test examples` installs the packages, and TERN_ZOO names the folder of models."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))

from checkout import ROOT, Checkout, missing  # noqa: E402
from docs_pages import blocks  # noqa: E402

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
PICTURES = {".png", ".jpg"}
LINES, KILOBYTES = 40, 60  # of a program, of a picture


def pages():
    """Returns the pages of the examples that show an output."""
    return [page for page in sorted(ROOT.glob("examples/*/README.md")) if blocks(page, "text")]


def same_text(got, wanted, tolerance=0.03):
    """Whether two texts differ only in numbers, and these by at most 3 % or one unit of the last digit that is printed."""
    if NUMBER.sub("#", got) != NUMBER.sub("#", wanted):
        return False
    pairs = zip(NUMBER.findall(got), NUMBER.findall(wanted))
    return all(abs(float(a) - float(b)) <= max(tolerance * abs(float(b)), 1.01 * 10 ** -len(b.partition(".")[2])) for a, b in pairs)


class Examples(unittest.TestCase):
    def run_example(self, page):
        with tempfile.TemporaryDirectory(prefix="tern_example_") as name:
            checkout = Checkout(pathlib.Path(name))
            before, printed = set(checkout.folder.iterdir()), ""
            for block in blocks(page, "sh"):
                status, output, errors = checkout.run(block)
                self.assertEqual(status, 0, f"{block.place}\n{output}\n{errors}")
                printed += output
            wanted = "".join(block.text for block in blocks(page, "text"))
            self.assertTrue(same_text(printed, wanted), f"the page shows\n{wanted}\nbut the example prints\n{printed}")
            self.assertEqual(set(checkout.folder.iterdir()) - before, set(), "the example creates files outside build/")
            for picture in (path for path in page.parent.iterdir() if path.suffix in PICTURES):
                self.same_picture(checkout.folder / "build/examples" / picture.name, picture)

    def same_picture(self, got, wanted):
        import numpy as np
        from PIL import Image
        with Image.open(got) as a, Image.open(wanted) as b:
            self.assertEqual(a.size, b.size)
            difference = np.abs(np.asarray(a.convert("RGB"), float) - np.asarray(b.convert("RGB"), float)).mean()
        self.assertLess(difference, 6, f"{wanted.name} differs by {difference:.1f} of 255 in the mean")

    def test_examples_are_small(self):
        for page in pages():
            for path in page.parent.iterdir():
                if path.suffix in (".py", ".cc"):
                    self.assertLessEqual(len(path.read_text().splitlines()), LINES, path.name)
                if path.suffix in PICTURES:
                    self.assertLessEqual(path.stat().st_size, KILOBYTES * 1000, path.name)

    def test_each_example_is_in_the_gallery(self):
        gallery = (ROOT / "examples/README.md").read_text()
        self.assertEqual([page.parent.name for page in sorted(ROOT.glob("examples/*/README.md")) if f"({page.parent.name}/README.md)" not in gallery], [])

    def test_texts_are_compared(self):
        self.assertTrue(same_text("a 0.99 b 1000", "a 0.98 b 1010"))
        self.assertFalse(same_text("a 0.99", "b 0.99"))
        self.assertFalse(same_text("a 0.99", "a 0.90"))


def add_tests():
    for page in pages():
        def test(self, page=page):
            if gone := missing(page, page.parent.glob("*.py")):
                self.skipTest(f"{', '.join(gone)} missing; `tern test examples` installs what the examples need")
            if "$TERN_ZOO" in page.read_text() and not os.environ.get("TERN_ZOO"):
                self.skipTest("TERN_ZOO does not name a folder of models")
            self.run_example(page)
        setattr(Examples, f"test_{page.parent.name}", test)


add_tests()

if __name__ == "__main__":
    unittest.main()
