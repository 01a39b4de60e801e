"""Tests that C++ fragments of the documentation compile against the public headers, as C++17 and with all warnings."""

import subprocess
import unittest

from docs_pages import ROOT, blocks, written_pages
from support import CliTest

HEAD = """#include <tern/tern.hpp>
#include <cstdio>
#include <map>
"""


class Snippets(CliTest):
    def compile(self, text):
        source = self.dir / "snippet.cc"
        source.write_text(text)
        done = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", source],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_function_bodies_compile(self):
        """Compiles each fragment as the body of a function with a parameter `predictor`. test_docs.py tests complete
        programs."""
        found = [block for page in written_pages() for block in blocks(page, "cpp") if not block.file and "int main(" not in block.text]
        self.assertGreater(len(found), 5)
        self.compile(HEAD + "".join(
            f'#line {block.line + 1} "{block.page.relative_to(ROOT)}"\ntern::Status Example{i}(tern::Predictor& predictor) {{ {block.text}}}\n'
            for i, block in enumerate(found)))

    def test_each_header_stands_alone(self):
        for header in sorted((ROOT / "include/tern").glob("*.hpp")):
            self.compile(f"#include <tern/{header.name}>\n")


if __name__ == "__main__":
    unittest.main()
