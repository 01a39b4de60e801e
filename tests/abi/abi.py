#!/usr/bin/env python3
"""Compares Tern's C API with the record c_api.txt, so that a change that breaks compiled programs does not go unnoticed.

usage: abi.py [--update] LIBTERN

Each line of the record starts with the TERN_API_VERSION in which the item appeared. An item is a function with its
parameters, a constant with its value, a type with its size, a struct with the offsets of its fields, or an exported
symbol. Items are never removed or changed. --update adds new items to the record.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = pathlib.Path(__file__).with_name("c_api.txt")
SELF = pathlib.Path(__file__).resolve().relative_to(ROOT)


def read_headers(include):
    """Returns the text of tern/tern.h and of the headers of Tern that it includes, without comments and directives."""
    todo, seen, text = ["tern/tern.h"], set(), ""
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        source = (include / name).read_text()
        todo += re.findall(r'#include "([^"]+)"', source)
        text += re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
    text = re.sub(r'#ifdef __cplusplus.*?#endif', " ", text, flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*", " ", text, flags=re.M)
    return re.sub(r"\bTERN_(API|CHECKED)\b", " ", text)


def statements(text):
    """Splits C declarations at the semicolons outside of braces."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == ";" and depth == 0:
            yield " ".join(text[start:at].split())
            start = at + 1
    if rest := text[start:].strip():
        raise ValueError(f"cannot read the end of the headers: {rest[:80]!r}")


def without_names(function):
    """Removes the names of parameters, which compiled programs do not depend on."""
    head, parameters = re.fullmatch(r"(.*?)\s*\((.*)\)", function).groups()
    types = (re.sub(r"(?<=[\s*])\w+$", "", parameter.strip()).strip() for parameter in parameters.split(","))
    return f"{head}({', '.join(types)})"


def declared(text):
    """Returns (items, questions). A question is a pair of an item's text with %lld and C expressions for the compiler."""
    items, questions = [], []
    for statement in statements(text):
        body = re.search(r"\{(.*)\}", statement)
        if found := re.fullmatch(r"typedef struct (\w+) \1", statement):
            items.append(f"type {found[1]} opaque")
        elif re.match(r"(typedef )?enum\b", statement) and body:
            questions += [(f"constant {name} %lld", [name]) for name in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body[1].strip())]
            if found := re.search(r"\} (\w+)$", statement):
                questions.append((f"type {found[1]} enum of %lld bytes", [f"sizeof({found[1]})"]))
        elif re.match(r"(typedef )?struct\b", statement) and body:
            name = re.search(r"\} (\w+)$", statement)
            name = name[1] if name else re.match(r"(struct \w+)", statement)[1]
            questions.append((f"type {name} struct of %lld bytes", [f"sizeof({name})"]))
            for field in filter(None, (part.strip() for part in body[1].split(";"))):
                member = re.search(r"(\w+)(\[\w*\])*$", field)[1]
                questions.append((f"field {name}.{member} at %lld with %lld bytes: {field}",
                                  [f"offsetof({name}, {member})", f"sizeof((({name}*)0)->{member})"]))
        elif found := re.fullmatch(r"typedef ([\w *]+) (\w+)", statement):
            questions.append((f"type {found[2]} {found[1]} of %lld bytes", [f"sizeof({found[2]})"]))
        elif re.fullmatch(r"[\w *]+\btern_\w+\s*\([^()]*\)", statement):
            items.append(f"function {without_names(statement)}")
        else:
            raise ValueError(f"cannot read the declaration: {statement!r}")
    return items, questions


def answers(include, questions):
    """Lets the compiler compute the numbers of the questions. Returns TERN_API_VERSION and the items."""
    lines = "".join(f'  printf("{text}\\n", {", ".join(f"(long long)({e})" for e in expressions)});\n' for text, expressions in questions)
    with tempfile.TemporaryDirectory(prefix="tern_abi_") as folder:
        source, program = pathlib.Path(folder) / "abi.c", pathlib.Path(folder) / "abi"
        source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <tern/tern.h>\n"
                          f'int main(void) {{\n  printf("%d\\n", TERN_API_VERSION);\n{lines}  return 0;\n}}\n')
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{include}", source, "-o", program], check=True)
        version, *items = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    return int(version), items


def exported(library):
    table = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(name for name in (line.split()[-1] for line in table.splitlines() if line) if name.startswith("tern_"))


def current(include, library):
    """Returns TERN_API_VERSION and the sorted items of the headers and the library."""
    items, questions = declared(read_headers(include))
    version, computed = answers(include, questions)
    return version, sorted(items + computed + [f"symbol {name}" for name in exported(library)])


def read_record(path=RECORD):
    """Returns {item: version}."""
    rows = (line.split(" ", 1) for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {item: int(version) for version, item in rows}


def problems(version, items, record):
    """Returns one sentence per difference. The list is empty if nothing recorded has changed and everything is recorded."""
    found = []
    for item in sorted(set(record) - set(items)):
        now = [other for other in items if other.split()[:2] == item.split()[:2] and not item.startswith(("function", "symbol"))]
        if item.startswith("function"):
            name = re.search(r"\btern_\w+", item)[0]
            now = [other for other in items if other.startswith("function") and re.search(rf"\b{name}\b", other)]
        found.append(f"changed, which breaks compiled programs: '{item}' is now '{now[0]}'" if now else
                     f"removed, which breaks compiled programs: '{item}'")
    if late := [item for item, since in record.items() if since > version]:
        found.append(f"TERN_API_VERSION is {version}, but '{late[0]}' was recorded for version {record[late[0]]}")
    names = {item.split()[1] for item in items if item.startswith("symbol")}
    functions = {re.search(r"\btern_\w+", item)[0] for item in items if item.startswith("function")}
    found += [f"declared, but not exported by the library: {name}" for name in sorted(functions - names)]
    found += [f"exported, but not declared in tern/tern.h: {name}" for name in sorted(names - functions)]
    return found


def new_items(items, record):
    return [item for item in items if item not in record]


def write_record(version, items, record, path=RECORD):
    head = "".join(f"# {line}\n" for line in (
        f"The C API of Tern. {SELF} --update LIBTERN adds new items; it removes and changes nothing.",
        "The first column is the TERN_API_VERSION in which the item appeared."))
    rows = [f"{record.get(item, version)} {item}" for item in sorted(set(items) | set(record))]
    path.write_text(head + "\n".join(rows) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="record new items")
    args = parser.parse_args()
    version, items = current(ROOT / "include", args.library)
    record = read_record() if RECORD.exists() else {}
    found, new = problems(version, items, record), new_items(items, record)
    if args.update and not found:
        write_record(version, items, record)
        print(f"recorded {len(new)} new items of version {version}")
        return 0
    found += [f"not recorded: '{item}'; add it with {SELF} --update LIBTERN" for item in new]
    print("\n".join(found) or f"{len(items)} items of the C API are as recorded")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
