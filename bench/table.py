"""Formats a comparison as a text or Markdown table."""

import figures


def cell_ms(result):
    if not figures.ok(result):
        return {"wrong": "wrong", "inconclusive": "?"}.get(result["status"] if result else "", "–")
    return f"{result['ms']:.2f}" if result["ms"] < 100 else f"{result['ms']:.0f}"


def cell(value, form):
    return "–" if value is None else form.format(value)


def threads(count, cores):
    """Returns "4 threads", or "4 threads (on 2 cores, where Tern uses 2)". `cores` is 0 if unknown."""
    words = f"{count} thread{'s' if count > 1 else ''}"
    return f"{words} (on {cores} core{'s' if cores > 1 else ''}, where Tern uses {cores})" if 0 < cores < count else words


def header(peers):
    names = ["model", "tern", *peers, *(f"/{peer}" for peer in peers), "/best", "/1 thread", "loop /1", "spread", "% peak", "MB", *(f"MB {p}" for p in peers),
             "start", *(f"start {p}" for p in peers), "error"]
    return names


def row(found, peers):
    engines = found["engines"]
    tern = engines.get("tern")
    every = [tern, *(engines.get(peer) for peer in peers)]
    right = [r if figures.ok(r) else {} for r in every]
    spread = figures.spread(engines)
    return [found["model"], *map(cell_ms, every), *(cell(figures.ratio(engines, peer), "{:.2f}") for peer in peers),
            cell(figures.ratio(engines, figures.best_peer(engines)), "{:.2f}"), *(cell(x, "{:.2f}") for x in figures.over_single(found)),
            cell(None if spread is None else 100 * spread, "{:.0f}%"),
            cell(found.get("percent_of_peak"), "{:.0f}"), *(cell(r.get("peak_mb"), "{:.0f}") for r in right),
            *(cell(figures.start_ms(r), "{:.0f}") for r in right), cell((tern or {}).get("error"), "{:.0e}")]


def widths(peers, names):
    """Returns the width of each column. The widths depend only on names, so that each row can be printed as soon as it is
    measured."""
    return [max([len("geomean"), *map(len, names)]), *(max(len(h), 7) for h in header(peers)[1:])]


def line(cells, width):
    return "  ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(cells, width))).rstrip()


def geomeans(summary, peers, name="geomean"):
    return [name, *[""] * (1 + len(peers)), *(f"{summary['peers'][peer]:.3f}" for peer in peers), f"{summary['best']:.3f}"]


def markdown(heads, rows, last="---:"):
    """Returns a Markdown table whose first column is left-aligned and whose other columns are right-aligned. `last` is
    the alignment mark of the last column."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|---" + "|---:" * (len(heads) - 2) + f"|{last}|", *lines[1:]]) + "\n"
