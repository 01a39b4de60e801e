"""Reads the documentation strings of the classes that the extension module declares with nanobind, from its C++ sources."""

import re

LITERAL = r'"(?:\\.|[^"\\])*"'
CLASS = re.compile(rf'nb::class_<(\w+)>\s*\w*\(\s*m,\s*"(\w+)"(?:,\s*((?:{LITERAL}\s*)+))?\)')
PLACE = re.compile(r"nb::class_<(\w+)>")
MEMBER = re.compile(r'\.def(?:_static|_prop_ro|_prop_rw|_ro|_rw)?\(\s*"(\w+)"')
LAST = re.compile(rf",\s*((?:{LITERAL}\s*)+)\)$", re.S)


def text_of(literals):
    """Returns the text of adjacent string literals of C++."""
    parts = re.findall(LITERAL, literals or "")
    return "".join(part[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\") for part in parts)


def call(text, start):
    """Returns a call from its name to its closing parenthesis."""
    depth = 0
    for found in re.finditer(rf"{LITERAL}|[()]", text[start:], re.S):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0 and found.group() == ")":
            return text[start:start + found.end()]
    raise ValueError(f"a call is never closed: {text[start:start + 60]!r}")


def read(sources):
    """Returns {class: {member: text}}; the member "" is the class itself. A member without a text has ""."""
    texts = [re.sub(r"(?<!:)//.*$", "", source, flags=re.M) for source in sources]
    names, found = {}, {}
    for declared in (m for text in texts for m in CLASS.finditer(text)):
        names[declared.group(1)] = declared.group(2)
        found[declared.group(2)] = {"": text_of(declared.group(3))}
    for text in texts:
        places = [(m.start(), names.get(m.group(1))) for m in PLACE.finditer(text)]
        for member in MEMBER.finditer(text):
            owner = next((name for start, name in reversed(places) if start < member.start()), None)
            if owner:
                last = LAST.search(call(text, member.start()))
                found[owner].setdefault(member.group(1), text_of(last.group(1)) if last else "")
    return found
