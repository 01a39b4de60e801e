"""Reads the pages of a built site: identifiers, links, and addresses from which a page loads something."""

import html.parser
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data"), ("image", "href"), ("use", "href")}
NOT_LOADED = {"canonical", "prev", "next"}  # kinds of <link> that load nothing


def build(folder):
    """Builds the site into `folder`, strictly. Returns the exit status and the output."""
    env = dict(os.environ, NO_MKDOCS_2_WARNING="1")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder], cwd=ROOT, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loads, self.classes = path, [], [], [], set()
        self.text = path.read_text()
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.classes |= set((attrs.get("class") or "").split())
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        loads = not (tag == "link" and attrs.get("rel") in NOT_LOADED)
        self.loads += [value for name, value in attrs.items() if (tag, name) in LOADED and loads and value]


def is_outside(link):
    return bool(re.match(r"[a-z]+:|//", link)) and not link.startswith("data:")


def pages(folder):
    return {path: Page(path) for path in sorted(pathlib.Path(folder).rglob("*.html")) if path.name != "404.html"}


def broken(found):
    """Returns a line for each link to a page, file or anchor that does not exist."""
    wrong = []
    for path, page in found.items():
        for link in page.links + page.loads:
            if is_outside(link) or link.startswith("data:"):
                continue
            target, _, anchor = link.partition("#")
            file = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
            if not file.is_file():
                wrong.append(f"{path.name}: {link}: there is no such file")
            elif anchor and file in found and urllib.parse.unquote(anchor) not in found[file].ids:
                wrong.append(f"{path.name}: {link}: there is no such anchor")
    return wrong
