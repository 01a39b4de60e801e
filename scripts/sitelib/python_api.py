"""Writes the reference page of the Python package as Markdown, from its sources and type stubs, without importing it."""

import ast
import re

SPECIAL = {"__call__", "__len__", "__iter__", "__getitem__", "__enter__", "__exit__", "__dlpack__"}


class Package:
    """The modules of a package as syntax trees. A stub (.pyi) adds what a module written in C++ declares."""

    def __init__(self, folder):
        self.modules = {path.stem: ast.parse(path.read_text()) for path in sorted(folder.glob("*.py"))}
        self.stubs = {path.stem: ast.parse(path.read_text()) for path in sorted(folder.glob("*.pyi"))}

    def find(self, module, name):
        """Returns the definition of a name in a module, in its stub or in the stub of the extension, or None."""
        for tree in filter(None, (self.modules.get(module), self.stubs.get(module), self.stubs.get("_tern"))):
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                    return node
                if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                    return node
        return None

    def public(self):
        """Returns (name, module) for each name that the package exports, in the order of its modules."""
        found = {}
        for node in self.modules["__init__"].body:
            if isinstance(node, ast.ImportFrom) and node.level:
                found |= {alias.asname or alias.name: node.module for alias in node.names}
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_LAZY":
                found |= {key.value: value.value.lstrip(".") for key, value in zip(node.value.keys, node.value.values)}
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = "__init__"
        return [(name, module) for name, module in found.items() if not name.startswith("_")]


def docstring(text):
    """Returns a docstring as Markdown. Examples become code blocks, and so do lines with columns or an indent."""
    out = []
    for part in re.split(r"\n\s*\n", text or ""):
        lines = part.splitlines()
        if lines and lines[0].startswith(">>>"):
            out.append("```pycon\n" + part + "\n```")
        elif lines and all(re.match(r"\s{2,}\S|\S.*?\S?\s{2,}\S", line) for line in lines):
            out.append("```text\n" + part + "\n```")
        else:
            out.append(part)
    return "\n\n".join(out)


def signature(node, name):
    arguments = ast.unparse(node.args)
    arguments = re.sub(r"^(?:self|cls)(?:, |$)", "", arguments)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}def {name}({arguments}){result}"


def is_property(node):
    return any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)


def member(node, owner):
    head = f"{owner}.{node.name}"
    code = f"{head}{': ' + ast.unparse(node.returns) if node.returns else ''}" if is_property(node) else signature(node, node.name)
    return [f"### {node.name} {{ #{head} }}\n", f"```python\n{code}\n```\n", docstring(ast.get_docstring(node)) + "\n"]


def members(package, node):
    """Returns the public methods of a class and of its bases in the module of the extension, each name once."""
    found = {}
    for base in [node, *(package.find("_tern", b.attr) for b in node.bases if isinstance(b, ast.Attribute))]:
        for part in getattr(base, "body", ()):
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and (not part.name.startswith("_") or part.name in SPECIAL):
                found.setdefault(part.name, part)
    return list(found.values())


def record(node):
    """Returns the fields and the docstring of `X = record("X", "fields", "doc")`, or None."""
    call = node.value
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "record":
        return [ast.literal_eval(argument) for argument in call.args[1:3]]
    return None


def entry(package, name, module):
    """Returns the Markdown of one exported name."""
    node = package.find(module, name)
    out = [f"## {name} {{ #{name} }}\n"]
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases if "_tern" not in ast.unparse(base))
        start = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
        code = f"class {name}{f'({bases})' if bases else ''}" + (f"\n{signature(start, name).removeprefix('def ')}" if start else "")
        out += [f"```python\n{code}\n```\n", docstring(ast.get_docstring(node)) + "\n"]
        for part in members(package, node):
            out += member(part, name)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        out += [f"```python\n{signature(node, name)}\n```\n", docstring(ast.get_docstring(node)) + "\n"]
    elif isinstance(node, ast.Assign) and record(node):
        fields, doc = record(node)
        out += [f"```python\n{name}({', '.join(fields.split())})\n```\n", docstring(doc) + "\n"]
    return out


def errors(package, names):
    """Returns a table of the exceptions, each with the built-in exception that it also is."""
    out = ["## Errors { #errors }\n", "| exception | is also | meaning |", "|---|---|---|"]
    for name in names:
        node = package.find("errors", name)
        bases = ", ".join(f"`{ast.unparse(base)}`" for base in node.bases)
        out.append(f"| `{name}` | {bases} | {' '.join((ast.get_docstring(node) or '').split())} |")
    return [*out, ""]


def page(folder):
    """Returns the Markdown of the page: functions, then classes, then errors."""
    package = Package(folder)
    public = package.public()
    functions = [(name, module) for name, module in public if isinstance(package.find(module, name), ast.FunctionDef)]
    others = [entry for entry in public if entry not in functions and entry[1] != "errors"]
    out = ["# The Python package tern\n", docstring(ast.get_docstring(package.modules["__init__"])) + "\n"]
    for name, module in functions + others:
        out += entry(package, name, module)
    return "\n".join(out + errors(package, [name for name, module in public if module == "errors"]))
