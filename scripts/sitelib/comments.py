"""Splits the text of a C or C++ header into code and comments."""

import bisect
import dataclasses
import re

LEXEME = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.S | re.M)


@dataclasses.dataclass
class Comment:
    text: str
    first_line: int
    last_line: int
    column: int
    own_line: bool  # no code before it on its line


def without_markers(raw):
    """Returns the text of a comment without // or /* */ and without the star at the start of a line."""
    if raw.startswith("//"):
        return raw[2:].removeprefix(" ").rstrip()
    lines = raw[2:-2].splitlines()
    return "\n".join([lines[0].removeprefix(" ")] + [re.sub(r"^\s*\* ?", "", line) for line in lines[1:]]).strip()


class Source:
    """A header. `code` is the text with blanks in place of comments and preprocessor lines, and with underscores in place of
    the characters of strings. It has the length of the text."""

    def __init__(self, text):
        self.text = text
        self._starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.comments, self.macros, pieces, at = [], [], [], 0
        for found in LEXEME.finditer(text):
            raw = found.group()
            pieces.append(text[at:found.start()])
            at = found.end()
            if raw[0] in "\"'":
                pieces.append(raw[0] + "_" * (len(raw) - 2) + raw[-1])
                continue
            pieces.append(re.sub(r"[^\n]", " ", raw))
            if raw.startswith("/"):
                self._add_comment(found)
            elif value := re.match(r"\s*#define (\w+) +(\"[^\"]*\"|\d+)\s*$", raw):
                self.macros.append((value.group(1), raw.strip(), self.line(found.start())))
        self.code = "".join(pieces) + text[at:]

    def line(self, offset):
        return bisect.bisect_right(self._starts, offset)

    def _add_comment(self, found):
        start = self._starts[self.line(found.start()) - 1]
        comment = Comment(without_markers(found.group()), self.line(found.start()), self.line(found.end() - 1), found.start() - start,
                          not self.text[start:found.start()].strip())
        last = self.comments[-1] if self.comments else None
        follows = last and comment.own_line and last.last_line == comment.first_line - 1 and last.column == comment.column
        if follows and found.group().startswith("//"):
            last.text += "\n" + comment.text
            last.last_line = comment.last_line
        else:
            self.comments.append(comment)

    def above(self, line):
        """Returns the text of the comment that ends on the line before `line`, or ""."""
        return next((c.text for c in self.comments if c.own_line and c.last_line == line - 1), "")

    def beside(self, lines):
        """Returns the text of the first comment behind code on one of the lines, or ""."""
        return next((c.text for c in self.comments if not c.own_line and c.first_line in lines), "")

    def title(self):
        """Returns the comment at the top of the file, or ""."""
        return self.comments[0].text if self.comments and self.comments[0].first_line == 1 else ""
