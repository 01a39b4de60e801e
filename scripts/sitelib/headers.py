"""Reads the declarations of a public header, with the comment above or beside each of them.

The parser knows the forms that clang-format gives to the headers in include/tern. It does not know C++.
"""

import dataclasses
import re
import textwrap

from sitelib.comments import Source

SCOPE = re.compile(r'(?:inline\s+)?namespace\b[^;{]*$|extern\s+"_"\s*$|[A-Z_]+_NAMESPACE\s*$')
TYPE = re.compile(r"(?:template\s*<.*>\s*)?(?:typedef\s+)?(enum(?:\s+class)?|struct|class|union)\b(?:\s*\[\[\w+\]\])?(?:\s+[A-Z_]+_API)?\s*(\w*)[^()]*$", re.S)
ACCESS = re.compile(r"\s*(public|private|protected)\s*:")
SECTION = re.compile(r"---- (.*?) ----\n?")
HIDDEN = re.compile(r"(?:friend|static_assert)\b|(?:class|struct)\s+\w+$|TERN_[A-Z_]+\(.*\)$")


@dataclasses.dataclass
class Declaration:
    kind: str  # "section", "enum", "struct", "class", "union", "function", "macro" or "other"
    name: str
    text: str  # the declaration, without a function's body
    doc: str  # the comment above it, or ""
    note: str  # the comment beside it, or ""
    first_line: int
    last_line: int
    members: list = dataclasses.field(default_factory=list)  # the public ones of a class or struct
    source: str = ""  # the text with comments, without the common indent


def closing(code, at):
    """Returns the position of the brace that closes the one at `at`."""
    depth = 0
    for found in re.finditer("[{}]", code[at:]):
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return at + found.start()
    raise ValueError(f"a brace is never closed: {code[at:at + 60]!r}")


def declared_name(text):
    """Returns the name that a declaration of a function, variable or alias introduces."""
    for pattern in (r"\(\s*\*\s*(\w+)\s*\)", r"\busing\s+(\w+)\s*=", r"(operator\s*(?:\(\)|[^\s\w(]+|\w+))\s*\(", r"(~?\w+)\s*\(",
                    r"(\w+)(?:<[^=]*>)?\s*(?:\[\w*\])?\s*(?:=.*|\{.*)?;?$"):
        if found := re.search(pattern, text, re.S):
            return re.sub(r"\s+", "", found.group(1))
    return ""


def signature(text):
    """Returns a declaration without macros for its linkage and without an initializer list. The parameters on further lines are
    aligned with the first one."""
    text = re.sub(r"^TERN_(?:API|CHECKED)\s+", "", text.strip())
    text = re.sub(r"\)((?:\s*(?:const|noexcept|override))*)\s*:(?!:).*$", r")\1", text, flags=re.S).rstrip()
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *[" " * (first.find("(") + 1) + line.strip() for line in rest]])


class Parser:
    def __init__(self, text):
        self.source = Source(text)
        self.code = self.source.code

    def parse(self, begin=0, end=None, public=True):
        """Returns the declarations between two positions. `public` says whether a list of members begins as public."""
        found, at, end = [], begin, len(self.code) if end is None else end
        while at < end:
            access = ACCESS.match(self.code, at, end)
            if access:
                public, at = access.group(1) == "public", access.end()
                continue
            start = at + len(self.code[at:end]) - len(self.code[at:end].lstrip())
            if start >= end:
                break
            if self.code[start] in ";}":
                at = start + 1
                continue
            at, declarations = self.statement(start, end)
            found += declarations if public else []
        return found

    def statement(self, start, end):
        """Reads one statement. Returns the position behind it, and its declarations."""
        at = start
        while at < end and self.code[at] not in ";{":
            at += 1
        head = self.code[start:at]
        if at >= end or self.code[at] == ";":
            return at + 1, self.plain(start, at, head)
        close = closing(self.code, at)
        if SCOPE.search(head.strip()):
            return close + 1, self.parse(at + 1, close)
        if kind := TYPE.match(head.strip()):
            return self.type(start, at, close, kind)
        if ")" in head and not re.search(r"=\s*$", head):
            return close + 1, self.plain(start, at, head, close)
        semicolon = self.semicolon(close)
        return semicolon + 1, self.plain(start, semicolon, self.code[start:semicolon])

    def semicolon(self, at):
        found = self.code.find(";", at)
        if found < 0:
            raise ValueError(f"a declaration does not end: {self.code[at:at + 60]!r}")
        return found

    def plain(self, start, stop, head, close=None):
        written = self.source.text[start:stop]
        text = signature(head if "//" in written or "/*" in written else written)
        if not text or HIDDEN.match(re.sub(r"\s+", " ", text)):
            return []
        left = text if text.startswith("using") else re.split(r"(?<!operator)(?<!operator=)=", text)[0].rstrip()
        kind = "function" if "(" in left and not text.startswith("using") else "other"
        return [self.declaration(kind, declared_name(left), text + ";", start, stop if close is None else close)]

    def type(self, start, brace, close, kind):
        semicolon = self.semicolon(close)
        name = kind.group(2) or self.code[close + 1:semicolon].strip() or re.search(r"\w+", self.code[brace:close]).group()
        word = kind.group(1).split()[0]
        declaration = self.declaration(word, name, signature(self.code[start:brace]), start, semicolon)
        if word != "enum":
            declaration.members = self.parse(brace + 1, close, public=word != "class")
        return semicolon + 1, [declaration]

    def declaration(self, kind, name, text, start, stop):
        first, last = self.source.line(start), self.source.line(stop)
        lines = self.source.text.splitlines()[first - 1:last]
        return Declaration(kind, name, text, self.source.above(first), self.source.beside({last, first}), first, last,
                           source=textwrap.dedent("\n".join(lines)))


def read(path):
    """Returns the comment at the top of a header, and the header's declarations."""
    parser = Parser(path.read_text())
    macros = [Declaration("macro", name, text, parser.source.above(line), parser.source.beside({line}), line, line, source=text)
              for name, text, line in parser.source.macros]
    sections = [Declaration("section", found.group(1).rstrip("."), "", c.text[found.end():], "", c.first_line, c.last_line)
                for c in parser.source.comments if (found := SECTION.match(c.text))]
    return parser.source.title(), sorted(macros + sections + parser.parse(), key=lambda d: d.first_line)
