"""Runs the code blocks of the pages that have Python: tutorials, how-to guides, the README. A page whose packages are not
installed is skipped; `tern test docs` installs them all."""

import pathlib
import tempfile
import unittest

from checkout import ROOT, Checkout, missing
from docs_pages import blocks, is_example, uses_python, written_pages


class Pages(unittest.TestCase):
    def run_page(self, page):
        with tempfile.TemporaryDirectory(prefix="tern_page_") as name:
            checkout = Checkout(pathlib.Path(name))
            self.addCleanup(checkout.close)
            found = blocks(page)
            saved = [block for block in found if block.saved_as]
            for block in saved:
                checkout.save(block)
            before = set(checkout.folder.iterdir())
            for block in found:
                if block.language in ("sh", "python") and block not in saved:
                    status, printed, errors = checkout.run(block)
                    self.assertEqual(status, 0, f"{block.place}\n{block.text}\n{printed}\n{errors}")
            self.assertEqual([path.name for path in set(checkout.folder.iterdir()) - before], [], f"{page.name} creates files outside build/")
            unused = [block.place for block in saved if not any(block.saved_as in other.text for other in found if other.language == "sh")]
            self.assertEqual(unused, [], "no block runs these files")


# tests/python/test_docs.py runs python.md. The client in openai.md needs a served language model: tests/openai makes these calls.
ELSEWHERE = {ROOT / "docs/guide/python.md", ROOT / "docs/guide/openai.md"}


def add_tests():
    for page in (page for page in written_pages() if uses_python(page) and not is_example(page) and page not in ELSEWHERE):
        def test(self, page=page):
            if gone := missing(page):
                self.skipTest(f"{', '.join(gone)} missing; `tern test docs` installs what the pages need")
            self.run_page(page)
        setattr(Pages, "test_" + str(page.relative_to(ROOT)).replace("/", "_").replace(".", "_"), test)


add_tests()

if __name__ == "__main__":
    unittest.main()
