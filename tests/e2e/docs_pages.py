"""Reads the pages of the documentation: their code blocks, links and names."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROADMAP = ROOT / "docs/roadmap.md"
GENERATED = (ROOT / "docs/reference/ops.md", ROOT / "docs/reference/passes.md", *(ROOT / "docs/reference/operators").glob("*.md"))


def pages():
    """Returns all pages except the change log, which may name removed features."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "bench/README.md", *sorted(ROOT.glob("examples/*/README.md")),
             *sorted(ROOT.glob("tests/*/README.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.is_file()]


def written_pages():
    """Returns the pages that no script generates."""
    return [page for page in pages() if page not in GENERATED]


@dataclasses.dataclass(frozen=True)
class Block:
    page: pathlib.Path
    line: int
    language: str
    text: str
    intro: str  # the last non-empty line between the block and the one before it

    @property
    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self):
        """Returns the path P if the line before the block is "New file `P`:", else None."""
        found = re.search(r"^New file `([^`]+)`:$", self.intro)
        return found.group(1) if found else None

    @property
    def saved_as(self):
        """Returns P if the line before the block ends with "`P`:", else None. A test writes the block to this file of the
        checkout before it runs the page."""
        found = re.search(r"`([\w-]+\.(?:py|cc|c))`:$", self.intro)
        return found.group(1) if found else None


def blocks(page, language=None):
    """Returns the fenced blocks of a page, in order."""
    found, open_at, head, lines, intro = [], None, "", [], ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```") and open_at is None:
            open_at, head, lines = number, line[3:].strip(), []
        elif line.startswith("```"):
            found.append(Block(page, open_at, head, "\n".join(lines) + "\n", intro))
            open_at, intro = None, ""
        elif open_at is not None:
            lines.append(line)
        elif line.strip():
            intro = line.strip()
    return [block for block in found if language in (None, block.language)]


def needs(page):
    """Returns the Python packages that a page tells its reader to install, in lines such as `$ pip install . torch`."""
    lines = [line for block in blocks(page, "console") for line in block.text.splitlines()]
    return [word for line in lines if line.startswith("$ pip install ") for word in line.partition("#")[0].split()[3:] if not word.startswith(("-", "."))]


def uses_python(page):
    """Whether the page has a Python block outside docs/extending, whose blocks belong to other tests, or needs a Python package.
    The suites `docs` and `examples` run such pages."""
    return page.parent.name != "extending" and bool(blocks(page, "python") or needs(page))


def is_example(page):
    return page.parent.parent == ROOT / "examples"


def prose(page):
    """Returns a page's text without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)


def code_spans(page):
    return re.findall(r"`([^`\n]+)`", prose(page))


def links(page):
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page):
    """Returns the anchors that GitHub generates for the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
