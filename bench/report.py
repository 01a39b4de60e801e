#!/usr/bin/env python3
"""Writes the measurements into docs/reports/performance.md, so that no figure there is typed by hand.

This program replaces the sections between the lines <!-- NAME --> and <!-- end --> of that file. All other text is
written by hand. The figures are stored in docs/reports/performance.json. --fp32, --bf16 and --threads name new files of
bench/compare --json, and --growth names a new file of bench/growth --json. A new file replaces the stored figures. The
file of --threads must contain a measurement of Tern without peers, on several threads. --check only reports whether the
document is up to date.
"""

import argparse
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import chart  # noqa: E402
import figures  # noqa: E402
import spent  # noqa: E402
import table  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs/reports"
PARTS = ("fp32", "bf16", "growth", "threads")
NAMES = {"tern": "Tern", "ort": "onnxruntime", "openvino": "openvino", "mnn": "MNN", "torch": "torch"}


def rounded(value):
    """Rounds numbers to five digits. Further digits are noise, and they would enlarge every diff of the JSON file."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def made(report):
    """Returns a sentence about the rounds, the date and the clock of a measurement."""
    quick = (report["rounds"], report["seconds"]) == figures.QUICK
    kind = "A quick run (`--quick`): " if quick else ""
    on = f", on {report['date']}" if "date" in report else ""
    took = f"; it took {report['took_seconds'] / 60:.0f} min" if "took_seconds" in report else ""
    clock = " Times are processor time: the machine was shared." if report["clock"] == "processor" else ""
    return f"{kind}{report['rounds']} rounds of {report['seconds']} s for each engine{on}{took}.{clock}"


def processor(found):
    """Returns the processor's name, the instruction set in use and the number of cores."""
    pairs = ", bf16 dot products" if found.get("bf16_products") else ""
    return f"{found['cpu']} ({found['simd']}{pairs}), {found['cores']} cores"


def machine(report):
    peers = ", ".join(f"{NAMES[peer]} {version}" for peer, version in report["versions"].items())
    peaks = [row["peak_gflops"] for row in report["rows"] if row.get("peak_gflops")]
    peak = f", {max(peaks):.0f} GFLOP/s multiply-adds on one core" if peaks else ""
    return (f"{processor(report['machine'])}{peak}. Against {peers}. "
            f"{made(report)}\n")


def summary(report):
    heads = ["threads", *(f"/{NAMES[peer]}" for peer in report["peers"]), "/best", "worst model", "models"]
    rows = []
    for threads, found in report["summaries"].items():
        rows.append(ratios(threads, found, report["peers"]))
        measured = [row for row in report["rows"] if row["threads"] == int(threads)]
        apart = {**figures.summary(figures.lasting(measured), report["peers"]), "models": found["models"]}
        if 0 < apart["compared"] < found["compared"]:
            rows.append(ratios(f"{threads}, best peer ≥ {figures.LASTING} ms", apart, report["peers"]))
    return table.markdown(heads, rows) + calls(report) + left_out(report)


def left_out(report):
    """Returns a Markdown list of the engines that are excluded on a model, with the reasons. Tern may be one of them."""
    found = {}
    for row in report["rows"]:
        for name, result in row["engines"].items():
            if not figures.ok(result):
                found.setdefault((row["model"], result["status"], result["reason"]), []).append(NAMES.get(name, name))
    lines = [f"- {model}, {' and '.join(dict.fromkeys(names))}: {status}; {reason}.\n" for (model, status, reason), names in found.items()]
    return "\nLeft out:\n\n" + "".join(lines) if lines else ""


def ratios(name, found, peers):
    return [name, *(f"{found['peers'][peer]:.2f}" for peer in peers), f"{found['best']:.2f}", f"{found['worst_model']:.2f}",
            f"{found['compared']} of {found['models']}"]


def calls(report):
    """Returns a sentence about the overhead of one call, or "" if it was not measured."""
    words = [f"{', '.join(f'{NAMES.get(name, name)} {1e3 * ms:.1f}' for name, ms in found['call_ms'].items())} "
             f"({table.threads(int(threads), report['machine']['cores'])})"
             for threads, found in report["summaries"].items() if found.get("call_ms")]
    return f"\nOne call of an empty model (Relu of one number), µs: {'; '.join(words)}.\n" if words else ""


def row_of(found, peers):
    engines = found["engines"]
    right = [engines[name] if figures.ok(engines.get(name)) else {} for name in ("tern", *peers)]
    best = figures.ratio(engines, figures.best_peer(engines))
    return [found["model"], *(table.cell_ms(engines.get(name)) for name in ("tern", *peers)), table.cell(best, "{:.2f}"), off(engines),
            table.cell(found.get("percent_of_peak"), "{:.0f}"),
            *(" / ".join(table.cell(read(r), "{:.0f}") for r in right[:2]) for read in (lambda r: r.get("peak_mb"), figures.start_ms))]


def off(engines):
    spread = figures.spread(engines)
    return table.cell(None if spread is None else 100 * spread, "{:.0f}")


def models(report):
    """Returns one table per number of threads."""
    peers, text = report["peers"], ""
    first = NAMES[peers[0]] if peers else "–"
    heads = ["model", "Tern", *(NAMES[peer] for peer in peers), "/best", "± %", "% peak", f"MB, {first}", f"start, {first}"]
    for threads in report["summaries"]:
        rows = [row_of(row, peers) for row in report["rows"] if row["threads"] == int(threads)]
        text += f"\n{table.threads(int(threads), report['machine']['cores'])}, ms:\n\n" + table.markdown(heads, rows)
    return text.lstrip("\n")


def threads(report):
    """Returns tables that compare Tern on several threads with Tern on one thread, or "" if this was not measured."""
    text, alone = "", {row["model"]: row for row in report["rows"] if row["threads"] == 1}
    for count in report["summaries"]:
        rows = [row for row in report["rows"] if row["threads"] == int(count) and figures.over_single(row)[0]]
        bound = {row["model"] for row in rows if figures.compute_bound(row, alone.get(row["model"]))}
        text += threads_table(count, rows, bound) if rows else ""
    return text.lstrip("\n")


def threads_table(count, rows, bound):
    cells = [[row["model"], table.cell_ms(row["single"]), table.cell_ms(row["engines"]["tern"]),
              *(table.cell(x, "{:.2f}") for x in (*figures.over_single(row), figures.reads_over_single(row))),
              waiting(row), table.cell(figures.permitted(row), "{:.2f}"), off({"tern": row["engines"]["tern"], "single": row["single"]}),
              "yes" if row["model"] in bound else ""] for row in rows]
    heads = ["model", "1 thread, ms", f"{count} threads, ms", "times as fast", "loop", "reads", "waiting %", "permitted", "± %", "compute-bound"]
    return "\n" + table.markdown(heads, cells) + threads_words(count, [row for row in rows if row["model"] in bound])


def waiting(row):
    return table.cell(None if row.get("waiting") is None else 100 * row["waiting"], "{:.0f}")


def threads_words(count, rows):
    """Returns a sentence about the speedup of compute-bound models, or "" if the loop was not measured."""
    gains, loops = zip(*map(figures.over_single, rows)) if rows else ((), ())
    if not any(loops):
        return ""
    least, told = 0.9 * int(count), [(gain, limit) for gain, limit in zip(gains, map(figures.permitted, rows)) if limit]
    near = f"{sum(gain >= 0.9 * limit for gain, limit in told)} of {len(told)} reach 90 % of what is permitted; " if told else ""
    return (f"\nOf {len(gains)} compute-bound models {sum(gain >= least for gain in gains)} are at least {least:g} times as fast on "
            f"{count} threads; {near}the geometric mean is {figures.geomean(gains):.2f}, that of the loop "
            f"{figures.geomean(filter(None, loops)):.2f}.\n")


def time_spent(report):
    """Returns a table of the kernels that take most of the time on one thread, or "" if this was not measured. Rows are
    sorted by the ratio to the best peer, smallest first."""
    rows = [(figures.ratio(row["engines"], figures.best_peer(row["engines"])), row) for row in report["rows"] if row.get("spent")]
    cells = [[row["model"], table.cell(best, "{:.2f}"), spent.words(row["spent"])] for best, row in sorted(rows, key=lambda pair: pair[0] or 0)]
    return table.markdown(["model", "/best", "% of the time, at % of the roofline"], cells, last="---") if cells else ""


def growth(report):
    cliffs = [f"{s['model']} at {s['axis']} {size}" for s in report["series"] for size in s["cliffs"]]
    found = (f"Tern's step is clearly larger than the step of every peer at these sizes: {', '.join(cliffs)}." if cliffs else
             "At no size is Tern's step clearly larger than the step of every peer.")
    cores = report["machine"]["cores"]
    beyond = sorted({point["size"] for s in report["series"] for point in s["points"] if figures.beyond_cores(s["axis"], point["size"], cores)})
    capped = (f" Tern uses at most as many threads as there are cores ({cores}). The points with {' and '.join(map(str, beyond))} threads "
              "are marked with *." if beyond else "")
    return f"![time against size](performance_growth.svg)\n\n{found}{capped} {made(report)}\n"


def sections(stored):
    """Returns the text of each measured section by its name."""
    found = {}
    for part in ("fp32", "bf16"):
        if part in stored:
            found[f"{part} machine"] = machine(stored[part])
            found[f"{part} summary"] = summary(stored[part])
            found[f"{part} models"] = models(stored[part]) + f"\n![ratio to the best peer](performance_{part}.svg)\n"
            found[f"{part} threads"] = threads(stored[part])
            found[f"{part} spent"] = time_spent(stored[part])
    if "growth" in stored:
        found["growth"] = growth(stored["growth"])
    if "threads" in stored:  # this measurement replaces the table of threads from the fp32 comparison
        found["fp32 threads"] = f"Tern alone. {made(stored['threads'])}\n\n{threads(stored['threads'])}"
    return found


def fill(text, made):
    """Returns the document with its sections replaced. A section without measurements says "Not measured yet."."""
    def replace(match):
        name = match.group(1)
        return f"<!-- {name} -->\n{made.get(name) or 'Not measured yet.' + chr(10)}<!-- end -->"

    return re.sub(r"<!-- (?!end)([^>]*?) -->\n.*?<!-- end -->", replace, text, flags=re.DOTALL)


def charts(stored):
    made = {f"performance_{part}.svg": chart.ratios(stored[part]) for part in ("fp32", "bf16") if part in stored}
    made |= {"performance_overview.svg": chart.overview(stored["fp32"], NAMES)} if "fp32" in stored else {}
    return {**made, **({"performance_growth.svg": chart.growth(stored["growth"])} if "growth" in stored else {})}


def render(stored, docs):
    """Returns the text of each generated file by its name."""
    return {"performance.md": fill((docs / "performance.md").read_text(), sections(stored)), **charts(stored)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for part in PARTS:
        parser.add_argument(f"--{part}", type=pathlib.Path, help="the JSON file of a new measurement")
    parser.add_argument("--docs", type=pathlib.Path, default=DOCS, help="folder of the document")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file is out of date")
    options = parser.parse_args()
    path = options.docs / "performance.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    stored.update({part: rounded(json.loads(getattr(options, part).read_text())) for part in PARTS if getattr(options, part)})
    for part in PARTS:
        if part in stored and stored[part].get("method") != figures.METHOD:
            sys.exit(f"{part} was measured by method {stored[part].get('method')}, but the document describes method {figures.METHOD}; measure it again")
    files = {"performance.json": json.dumps(stored, indent=None, separators=(",", ":")).replace('{"model"', '\n{"model"') + "\n",
             **render(stored, options.docs)}
    stale = [name for name, text in files.items() if not (options.docs / name).exists() or (options.docs / name).read_text() != text]
    for name in stale:
        print(f"{name}: {'out of date' if options.check else 'written'}")
        if not options.check:
            (options.docs / name).write_text(files[name])
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
