"""Writes the reference page of the Python package as Markdown, without importing the package.

The signatures are in the stub of the package. The documentation is in the docstrings of the modules. That of the extension module
is in its C++ sources.
"""

import ast
import re

SPECIAL = {"__call__", "__len__", "__getitem__"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def definitions(tree):
    return {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, *FUNCTIONS))}


class Package:
    def __init__(self, folder, extension):
        self.modules = {path.stem: ast.parse(path.read_text()) for path in sorted(folder.glob("*.py"))}
        self.stub = definitions(ast.parse((folder / "__init__.pyi").read_text()))
        self.extension = extension  # {class: {member: text}}
        self.python = {name: node for tree in self.modules.values() for name, node in definitions(tree).items()}
        self.records = {name: doc for tree in self.modules.values() for name, doc in records(tree)}

    def public(self):
        """Returns the names that the package exports and its stub declares, in the order of the stub."""
        found = set()
        for node in self.modules["__init__"].body:
            if isinstance(node, ast.ImportFrom) and node.level:
                found |= {alias.asname or alias.name for alias in node.names}
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_LAZY":
                found |= {key.value for key in node.value.keys}
        return [name for name in self.stub if name in found and not name.startswith("_")]

    def doc(self, name, member=""):
        """Returns the documentation of a class, function or member, or ""."""
        node = self.python.get(name)
        if member:
            node = definitions(node).get(member) if isinstance(node, ast.ClassDef) else None
        text = ast.get_docstring(node) if node else None
        return text or (self.records.get(name) if not member else None) or self.extension.get(name, {}).get(member, "")


def records(tree):
    """Yields the name and the docstring of each `X = record("X", "fields", "doc")`."""
    for node in tree.body:
        call = getattr(node, "value", None)
        if isinstance(node, ast.Assign) and isinstance(call, ast.Call) and getattr(call.func, "id", "") == "record":
            yield node.targets[0].id, ast.literal_eval(call.args[2])
        elif isinstance(node, ast.ClassDef) and node.bases and isinstance(node.bases[0], ast.Call) and getattr(node.bases[0].func, "id", "") == "record":
            yield node.name, ast.literal_eval(node.bases[0].args[2])


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
    """Returns a function with its types. A long one has a line per parameter."""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    inside = re.sub(r"^(?:self|cls)(?:, |$)", "", ast.unparse(node.args))
    result = f" -> {ast.unparse(node.returns)}" if node.returns and ast.unparse(node.returns) != "None" else ""
    line = f"{word} {name}({inside}){result}"
    if len(line) <= 100:
        return line
    parts = re.split(r", (?![^\[]*\])", inside)
    return f"{word} {name}(\n    " + ",\n    ".join(parts) + f"){result}"


def decorators(node):
    return {ast.unparse(d).split(".")[-1] for d in node.decorator_list}


def properties(package, name, node):
    """Returns the properties and fields of a class as lines of code, with their documentation as comments."""
    found = [(part.name, part.returns) for part in node.body if isinstance(part, ast.FunctionDef) and "property" in decorators(part)]
    found += [(part.target.id, part.annotation) for part in node.body if isinstance(part, ast.AnnAssign)]
    lines = []
    for field, kind in found:
        doc = " ".join(package.doc(name, field).split())
        lines.append(f"{field}: {ast.unparse(kind)}" + (f"  # {doc}" if doc else ""))
    return f"```python\n{chr(10).join(lines)}\n```\n" if lines else ""


def methods(package, name, node):
    out = []
    for part in node.body:
        if not isinstance(part, FUNCTIONS) or decorators(part) & {"property", "setter"} or part.name.startswith("_") and part.name not in SPECIAL:
            continue
        static = "@staticmethod\n" if "staticmethod" in decorators(part) else ""
        out += [f"### {name}.{part.name} {{ #{name}.{part.name} data-toc-label='{part.name}' }}\n", f"```python\n{static}{signature(part, part.name)}\n```\n",
                docstring(package.doc(name, part.name)) + "\n"]
    return out


def entry(package, name):
    """Returns the Markdown of one exported name."""
    node = package.stub[name]
    out = [f"## {name} {{ #{name} }}\n"]
    if isinstance(node, ast.ClassDef):
        start = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
        out += [f"```python\n{signature(start, name).removeprefix('def ')}\n```\n"] if start and len(start.args.args + start.args.kwonlyargs) > 1 else []
        return out + [docstring(package.doc(name)) + "\n", properties(package, name, node), *methods(package, name, node)]
    return out + [f"```python\n{signature(node, name)}\n```\n", docstring(package.doc(name)) + "\n"]


def errors(package, names):
    """Returns a table of the exceptions and their base classes."""
    out = ["## Errors { #errors }\n", "| exception | is also | meaning |", "|---|---|---|"]
    for name in names:
        bases = ", ".join(f"`{ast.unparse(base)}`" for base in package.stub[name].bases)
        out.append(f"| `{name}` | {bases} | {' '.join(package.doc(name).split())} |")
    return [*out, ""]


def page(folder, extension):
    """Returns the Markdown of the page: functions, then classes, then errors. `extension` has the documentation of the extension
    module, as nanobind_docs.read returns it."""
    package = Package(folder, extension)
    raised = [name for name in package.public() if name in definitions(package.modules["errors"])]
    others = [name for name in package.public() if name not in raised]
    functions = [name for name in others if isinstance(package.stub[name], FUNCTIONS)]
    out = ["# The Python package tern\n", docstring(ast.get_docstring(package.modules["__init__"])) + "\n"]
    for name in functions + [name for name in others if name not in functions]:
        out += entry(package, name)
    return "\n".join(out + errors(package, raised))
