"""Draws charts as SVG. Needs no library, and the SVG contains no scripts."""

import math
from xml.sax.saxutils import escape

import figures

COLOURS = ("#2563a8", "#d9822b", "#4a9a5c", "#a84632", "#7a5aa6")
ROW, LEFT, WIDTH = 18, 150, 460


def _text(x, y, words, anchor="start", size=11):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def _svg(width, height, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" fill="#222">')
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def _best_ratios(report):
    """Returns for each model a dict from the number of threads to Tern's ratio to the best peer."""
    found = {}
    for row in report["rows"]:
        ratio = figures.ratio(row["engines"], figures.best_peer(row["engines"]))
        if ratio:
            found.setdefault(row["model"], {})[row["threads"]] = ratio
    return found


def ratios(report):
    """Returns an SVG with one bar per model and number of threads. The length of a bar is the best peer's time divided by
    Tern's time."""
    models = _best_ratios(report)
    threads = sorted({row["threads"] for row in report["rows"]})
    top = max([1.0, *(r for by in models.values() for r in by.values())]) * 1.05
    scale = WIDTH / top
    parts, y = [_text(8, 18, f"Best peer's time divided by Tern's time, {report['precision']} (right of the line: Tern is faster)", size=13)], 34
    for k, count in enumerate(threads):
        parts += [f'<rect x="{LEFT + 90 * k}" y="{y - 8}" width="10" height="8" fill="{COLOURS[k % len(COLOURS)]}"/>',
                  _text(LEFT + 90 * k + 14, y, f"{count} thread{'s' if count > 1 else ''}")]
    y += 10
    begin = y
    for model, by in models.items():
        parts.append(_text(LEFT - 6, y + 13, model, "end"))
        height = (ROW - 4) / len(threads)
        for k, count in enumerate(threads):
            if count in by:
                parts += [f'<rect x="{LEFT}" y="{y + 2 + k * height:.1f}" width="{by[count] * scale:.1f}" height="{height:.1f}" '
                          f'fill="{COLOURS[k % len(COLOURS)]}"/>']
        parts.append(_text(LEFT + max(by.values()) * scale + 4, y + 13, " / ".join(f"{by[t]:.2f}" for t in threads if t in by), size=10))
        y += ROW
    parts.append(f'<line x1="{LEFT + scale:.1f}" y1="{begin}" x2="{LEFT + scale:.1f}" y2="{y}" stroke="#222"/>')
    return _svg(LEFT + WIDTH + 90, y + 12, parts)


def _dots(ratios, x_of, y, colour):
    """Returns one dot per ratio, and a line at their geometric mean. Dots at the same place are put below each other."""
    parts, rows = [], []
    for ratio in sorted(ratios):
        x = x_of(ratio)
        row = next((i for i, last in enumerate(rows) if x - last >= 7), len(rows))
        rows[row:row + 1] = [x]
        parts.append(f'<circle cx="{x:.1f}" cy="{y + (row + 1) // 2 * 7 * (-1) ** row:.1f}" r="3" fill="{colour}" fill-opacity="0.7"/>')
    mean = x_of(figures.geomean(ratios))
    return parts + [f'<line x1="{mean:.1f}" y1="{y - 19}" x2="{mean:.1f}" y2="{y + 19}" stroke="{colour}" stroke-width="3"/>']


def overview(report, names):
    """Returns an SVG with one row per peer and number of threads, and a dot per model: the peer's time divided by Tern's time.
    The axis is logarithmic. `names` are the names of the peers for readers."""
    rows = [(peer, count, [r for r in (figures.ratio(row["engines"], peer) for row in report["rows"] if row["threads"] == count) if r])
            for peer in report["peers"] for count in sorted({row["threads"] for row in report["rows"]})]
    rows = [row for row in rows if row[2]]
    top, least = max([2.0, *(max(found) for _, _, found in rows)]) * 1.05, min([0.9, *(min(found) / 1.05 for _, _, found in rows)])
    left, width, step, head = 170, 500, 46, 62
    bottom = head + step * len(rows)

    def x_of(ratio):
        return left + width * math.log(ratio / least) / math.log(top / least)

    models = len({row["model"] for row in report["rows"]})
    parts = [_text(8, 20, "How many times faster Tern is than other engines", size=15),
             _text(8, 38, f"{models} networks, {report['precision']}, one dot each; the line is the geometric mean. {report['machine']['cpu']}{', ' + report['date'] if 'date' in report else ''}")]
    for tick in (t for t in (0.5, 1, 1.5, 2, 3, 4, 6, 8) if least <= t <= top):
        parts += [f'<line x1="{x_of(tick):.1f}" y1="{head - 10}" x2="{x_of(tick):.1f}" y2="{bottom}" stroke="{"#222" if tick == 1 else "#ddd"}"/>',
                  _text(x_of(tick), bottom + 14, f"{tick:g}×" if tick != 1 else "as fast", "middle")]
    for i, (peer, count, found) in enumerate(rows):
        y = head + step * i + step / 2 - 6
        parts += [_text(8, y + 4, names.get(peer, peer), size=13), _text(left - 8, y + 4, f"{count} thread{'s' if count > 1 else ''}", "end"),
                  *_dots(found, x_of, y, COLOURS[report["peers"].index(peer) % len(COLOURS)]), _text(left + width + 10, y + 5, f"{figures.geomean(found):.2f}×", size=15)]
    return _svg(left + width + 70, bottom + 24, parts)


PANEL, GAP, ACROSS = (250, 170), 60, 3


def _panel(series, engines, cores, x0, y0):
    """Draws the times of one series against the sizes, with logarithmic axes."""
    width, height = PANEL
    points = [(p["size"], name, p["engines"][name]["ms"]) for p in series["points"] for name in engines
              if figures.ok(p["engines"].get(name))]
    sizes = sorted({p["size"] for p in series["points"]})
    parts = [_text(x0, y0 - 8, f"{series['model']}: ms against {series['axis']}", size=12),
             f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#999"/>']
    if not points:
        return parts
    low, high = (f(ms for _, _, ms in points) for f in (min, max))
    span = math.log(high / low) or 1.0
    across = math.log(sizes[-1] / sizes[0]) or 1.0
    place = lambda size, ms: (x0 + width * math.log(size / sizes[0]) / across,
                              y0 + height - 8 - (height - 16) * math.log(ms / low) / span)
    marks = {size: "*" if figures.beyond_cores(series["axis"], size, cores) else "" for size in sizes}
    parts += [_text(place(size, low)[0], y0 + height + 13, f"{size}{mark}", "middle", 10) for size, mark in marks.items()]
    if any(marks.values()):
        parts.append(_text(x0 + width, y0 + height + 26, f"* on {cores} cores, where Tern uses {cores} threads", "end", 10))
    parts += [_text(x0 - 4, place(sizes[0], ms)[1] + 4, f"{ms:.3g}", "end", 10) for ms in (low, high)]
    for k, name in enumerate(engines):
        dots = [place(size, ms) for size, who, ms in points if who == name]
        if dots:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
            thick = 2.5 if name == "tern" else 1.2
            parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[k % len(COLOURS)]}" stroke-width="{thick}"/>')
    return parts


def growth(report):
    """Returns an SVG with one panel per series and one line per engine in each panel."""
    engines = ["tern", *report["peers"]]
    parts = []
    for k, name in enumerate(engines):
        parts += [f'<rect x="{GAP + 110 * k}" y="8" width="14" height="4" fill="{COLOURS[k % len(COLOURS)]}"/>',
                  _text(GAP + 110 * k + 18, 14, name)]
    for k, series in enumerate(report["series"]):
        parts += _panel(series, engines, report["machine"]["cores"], GAP + (k % ACROSS) * (PANEL[0] + GAP), 50 + (k // ACROSS) * (PANEL[1] + GAP))
    rows = -(-len(report["series"]) // ACROSS)
    columns = min(ACROSS, len(report["series"]))
    return _svg(GAP + columns * (PANEL[0] + GAP), 50 + rows * (PANEL[1] + GAP), parts)
