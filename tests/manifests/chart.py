"""Renders the subset of Helm's templates that deploy/helm uses. Anything outside the subset is an error.

It is not Helm: where the two could differ, the chart must not rely on it. deploy/README.md says what the tests cover."""

import hashlib
import pathlib
import re

import yaml

TAG = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.S)
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\(|\)|\||[^\s()|"]+)')


class TemplateError(Exception):
    """A template is outside the subset; the text names the place."""


def to_yaml(value):
    return yaml.safe_dump(value, default_flow_style=False, sort_keys=True).strip().removesuffix("\n...").strip()


def printf(form, *args):
    return form % args


FUNCTIONS = {
    "toYaml": to_yaml,
    "indent": lambda count, text: "\n".join(" " * count + line for line in text.split("\n")),
    "nindent": lambda count, text: "\n" + "\n".join(" " * count + line for line in text.split("\n")),
    "quote": lambda value: '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"',
    "default": lambda other, value=None: value or other,
    "printf": printf,
    "trunc": lambda count, text: text[:count],
    "contains": lambda part, text: part in text,
    "or": lambda *values: next((v for v in values if v), values[-1]),
    "and": lambda *values: next((v for v in values if not v), values[-1]),
    "not": lambda value: not value,
    "add": lambda *values: sum(values),
    "sha256sum": lambda text: hashlib.sha256(text.encode()).hexdigest(),
}


def lex(text):
    """Splits a template into texts and actions, and trims white space as {{- and -}} say."""
    parts, at, trim = [], 0, False
    for match in TAG.finditer(text):
        piece = text[at:match.start()]
        piece = piece.lstrip() if trim else piece
        parts.append(("text", piece.rstrip() if match[1] else piece))
        parts.append(("action", match[2]))
        at, trim = match.end(), bool(match[3])
    rest = text[at:]
    return [*parts, ("text", rest.lstrip() if trim else rest)]


def parse(parts, place):
    """Returns a list of nodes; ends at `end` or `else`, which it leaves in the list of parts."""
    nodes = []
    while parts:
        kind, text = parts[0]
        if kind == "action" and text in ("end", "else"):
            return nodes
        parts.pop(0)
        word = text.split(" ", 1)[0] if kind == "action" else ""
        if kind == "text":
            nodes.append(("text", text))
        elif word in ("if", "with", "range", "define"):
            body, other = parse(parts, place), []
            if parts and parts[0] == ("action", "else"):
                parts.pop(0)
                other = parse(parts, place)
            if not parts or parts.pop(0) != ("action", "end"):
                raise TemplateError(f"{place}: '{text}' has no end")
            nodes.append((word, text.partition(" ")[2], body, other))
        else:
            nodes.append(("value", text))
    return nodes


class Chart:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.values = yaml.safe_load((self.folder / "values.yaml").read_text())
        chart = yaml.safe_load((self.folder / "Chart.yaml").read_text())
        self.chart = {key[0].upper() + key[1:]: value for key, value in chart.items()}
        self.defined = {}

    def render(self, release="test", **changes):
        """Returns the manifests with these changed values, by file. A name such as models__create is models.create."""
        values = yaml.safe_load(yaml.safe_dump(self.values))
        for name, value in changes.items():
            *path, last = name.split("__")
            at = values
            for part in path:
                at = at[part]
            if last not in at:
                raise KeyError(name)
            at[last] = value
        scope = {"Values": values, "Chart": self.chart, "Release": {"Name": release, "Namespace": "default", "Service": "Helm"}}
        templates = {}
        for path in sorted((self.folder / "templates").iterdir()):
            parts = lex(path.read_text())
            templates[path.name] = parse(parts, path.name)
            if parts:
                raise TemplateError(f"{path.name}: '{parts[0][1]}' without a beginning")
        for nodes in templates.values():
            self.defined.update({node[1].strip('"'): node[2] for node in nodes if node[0] == "define"})
        out = {}
        for name, nodes in templates.items():
            text = self.nodes(nodes, scope, scope)
            out[name] = [document for document in yaml.safe_load_all(text) if document]
        return out

    def nodes(self, nodes, dot, root):
        out = ""
        for node in nodes:
            if node[0] == "text":
                out += node[1]
            elif node[0] == "value":
                value = self.pipeline(node[1], dot, root)
                out += "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            elif node[0] == "if":
                out += self.nodes(node[2] if self.pipeline(node[1], dot, root) else node[3], dot, root)
            elif node[0] == "with":
                value = self.pipeline(node[1], dot, root)
                out += self.nodes(node[2], value, root) if value else self.nodes(node[3], dot, root)
            elif node[0] == "range":
                out += "".join(self.nodes(node[2], item, root) for item in self.pipeline(node[1], dot, root))
        return out

    def pipeline(self, text, dot, root):
        tokens, at = [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if not match:
                raise TemplateError(f"'{text}' cannot be read")
            tokens.append(match[1])
            at = match.end()
        value = self.expression(tokens, dot, root)
        if tokens:
            raise TemplateError(f"'{text}' has a ')' too many")
        return value

    def expression(self, tokens, dot, root):
        """Evaluates `f a b | g c`, where the value of a command is the last argument of the next."""
        value, first = None, True
        while True:
            words = []
            while tokens and tokens[0] not in ("|", ")"):
                token = tokens.pop(0)
                if token == "(":
                    words.append(("value", self.expression(tokens, dot, root)))
                    if not tokens or tokens.pop(0) != ")":
                        raise TemplateError("a '(' has no ')'")
                else:
                    words.append(("word", token))
            value = self.command(words, [] if first else [value], dot, root)
            first = False
            if not tokens or tokens[0] == ")":
                return value
            tokens.pop(0)

    def command(self, words, piped, dot, root):
        kind, head = words[0]
        args = [self.operand(word, dot, root) for word in words[1:]] + piped
        if kind == "word" and head == "include":
            return self.nodes(self.defined[args[0]], args[1], root).strip("\n")
        if kind == "word" and head in FUNCTIONS:
            return FUNCTIONS[head](*args)
        if args:
            raise TemplateError(f"unknown function '{head}'")
        return self.operand(words[0], dot, root)

    def operand(self, word, dot, root):
        kind, text = word
        if kind == "value":
            return text
        if text.startswith('"'):
            return text[1:-1]
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        if text in ("true", "false"):
            return text == "true"
        if text == ".":
            return dot
        if text.startswith("$."):
            dot, text = root, text[1:]
        if not text.startswith("."):
            raise TemplateError(f"unknown word '{text}'")
        for part in text[1:].split("."):
            if part not in dot:
                raise TemplateError(f"'{text}': there is no value '{part}'")
            dot = dot[part]
        return dot
