"""Tests that everything the pages name exists: links, files, identifiers, commands, options, test suites."""

import functools
import pathlib
import re
import subprocess
import sys
import unittest

from docs_pages import ROADMAP, ROOT, anchors, blocks, code_spans, links, pages, prose, written_pages
from support import TERN, run

LANGUAGES = {"c", "cmake", "sh", "console", "cpp", "python", "case", "rule", "graph", "text", "mermaid", "yaml", ""}
PATH = re.compile(r"(?:src|docs|tests|scripts|bench|cmake|examples|include|\.ci)/[\w./*-]*")
NAME = re.compile(r"(?:[A-Z][A-Za-z0-9]*(?:::[A-Za-z]\w*)*|k[A-Z][A-Za-z0-9]+|TERN_[A-Z_]+)(?:\(\))?")


@functools.cache
def source_words():
    """Returns every identifier in the sources, tests and scripts."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "src", "include", "tests", "scripts", "cmake", "bench", "CMakeLists.txt", "tern"],
                           cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    words = set()
    for name in files:
        path = ROOT / name
        if path.suffix in (".cc", ".h", ".hpp", ".py", ".cmake", ".inc", ".txt", "") and path.is_file() and "e2e/test_docs" not in name:
            words |= set(re.findall(r"[A-Za-z_]\w*", path.read_text(errors="ignore")))
    return words


@functools.cache
def new_things():
    """Returns the files and folders that docs/extending adds, and all identifiers in its code blocks."""
    found = [block for page in (ROOT / "docs/extending").glob("*.md") for block in blocks(page)]
    files = {block.file for block in found if block.file}
    folders = {str(pathlib.Path(name).parent) for name in files} | {f"tests/fuzz/corpus/{name}_fuzz/" for name in new_formats()}
    return files | folders, {word for block in found for word in re.findall(r"[A-Za-z_]\w*", block.text)}


def new_formats():
    """Returns the formats that docs/extending adds."""
    found = [block.text for page in (ROOT / "docs/extending").glob("*.md") for block in blocks(page, "cmake")]
    return re.findall(r"^tern_importer\((\w+)", "\n".join(found), re.M)


@functools.cache
def commands():
    listed = re.search(r"the commands are: ([\w, -]+);", run().stderr)
    return listed.group(1).split(", ")


@functools.cache
def options():
    """Returns every option of every command and of ./tern test."""
    text = "".join(run(command, "--help").stdout for command in commands()) + run("--help").stdout
    text += subprocess.run([sys.executable, ROOT / "scripts/run_tests", "--help"], capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"--[a-z][a-z0-9-]*", text))


class Names(unittest.TestCase):
    def check(self, wrong):
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_links_lead_somewhere(self):
        wrong = []
        for page in pages():
            for link in links(page):
                if re.match(r"[a-z]+://|mailto:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                if not target.exists():
                    wrong.append(f"{page.relative_to(ROOT)}: {link} does not exist")
                elif anchor and anchor not in anchors(target):
                    wrong.append(f"{page.relative_to(ROOT)}: {link} has no such heading")
        self.check(wrong)

    def test_every_page_is_linked(self):
        linked = {(page.parent / link.partition("#")[0]).resolve() for page in pages() for link in links(page)}
        self.check([f"no page links to {page.relative_to(ROOT)}" for page in (ROOT / "docs").rglob("*.md") if page.resolve() not in linked])

    def test_named_files_are_there(self):
        wrong = []
        for page in written_pages():
            if page == ROADMAP:
                continue
            for span in code_spans(page):
                if not PATH.fullmatch(span) or span in new_things()[0]:
                    continue
                if not (any(ROOT.glob(span)) if "*" in span else (ROOT / span).exists()):
                    wrong.append(f"{page.relative_to(ROOT)}: {span} does not exist")
        self.check(wrong)

    def test_named_code_is_there(self):
        """Each part of a name such as `Config::threads`, `kInPlace` or `TERN_ISA` is an identifier in the sources."""
        wrong = []
        for page in written_pages():
            if page == ROADMAP:
                continue
            more = new_things()[1] if page.parent.name == "extending" else set()
            for span in code_spans(page):
                if NAME.fullmatch(span):
                    missing = [part for part in span.removesuffix("()").split("::") if part not in source_words() | more]
                    wrong += [f"{page.relative_to(ROOT)}: {span}: the sources have no {part}" for part in missing]
        self.check(wrong)

    def test_named_commands_are_there(self):
        """Each command that a page writes as `tern WORD` exists. Commands in the roadmap do not exist yet."""
        wrong = []
        for page in pages():
            for word in re.findall(r"(?:`|\./|^\$ |bin/)tern ([a-z][\w-]*)", page.read_text(), re.M):
                there = word in commands() or word in ("help", "test")
                new = page.parent.name == "extending" and word in new_things()[1]
                if page != ROADMAP and not there and not new:
                    wrong.append(f"{page.relative_to(ROOT)}: there is no command tern {word}")
            if page == ROADMAP:
                wrong += [f"{ROADMAP.name}: tern {word} already exists" for word in re.findall(r"`tern ([a-z]+)`", page.read_text()) if word in commands()]
        self.check(wrong)

    def test_named_options_are_there(self):
        wrong = []
        for page in [ROOT / "README.md", ROOT / "docs/start.md", *(ROOT / "docs/guide").glob("*.md")]:
            for span in code_spans(page):
                if span.startswith("--"):
                    wrong += [f"{page.relative_to(ROOT)}: no command has {word}" for word in re.findall(r"--[a-z][a-z0-9-]*", span) if word not in options()]
        self.check(wrong)

    def test_plans_stand_in_the_roadmap_alone(self):
        wrong = []
        for page in written_pages():
            if page != ROADMAP:
                wrong += [f"{page.relative_to(ROOT)}: {line.strip()}" for line in prose(page).splitlines()
                          if re.search(r"\b(planned|not yet|to come|will be)\b", line, re.I) and "roadmap" not in line]
        self.check(wrong)

    def test_graphs_are_where_a_test_reads_them(self):
        """Only docs/architecture/ir.md may have blocks of the language "graph", because tests/ir/text_test.cc parses
        only that page."""
        self.check([block.place for page in written_pages() for block in blocks(page, "graph") if page != ROOT / "docs/architecture/ir.md"])

    def test_yaml_is_that_of_the_file_it_names(self):
        """The first line of a YAML block names a file. The rest of the block is the file without its comments."""
        wrong = []
        for block in (block for page in written_pages() for block in blocks(page, "yaml")):
            head, _, rest = block.text.partition("\n")
            path = ROOT / head.removeprefix("# ")
            if not path.is_file() or rest != re.sub(r"^#.*\n", "", path.read_text(), flags=re.M):
                wrong.append(f"{block.place} is not the file {head.removeprefix('# ')}")
        self.check(wrong)

    def test_blocks_say_what_they_are(self):
        wrong = [f"{block.place}: ```{block.language}" for page in written_pages() for block in blocks(page) if block.language not in LANGUAGES]
        inside = [block for page in written_pages() for block in blocks(page) if page.is_relative_to(ROOT / "docs") or page.parent == ROOT]
        self.check(wrong + [f"{block.place}: a block without a language" for block in inside if not block.language])

    def test_decisions_are_listed_and_numbered(self):
        folder = ROOT / "docs/decisions"
        files = sorted(path.name for path in folder.glob("[0-9]*.md"))
        self.assertEqual([name[:3] for name in files], [f"{i:03}" for i in range(1, len(files) + 1)])
        listed = re.findall(r"^- \[\d+\]\(([^)]+)\) (.*)$", (folder / "README.md").read_text(), re.M)
        self.assertEqual(listed, [(name, (folder / name).read_text().splitlines()[0].removeprefix("# ")) for name in files])
        self.check([f"{name} lacks {part}" for name in files for part in ("## Context", "## Choice") if part not in (folder / name).read_text()])

    def test_the_table_of_suites_is_complete(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        from testlib.suites import SUITES  # noqa: PLC0415
        table = (ROOT / "CONTRIBUTING.md").read_text().split("| suite |")[1].split("\n\n")[0]
        self.assertEqual(re.findall(r"^\| ([a-z0-9]+) \|", table, re.M), [suite.name for suite in SUITES])

    def test_console_lines_name_what_can_be_built(self):
        """In `$ ninja -C build/release a b`, a and b must be targets. In `$ build/release/bin/x`, x must be a
        target."""
        build = TERN.rsplit("/bin/", 1)[0]
        targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
        targets += "".join(f"import_{name}_test:\n" for name in new_formats())
        wrong = []
        for page in written_pages():
            for block in blocks(page, "console"):
                for line in block.text.splitlines():
                    named = re.findall(r"^\$ ninja -C build/release (.*?)(?:  #|$)", line)
                    named = named[0].split() if named else re.findall(r"^\$ build/release/bin/(\w+)", line)
                    wrong += [f"{block.place}: no target {name}" for name in named if not re.search(rf"^(bin/)?{name}:", targets, re.M)]
        self.check(wrong)


if __name__ == "__main__":
    unittest.main()
