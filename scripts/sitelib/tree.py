"""Maps files of the repository to pages of the site, and rewrites links between them."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
PICTURES = {".png", ".jpg", ".svg", ".gif", ".webp"}
FIXED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "bench/README.md": "reports/bench.md",
         "examples/README.md": "examples/index.md"}


def outside_pages(root=ROOT):
    """Returns {path in the repository: path on the site} of the pages and pictures that are not in docs/."""
    found = {path: uri for path, uri in FIXED.items() if (root / path).is_file()}
    for readme in sorted(root.glob("examples/*/README.md")):
        name = readme.parent.name
        found[f"examples/{name}/README.md"] = f"examples/{name}.md"
        for picture in sorted(readme.parent.glob("*")):
            if picture.suffix in PICTURES:
                found[f"examples/{name}/{picture.name}"] = f"examples/{name}/{picture.name}"
    return found


class Tree:
    """Knows where each file of the repository is on the site."""

    def __init__(self, uris, root=ROOT):
        self.root = root
        self.uris = dict(uris)  # path in the repository -> path on the site
        self.paths = {uri: path for path, uri in self.uris.items()}
        self.moved = {}  # (path in the repository, anchor) -> path on the site

    def uri(self, path):
        """Returns the place of a file or of a folder with a README, or None."""
        if path in self.uris:
            return self.uris[path]
        if path.startswith("docs/") and (self.root / path).is_file():
            return path.removeprefix("docs/")
        folder = f"{path.rstrip('/')}/README.md"
        return self.uri(folder) if (self.root / folder).is_file() else None

    def link(self, text, target, uri, mark=""):
        """Returns a link of the page `uri` as it must be on the site. A link to a file that the site does not have
        becomes its text. A link to nothing stays as it is, and mkdocs reports it."""
        if re.match(r"[a-z]+:|#", target) and (uri, target[1:]) not in self.moved:
            return f"{mark}[{text}]({target})"
        path, _, anchor = target.partition("#")
        source = self.paths.get(uri, f"docs/{uri}")
        full = os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source
        place = self.moved.get((full, anchor)) or self.uri(full)
        if place is None:
            return text if (self.root / full).exists() else f"{mark}[{text}]({target})"
        relative = os.path.relpath(place, os.path.dirname(uri) or ".")
        return f"{mark}[{text}]({relative}{'#' + anchor if anchor else ''})"

    def rewrite(self, markdown, uri):
        """Returns the page with its links rewritten, except in code blocks."""
        parts = FENCE.split(markdown)
        for i in range(0, len(parts), 2):
            parts[i] = LINK.sub(lambda m: self.link(self.rewrite_text(m.group(2), uri), m.group(3), uri, m.group(1)), parts[i])
        return "".join(parts)

    def rewrite_text(self, text, uri):
        """Rewrites the links in the text of a link. Such a text may be a picture."""
        return LINK.sub(lambda m: self.link(m.group(2), m.group(3), uri, m.group(1)), text)
