"""Tests the documentation site: it builds without a warning, its links lead somewhere, and it loads nothing from elsewhere."""

import importlib.util
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from site_pages import ROOT, Page, broken, build, is_outside, pages

TABS = ["Home", "Start", "Tutorials", "How-to", "Guides", "Examples", "Reference", "Architecture", "Extending", "Reports", "Decisions", "FAQ", "Roadmap"]


MISSING = [name for name, there in (("mkdocs-material", importlib.util.find_spec("material")), ("graphviz", shutil.which("dot"))) if not there]


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} missing; `tern test docs` installs what the site needs")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.status, cls.output = build(cls.folder)
        cls.pages = pages(cls.folder)

    def check(self, wrong):
        self.assertEqual(wrong, [], "\n".join(wrong))

    def page(self, name):
        return self.pages[self.folder / name]

    def test_builds_without_a_warning(self):
        self.assertEqual((self.status, self.output), (0, ""))
        self.assertGreater(len(self.pages), 80)

    def test_links_and_anchors_lead_somewhere(self):
        self.assertGreater(sum(len(page.links) for page in self.pages.values()), 5000)
        self.check(broken(self.pages))

    def test_nothing_is_loaded_from_elsewhere(self):
        """The theme would load Mermaid from a network for an element of the class "mermaid"."""
        self.check([f"{path.name}: loads {link}" for path, page in self.pages.items() for link in page.loads if is_outside(link)])
        self.check([f"{path.name} has a diagram that a script must draw" for path, page in self.pages.items() if "mermaid" in page.classes])
        sheets = [path for path in self.folder.rglob("*.css") if re.search(r"(?:url\(|@import )['\"]?(?:https?:)?//", path.read_text())]
        self.check([f"{path.name} loads something" for path in sheets])

    def test_the_navigation_has_its_tabs(self):
        tabs = re.findall(r'<li class="md-tabs__item.*?<a [^>]*>\s*(.*?)\s*</a>', self.page("index.html").text, re.S)
        self.assertEqual([re.sub(r"<.*?>|\s+", " ", tab).strip() for tab in tabs], TABS)

    def test_every_identifier_is_unique(self):
        self.check([f"{path.name}: {name}" for path, page in self.pages.items() for name in set(page.ids) if page.ids.count(name) > 1])

    def test_the_search_finds_headings_of_every_part(self):
        found = {entry["location"].partition("#")[0] for entry in json.loads((self.folder / "search/search_index.json").read_text())["docs"]}
        self.assertEqual(found, {str(path.relative_to(self.folder)) for path in self.pages})

    def test_each_header_has_a_page(self):
        titles = {re.search(r"<title>(.*?) - Tern</title>", page.text).group(1) for path, page in self.pages.items() if path.parent.parent.name == "reference"}
        headers = {str(header.relative_to(ROOT / "include")) for header in (ROOT / "include/tern").rglob("*.h*")}
        self.assertEqual(headers - titles, set())

    def test_each_rule_has_a_picture(self):
        rules = (ROOT / "docs/reference/passes.md").read_text().count("```mermaid")
        self.assertEqual(sum(page.text.count('<div class="rule">') for page in self.pages.values()), rules)


class Check(unittest.TestCase):
    """Tests that the checks above can fail."""

    def test_broken_links_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            (folder / "a.html").write_text('<h1 id="here">a</h1><a href="b.html#there"></a><a href="#here"></a><a href="#gone"></a><img src="c.png">')
            (folder / "b.html").write_text('<a href="a.html#here"></a><script src="https://example.org/x.js"></script>')
            found = pages(folder)
            self.assertEqual(broken(found), ["a.html: b.html#there: there is no such anchor", "a.html: #gone: there is no such anchor",
                                             "a.html: c.png: there is no such file"])
            self.assertTrue(is_outside(Page(folder / "b.html").loads[0]))


if __name__ == "__main__":
    unittest.main()
