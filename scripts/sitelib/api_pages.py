"""Writes the reference pages of the C++ and C interfaces as Markdown, from the headers in include/tern."""

import dataclasses
import os
import re

from sitelib import headers

LANGUAGES = {".hpp": "cpp", ".h": "c"}
CONTAINERS = ("class", "struct", "union")


@dataclasses.dataclass
class Header:
    path: str  # from the root of the repository: include/tern/tern.hpp
    uri: str  # of its page: reference/cpp/tern.md
    language: str
    title: str
    declarations: list

    @property
    def include(self):
        return self.path.removeprefix("include/")


def uri_of(path):
    """Returns the path of a header's page on the site. The names of headers in a folder below include/tern begin with the folder's name."""
    name = path.stem if path.parent.name == "tern" else f"{path.parent.name}_{path.stem}"
    return f"reference/{LANGUAGES[path.suffix]}/{name}.md"


def read_headers(root):
    found = []
    for path in sorted((root / "include/tern").rglob("*.h*")):
        title, declarations = headers.read(path)
        found.append(Header(str(path.relative_to(root)), uri_of(path), LANGUAGES[path.suffix], title, declarations))
    return found


def anchor(*names):
    return "-".join(re.sub(r"\W+", "", name.replace("~", "destroy-").replace("operator", "operator-")) or "operator" for name in names)


def has_functions(declaration):
    return declaration.kind in CONTAINERS and any(m.kind == "function" and "(*" not in m.text for m in declaration.members)


def groups(declarations):
    """Returns lists of declarations. A declaration without a comment above it joins the list of the declaration on the line before it."""
    found = []
    for d in declarations:
        plain = d.kind in ("function", "other") and not d.doc
        if found and plain and found[-1][-1].kind in ("function", "other") and d.first_line == found[-1][-1].last_line + 1:
            found[-1].append(d)
        else:
            found.append([d])
    return found


class Index:
    """Maps each name of one language to the place on the pages that describes the name."""

    def __init__(self, found):
        self.places = {}
        for header in found:
            for group in groups(header.declarations):
                for d in group if group[0].kind != "section" else []:
                    self.places.setdefault(d.name, (header.uri, anchor(group[0].name)))
            for d in header.declarations:
                if has_functions(d):
                    for group in groups(d.members):
                        for m in group:
                            self.places.setdefault(f"{d.name}::{m.name}", (header.uri, anchor(d.name, group[0].name)))

    def link(self, name, text, uri):
        if name not in self.places:
            return None
        target, place = self.places[name]
        return f"[{text}]({'' if target == uri else os.path.relpath(target, os.path.dirname(uri))}#{place})"


def linked(text, index, uri, owner):
    """Escapes Markdown in one line of a comment, and links the names of types and of members written as Type::member."""
    def replace(found):
        if code := found.group("code"):
            return f"`{code}`"
        if name := found.group("name"):
            bare = name.removesuffix("()")
            known = bare if bare in index.places else None
            if known and known != owner and ("::" in name or "_" in name or name[0].isupper() and not name.isupper()):
                return index.link(known, f"`{name}`", uri)
            return name if re.fullmatch(r"[A-Za-z0-9]+", name) else f"`{name}`"
        return "\\" + found.group("mark")
    return re.sub(r"`(?P<code>[^`\n]+)`|(?P<name>(?<![\w/])[A-Za-z]\w*(?:::\w+)*\(\)|(?<![\w/.$-])(?:[A-Za-z]\w*::)+\w+(?:<\w+>)?|(?<![\w/])lib\w+\.so|(?<![\w/.$-])[A-Za-z]\w*(?!\w))|(?P<mark>[<>*_\[\]|])",
                  replace, text)


def prose(text, index, uri, owner="", language="cpp"):
    """Returns a comment as Markdown. Lines that are indented become a code block."""
    out, code = [], []
    for line in text.splitlines():
        if line.startswith("  "):
            code.append(line)
            continue
        if code:
            out += ["", f"```{language}", *[row.removeprefix("  ") for row in code], "```", ""]
            code = []
        out.append(linked(line, index, uri, owner))
    return "\n".join(out + (["", f"```{language}", *code, "```"] if code else []))


def listing(group):
    """Returns the declarations of a group as code, each with the comment beside it."""
    lines = []
    for d in group:
        note = re.sub(r"\s+", " ", d.note) if not d.note.startswith("NOLINT") else ""
        beside = f"{d.text}  // {note}"
        lines += [d.text] if not note else [beside] if "\n" not in d.text and len(beside) < 110 else [f"// {note}", d.text]
    return "\n".join(lines)


def member_pages(owner, header, index):
    out, last, used = [], "", {}
    for group in groups(owner.members):
        first = group[0]
        if first.name != last:
            names = ", ".join(dict.fromkeys(d.name for d in group))
            place = anchor(owner.name, first.name)
            used[place] = used.get(place, 0) + 1
            out.append(f"### {names} {{ #{place}{f'-{used[place]}' if used[place] > 1 else ''} }}\n")
        last = first.name
        if first.kind in (*CONTAINERS, "enum"):
            out.append(f"```{header.language}\n{first.source}\n```\n")
        else:
            out.append(f"```{header.language}\n{listing(group)}\n```\n")
        if first.doc:
            out.append(prose(first.doc, index, header.uri, owner.name, header.language) + "\n")
    return out


def entry(group, header, index):
    """Returns the Markdown of a group of declarations, without its heading."""
    first, language = group[0], header.language
    doc = prose(first.doc, index, header.uri, first.name, language) + "\n" if first.doc else ""
    if first.kind == "section":
        return [doc]
    if has_functions(first):
        return [doc, *member_pages(first, header, index)]
    if first.kind in (*CONTAINERS, "enum", "macro"):
        return [doc, f"```{language}\n{first.source}\n```\n"]
    return [f"```{language}\n{listing(group)}\n```\n", doc]


def page(header, index):
    """Returns the Markdown of one header's page. The sections of a header become headings of the second level."""
    out = [f"# {header.include}\n", f"```{header.language}\n#include <{header.include}>\n```\n",
           prose(header.title, index, header.uri, language=header.language) + "\n"]
    level = "##"
    for group in groups(header.declarations):
        names = ", ".join(dict.fromkeys(d.name for d in group))
        if group[0].kind == "section":
            out += [f"## {names}\n", *entry(group, header, index)]
            level = "###"
        else:
            out += [f"{level} {names} {{ #{anchor(group[0].name)} }}\n", *entry(group, header, index)]
    return "\n".join(out)


def pages(root):
    """Returns {uri: (path of the header, Markdown)}."""
    found = read_headers(root)
    by_language = {language: Index([h for h in found if h.language == language]) for language in LANGUAGES.values()}
    return {h.uri: (h.path, page(h, by_language[h.language])) for h in found}
