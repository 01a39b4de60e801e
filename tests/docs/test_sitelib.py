"""Tests the diagrams, the division of the page of rules and the links of the site."""

import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from sitelib import diagrams, nanobind_docs, python_api, rules  # noqa: E402
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


CPP = """
// nb::class_<Not>(m, "Not")
void Add(nb::module_& m) {
  nb::class_<Box> type(m, "Box", "A box. "
                       "It is small.");
  type.def("run", [](Box& b) { return f("a)", b); }, nb::arg("x") = "",
           "Runs \\"it\\".")
      .def_prop_ro("size", &Box::size, "In bytes.")
      .def("plain", &Box::Plain);
  nb::class_<Stop>(m, "Stop").def(nb::init<>()).def("set", &Stop::Set, "Stops.");
}
void More(nb::class_<Box>& type) { type.def("more", &More, "More."); }
"""


class Python(unittest.TestCase):
    def test_the_page_has_what_the_package_exports(self):
        files = {"__init__.py": '"""A package.\n\n>>> 1 + 1\n2\n"""\nfrom ._tern import Box\nfrom .a import Info, load\nfrom .errors import Wrong\n_LAZY = {"late": "b"}\n',
                 "a.py": 'Info = record("Info", "name", "What it is.")\ndef load(path, **options):\n    """Loads.\n\n    a=1   one\n    bb=2  two\n    """\n',
                 "b.py": 'async def late():\n    """Comes late."""\n',
                 "errors.py": 'class Wrong(ValueError):\n    """It is wrong."""\n',
                 "__init__.pyi": "class Hidden: ...\nclass Wrong(ValueError): ...\nclass Info(tuple[str]):\n    @property\n    def name(self) -> str: ...\n"
                                 "class Box:\n    def __init__(self, x: int, *, y: int = 1) -> None: ...\n    def run(self, x: str = '') -> None: ...\n"
                                 "    def _own(self) -> None: ...\n    @property\n    def size(self) -> int: ...\n"
                                 "def load(path: str, *, threads: int = 0) -> Box: ...\nasync def late() -> int: ...\n"}
        with tempfile.TemporaryDirectory() as name:
            for path, text in files.items():
                (pathlib.Path(name) / path).write_text(text)
            page = python_api.page(pathlib.Path(name), nanobind_docs.read([CPP]))
        for part in ("```pycon\n>>> 1 + 1\n2\n```",
                     "## load { #load }\n\n```python\ndef load(path: str, *, threads: int=0) -> Box\n```\n\nLoads.\n\n```text\na=1   one\nbb=2  two\n```",
                     "```python\nBox(x: int, *, y: int=1)\n```\n\nA box. It is small.\n\n```python\nsize: int  # In bytes.\n```", "def run(x: str='')\n```\n\nRuns \"it\".",
                     "## Info { #Info }\n\nWhat it is.\n\n```python\nname: str\n```", "async def late() -> int\n```\n\nComes late.", "| `Wrong` | `ValueError` | It is wrong. |"):
            self.assertIn(part, page)
        for part in ("_own", "Hidden"):
            self.assertNotIn(part, page)

    def test_the_documentation_of_the_extension(self):
        self.assertEqual(nanobind_docs.read([CPP]), {"Box": {"": "A box. It is small.", "run": 'Runs "it".', "size": "In bytes.", "plain": "", "more": "More."},
                                                     "Stop": {"": "", "set": "Stops."}})


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
