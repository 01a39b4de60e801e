"""The documentation's pages as data: their blocks of code, links and names."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROADMAP = ROOT / "docs/roadmap.md"
GENERATED = (ROOT / "docs/reference/ops.md", ROOT / "docs/reference/passes.md")


def pages():
    """All pages for readers except the change log, which may name removed things."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "bench/README.md", *sorted(ROOT.glob("examples/*/README.md")),
             *sorted(ROOT.glob("tests/*/README.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.is_file()]


def written_pages():
    """Pages that are written by hand, not generated."""
    return [page for page in pages() if page not in GENERATED]


@dataclasses.dataclass(frozen=True)
class Block:
    page: pathlib.Path
    line: int
    language: str
    text: str
    intro: str  # the last line of text before it

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self):
        """The path of the new file that the text before the block names, or None."""
        found = re.search(r"^New file `([^`]+)`:$", self.intro)
        return found.group(1) if found else None


def blocks(page, language=None):
    """The fenced blocks of a page, in order."""
    found, open_at, head, lines, intro = [], None, "", [], ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```") and open_at is None:
            open_at, head, lines = number, line[3:].strip(), []
        elif line.startswith("```"):
            found.append(Block(page, open_at, head, "\n".join(lines) + "\n", intro))
            open_at = None
        elif open_at is not None:
            lines.append(line)
        elif line.strip():
            intro = line.strip()
    return [block for block in found if language in (None, block.language)]


def prose(page):
    """A page's text without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)


def code_spans(page):
    return re.findall(r"`([^`\n]+)`", prose(page))


def links(page):
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
