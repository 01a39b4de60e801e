"""Draws the flowcharts of the page of rewrite rules as SVG, with Graphviz.

A browser would need Mermaid, and minutes for the hundreds of diagrams of that page. The parser knows only the form in which
`tern passes --markdown` writes diagrams, and rejects other text.
"""

import re
import subprocess

BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.S | re.M)
NODE = re.compile(r'(\w+)(\["|\(\["|\{\{")(.*?)(?:"\]\)|"\]|"\}\})$')
EDGE = re.compile(r'(\w+) (-->|-\.->)(?:\|"(.*?)"\|)? (\w+)$')
NESTED = re.compile(r'subgraph (\w+) \["(.*?)"\]$')
SHAPES = {'["': 'class="op" shape=box', '(["': 'class="value" shape=box style=rounded', '{{"': 'class="constant" shape=hexagon'}
HEAD = 'digraph {\n  bgcolor=transparent pad=0.05 nodesep=0.25 ranksep=0.3 compound=true\n  node [fontname=Helvetica fontsize=11 height=0.3 margin="0.12,0.04"]\n' \
       '  edge [fontname=Helvetica fontsize=9 arrowsize=0.6]\n'


class BadDiagram(Exception):
    pass


def label(text):
    return text.replace("<br/>", "\\n").replace("<br>", "\\n").replace('"', '\\"').replace("#quot;", '\\"')


def dot_of(lines):
    """Returns the text for dot of one side of a rule. An edge from a nested graph begins at the graph's first node."""
    out, first, opened = [HEAD], {}, []
    for line in (line.strip() for line in lines):
        if found := EDGE.match(line):
            source, kind, text, target = found.groups()
            style = (f' label="{label(text)}"' if text else "") + (" style=dashed" if kind != "-->" else "")
            tail = f' ltail="cluster_{source}"' if source in first else ""
            out.append(f"  {first.get(source) or source} -> {first.get(target) or target} [{style.strip()}{tail}]")
        elif found := NESTED.match(line):
            opened.append(found.group(1))
            out.append(f'  subgraph "cluster_{found.group(1)}" {{ label="{label(found.group(2))}" fontname=Helvetica fontsize=10 class="nested"')
        elif found := NODE.match(line):
            for graph in opened:
                first.setdefault(graph, found.group(1))
            out.append(f'  {found.group(1)} [label="{label(found.group(3))}" {SHAPES[found.group(2)]}]')
        elif line == "end":
            opened.pop()
            out.append("  }")
        elif line != "direction TB":
            raise BadDiagram(f"unknown line in a diagram: {line!r}")
    return "\n".join(out) + "\n}\n"


def sides(text):
    """Returns the lines of the graphs "before" and "after"."""
    found = re.fullmatch(r"flowchart LR\n  subgraph before\n(.*?)^  end\n  subgraph after\n(.*?)^  end\n  before ==> after\n", text, re.S | re.M)
    if not found:
        raise BadDiagram(f"not the diagram of a rule: {text[:80]!r}")
    return [side.splitlines() for side in found.groups()]


def draw(graphs):
    """Returns one SVG per graph."""
    done = subprocess.run(["dot", "-Tsvg"], input="".join(graphs), capture_output=True, text=True, check=True)
    pictures = re.findall(r"<svg.*?</svg>", done.stdout, re.S)
    if len(pictures) != len(graphs):
        raise BadDiagram(f"dot drew {len(pictures)} of {len(graphs)} graphs: {done.stderr}")
    return [re.sub(r'<!--.*?-->\n?|<title>.*?</title>\n?| id="[^"]*"| xmlns(?::\w+)?="[^"]*"|\n', "", picture, flags=re.S) for picture in pictures]


def render(markdown):
    """Returns the page with each diagram replaced by SVG."""
    found = [side for block in BLOCK.finditer(markdown) for side in sides(block.group(1))]
    pictures = iter(draw([dot_of(side) for side in found]) if found else [])
    figure = '<div class="rule"><figure><figcaption>before</figcaption>{}</figure><div class="becomes">→</div><figure><figcaption>after</figcaption>{}</figure></div>'
    return BLOCK.sub(lambda _: figure.format(next(pictures), next(pictures)), markdown)
