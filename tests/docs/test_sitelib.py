"""Tests the diagrams, the division of the page of rules and the links of the site."""

import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from sitelib import diagrams, python_api, rules  # noqa: E402
from sitelib.tree import Tree, outside_pages  # noqa: E402

RULE = '''flowchart LR
  subgraph before
    direction TB
    b0["if<br/>x = #quot;1#quot;"]
    b1(["a"])
    b1 --> b0
    subgraph b3 ["then"]
    b4["mul"]
    end
    b3 -.->|"y"| b0
  end
  subgraph after
    direction TB
    a0{{"2"}}
  end
  before ==> after
'''


class Diagrams(unittest.TestCase):
    def test_dot(self):
        before, after = (diagrams.dot_of(side) for side in diagrams.sides(RULE))
        for part in ('b0 [label="if\\nx = \\"1\\"" class="op" shape=box]', "b1 -> b0 []", 'subgraph "cluster_b3" { label="then"',
                     'b4 -> b0 [label="y" style=dashed ltail="cluster_b3"]'):
            self.assertIn(part, before)
        self.assertIn('a0 [label="2" class="constant" shape=hexagon]', after)

    @unittest.skipIf(shutil.which("dot") is None, "graphviz missing; `tern test docs` installs it")
    def test_svg(self):
        drawn = diagrams.render(f"text\n\n```mermaid\n{RULE}```\n")
        self.assertEqual((drawn.count("<svg"), drawn.count('class="node op"'), "mermaid" in drawn), (2, 2, False))
        self.assertEqual(drawn.count("id="), 0)

    def test_unknown_text_is_an_error(self):
        for text in ("graph TD\n  a --> b\n", RULE.replace("b1 --> b0", "b1 <-> b0")):
            with self.assertRaises(diagrams.BadDiagram):
                [diagrams.dot_of(side) for side in diagrams.sides(text)]


class Rules(unittest.TestCase):
    def test_groups_get_pages(self):
        head, groups, places = rules.divide("# All\n\n## Passes\n\n[A](#a)\n\n## Group x\n\n### A\n\n[B](#b) [Passes](#passes)\n\n## Group y\n\n### B\n")
        self.assertIn("- [x](passes/x.md): 1 rules\n- [y](passes/y.md): 1 rules", head)
        self.assertEqual(places, {"a": "reference/passes/x.md", "b": "reference/passes/y.md", "passes": "reference/passes.md"})
        self.assertIn("[A](passes/x.md#a)", rules.relink(head, "reference/passes.md", places))
        self.assertIn("[B](y.md#b) [Passes](../passes.md#passes)", rules.relink(groups["x"], "reference/passes/x.md", places))


class Python(unittest.TestCase):
    def test_the_page_has_what_the_package_exports(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "__init__.py").write_text('"""A package.\n\n>>> 1 + 1\n2\n"""\nfrom ._tern import Cancel\nfrom .a import Box, Info, load\n'
                                                'from .errors import Wrong\n_LAZY = {"late": ".b"}\n')
            (folder / "a.py").write_text('from . import _tern\nclass Box(_tern.Box):\n    """A box."""\n    def __init__(self, x, *, y=1): pass\n    def _own(self): pass\n'
                                         '    @property\n    def size(self) -> int:\n        """In bytes."""\n'
                                         'Info = record("Info", "name type", "What it is.")\ndef load(path, **options):\n    """Loads.\n\n    a=1   one\n    bb=2  two\n    """\n')
            (folder / "b.py").write_text("async def late(): pass\n")
            (folder / "errors.py").write_text('class Wrong(ValueError):\n    """It is wrong."""\n')
            (folder / "_tern.pyi").write_text('class Box:\n    def run(self, x: int) -> str:\n        """Runs."""\nclass Cancel:\n    """Stops."""\n')
            page = python_api.page(folder)
        for part in ("```pycon\n>>> 1 + 1\n2\n```", "## load { #load }\n\n```python\ndef load(path, **options)\n```\n\nLoads.\n\n```text\na=1   one\nbb=2  two\n```",
                     "class Box\nBox(x, *, y=1)", "### size { #Box.size }\n\n```python\nBox.size: int\n```\n\nIn bytes.", "def run(x: int) -> str\n```\n\nRuns.",
                     "Info(name, type)\n```\n\nWhat it is.", "async def late()", "Stops.", "| `Wrong` | `ValueError` | It is wrong. |"):
            self.assertIn(part, page)
        self.assertNotIn("_own", page)


class Links(unittest.TestCase):
    def setUp(self):
        self.tree = Tree({**outside_pages(), "include/tern/tern.hpp": "reference/cpp/tern.md"})
        self.tree.moved = {("docs/reference/passes.md", "fuseaffine"): "reference/passes/linear.md"}

    def test_links_follow_the_pages(self):
        for uri, before, after in (
                ("index.md", "[a](docs/start.md#x)", "[a](start.md#x)"),
                ("guide/cpp.md", "[a](../../include/tern/tern.hpp)", "[a](../reference/cpp/tern.md)"),
                ("guide/cpp.md", "[a](../reference/passes.md#fuseaffine)", "[a](../reference/passes/linear.md#fuseaffine)"),
                ("start.md", "[a](../examples/digits)", "[a](examples/digits.md)"),
                ("start.md", "[`a`](../scripts/deps)", "`a`"),
                ("start.md", "[a](https://x.org/y) [b](#c)", "[a](https://x.org/y) [b](#c)"),
                ("start.md", "[a](gone.md)", "[a](gone.md)"),
                ("index.md", "[![p](docs/reports/performance_fp32.svg)](docs/reports/performance.md)", "[![p](reports/performance_fp32.svg)](reports/performance.md)"),
                ("start.md", "```sh\n[a](../scripts/deps)\n```", "```sh\n[a](../scripts/deps)\n```")):
            with self.subTest(before):
                self.assertEqual(self.tree.rewrite(before, uri), after)


if __name__ == "__main__":
    unittest.main()
