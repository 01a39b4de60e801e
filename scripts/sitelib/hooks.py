"""Hooks of mkdocs: add the pages that are not in docs/, and rewrite links. mkdocs.yml names this file."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402

from sitelib import api_pages, diagrams, nanobind_docs, python_api, rules  # noqa: E402
from sitelib.tree import ROOT, Tree, outside_pages  # noqa: E402

state = {}


def made_pages():
    """Returns three dicts: {path on the site: Markdown} of the generated pages, {path in the repository: path on the site} of their
    sources, and {anchor: path on the site} of the page of rules."""
    made, sources = {}, {}
    for uri, (path, text) in api_pages.pages(ROOT).items():
        made[uri], sources[path] = text, uri
    made["reference/python.md"] = python_api.page(ROOT / "python/tern", nanobind_docs.read(
        [path.read_text() for path in sorted((ROOT / "src/bindings/python").glob("*.cc"))]))
    sources["python/tern/__init__.py"] = "reference/python.md"
    head, groups, places = rules.divide((ROOT / rules.PAGE).read_text())
    for uri, text in {"reference/passes.md": head, **{f"reference/passes/{name}.md": text for name, text in groups.items()}}.items():
        try:
            made[uri] = diagrams.render(rules.relink(text, uri, places))
        except (diagrams.BadDiagram, OSError) as error:
            raise PluginError(f"{uri}: {error}") from error
    return made, sources, places


def named(item):
    """Returns all paths of a part of the navigation."""
    return [item] if isinstance(item, str) else [path for part in (item.values() if isinstance(item, dict) else item) for path in named(part)]


def expand(item, uris):
    """Returns a part of the navigation in which each path that ends with * is replaced by the pages that match."""
    if isinstance(item, str):
        return sorted(u for u in uris if pathlib.PurePath(u).match(item)) if item.endswith("*") else [item]
    if isinstance(item, dict):
        return [{name: expand_all(part, uris) if isinstance(part, list) else part} for name, part in item.items()]
    return [item]


def expand_all(items, uris):
    return [part for item in items for part in expand(item, uris)]


def on_config(config):
    made, sources, places = made_pages()
    outside = outside_pages()
    state.update(made=made, outside=outside, tree=Tree({**outside, **sources}))
    state["tree"].moved = {(rules.PAGE, anchor): uri for anchor, uri in places.items()}
    docs = [str(path.relative_to(config.docs_dir)) for path in pathlib.Path(config.docs_dir).rglob("*.md")]
    config.nav = expand_all(config.nav, {*docs, *made, *outside.values()} - set(named(config.nav)))
    return config


def on_files(files, config):
    for uri, text in state["made"].items():
        if uri in files.src_uris:
            files.remove(files.get_file_from_path(uri))
        files.append(File.generated(config, uri, content=text))
    for path, uri in state["outside"].items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def programs(path):
    """Returns the programs beside the page of an example as code blocks."""
    languages = {".py": "python", ".cc": "cpp", ".c": "c", ".rs": "rust"}
    found = [file for file in sorted((ROOT / path).parent.iterdir()) if file.suffix in languages and path.startswith("examples/")]
    return "".join(f"\n## {file.name}\n\n```{languages[file.suffix]}\n{file.read_text()}```\n" for file in found)


def on_page_markdown(markdown, page, **_):
    uri = page.file.src_uri
    if uri in state["made"]:
        return markdown
    return state["tree"].rewrite(markdown, uri) + programs(state["tree"].paths.get(uri, ""))
