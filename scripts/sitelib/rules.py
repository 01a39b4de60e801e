"""Divides the long page of passes and rules into one page per group of rules."""

import os
import re

PAGE = "docs/reference/passes.md"
GROUP = re.compile(r"^## Group (\w+)\n", re.M)


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def divide(markdown):
    """Returns the text before the first group with links to the groups, {name: text} of the groups, and {anchor: path of its page
    on the site}."""
    head, *rest = GROUP.split(markdown)
    texts = dict(zip(rest[::2], rest[1::2]))
    places = {slug(heading): f"reference/passes/{name}.md" for name, text in texts.items() for heading in re.findall(r"^### (.*)$", text, re.M)}
    places |= {slug(heading): "reference/passes.md" for heading in re.findall(r"^##+ (.*)$", head, re.M)}
    links = "".join(f"- [{name}](passes/{name}.md): {len(re.findall(r'^### ', text, re.M))} rules\n" for name, text in texts.items())
    return f"{head}## Groups of rules\n\n{links}", {name: f"# Rules: {name}\n{text}" for name, text in texts.items()}, places


def relink(markdown, uri, places):
    """Changes links to anchors of the long page, so that each leads to the page that has the anchor now."""
    def target(found):
        place = places.get(found.group(1))
        if place is None or place == uri:
            return found.group()
        return f"]({os.path.relpath(place, os.path.dirname(uri))}#{found.group(1)})"
    return re.sub(r"\]\(#([\w-]+)\)", target, markdown)
