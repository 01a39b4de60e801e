"""Compares int8 models of Tern with Tern in fp32 and bf16, and with int8 models of onnxruntime and openvino, in interleaved rounds.

Each engine quantizes the network with its own tool: `tern quantize`, onnxruntime.quantization, nncf. Image networks are calibrated,
text networks are quantized dynamically (nncf calibrates them too). The columns `x` are times divided by Tern's int8 time; above 1,
Tern's int8 model is faster. `cosine` is the similarity of Tern's int8 outputs to its fp32 outputs, `size` the int8 file over the fp32 file.
The exit status is 1 if an int8 model of Tern is slower than 0.97 x the better of its fp32 and bf16 runs, or cannot be made.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import numpy as np

import feeds
import figures
import options
import table
import zoo
from lowbit import models
from process import Engine, Failure

NETWORKS = (r"^(resnet18|resnet50|vgg16|squeezenet1\.1_onnx|mobilenet_v[12]|mobilenetv2-7|efficientnet_b0|regnet_y|convnext_tiny|bert_base|distilbert|tinybert"
            r"|deit_tiny|vit_b16|super_resolution_10)$")
OWN = ("tern", "fp32", "bf16")  # Tern's int8 model, and its runs of the original model
PEERS = ("ort", "openvino")
HEADS = ("model", "tern", "fp32", "bf16", "ort", "openvino", "x fp32", "x bf16", "x ort", "x ov", "x best peer", "cosine", "size")
PRECISIONS = {"bf16": "bf16", "openvino": "own"}  # other engines: fp32, which leaves quantized ops as they are
FLOOR = 0.97  # noise of a ratio


def peers_in(text):
    chosen = tuple(text.split(",")) if text != "none" else ()
    unknown = [name for name in chosen if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is not one of {', '.join(PEERS)}")
    return chosen


def parse():
    parser = argparse.ArgumentParser(prog="quantize speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=NETWORKS, help="networks whose names match this regular expression")
    parser.add_argument("--threads", default="1,2", type=lambda text: [options.positive(n) for n in text.split(",")])
    parser.add_argument("--peers", type=peers_in, default=PEERS, help="ort, openvino or both, separated by a comma; `none` measures only Tern")
    parser.add_argument("--rounds", type=options.positive, default=7)
    parser.add_argument("--seconds", type=float, default=0.4, help="seconds per engine and round")
    parser.add_argument("--clock", default="wall", choices=tuple(options.CLOCKS), help="`processor` is for one thread on a shared machine")
    parser.add_argument("--tern", type=pathlib.Path, default=options.TERN)
    parser.add_argument("--nncf", type=pathlib.Path, help="a Python that imports nncf and openvino; without it, openvino is left out")
    parser.add_argument("--cache", type=pathlib.Path, default=zoo.default_cache(), help="the zoo's folder (TERN_BENCH_CACHE)")
    parser.add_argument("--json", type=pathlib.Path, help="write all measurements to this file")
    chosen = parser.parse_args()
    if chosen.clock == "processor" and chosen.threads != [1]:
        parser.error("--clock processor requires --threads 1")
    return chosen


def start(engine, model, entry, inputs, folder, chosen, threads):
    job = {"model": str(model), "threads": threads, "precision": PRECISIONS.get(engine, "fp32"), "cache": str(chosen.cache.resolve()),
           "inputs_file": str(inputs), "outputs": entry["outputs"], "network": ""}
    return Engine(engine, job, folder / engine, dict.fromkeys(OWN, chosen.tern))


def outputs_of(folder, entry):
    return [np.load(folder / f"{feeds.file_name(name)}.npy").astype(np.float64).ravel() for name in entry["outputs"]]


def cosine(folder, entry):
    """Returns the least cosine similarity of an output of the int8 model to that of the fp32 model."""
    pairs = zip(outputs_of(folder / "tern", entry), outputs_of(folder / "fp32", entry))
    return min(float(a @ b / ((np.linalg.norm(a) * np.linalg.norm(b)) or 1)) for a, b in pairs)


def start_all(name, entry, chosen, threads, folder, results):
    inputs = folder / "inputs.npz"
    feeds.store(inputs, feeds.make_all(entry))
    source, engines = (chosen.cache / entry["file"]).resolve(), {}
    for engine in (*OWN, *chosen.peers):
        try:
            model = source if engine in ("fp32", "bf16") else models.made(engine, name, entry, chosen).resolve()
            engines[engine] = start(engine, model, entry, inputs, folder, chosen, threads)
            results[engine] = {"status": "ok", "bytes": model.stat().st_size}
        except (Failure, models.NotMade) as failure:
            results[engine] = {"status": "failed", "reason": str(failure)}
    return engines


def measure(name, entry, chosen, threads):
    results, times = {}, {}
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        folder = pathlib.Path(folder)
        engines = start_all(name, entry, chosen, threads, folder, results)
        clock = options.CLOCKS[chosen.clock]
        try:
            for turn in range(1 + chosen.rounds):
                for engine, child in engines.items():
                    latencies = child.round(2000, chosen.seconds)[clock]
                    if turn:  # round 0 is a warm-up
                        times.setdefault(engine, []).append(latencies)
        finally:
            for child in engines.values():
                child.close()
        for engine, rounds in times.items():
            results[engine].update(figures.timing(rounds))
        similar = cosine(folder, entry) if figures.ok(results["tern"]) and figures.ok(results["fp32"]) else None
    return {"model": name, "threads": threads, "engines": results, "cosine": similar}


def over_best(row):
    """Returns the time of the faster int8 peer over that of Tern's int8 model, or None."""
    engines = {name: row["engines"].get(name) for name in ("tern", *PEERS)}
    return figures.ratio(engines, figures.best_peer(engines))


def cells(row):
    engines = row["engines"]
    ratios = [figures.ratio(engines, other) for other in ("fp32", "bf16", *PEERS)]
    size = engines["tern"]["bytes"] / engines["fp32"]["bytes"] if figures.ok(engines["tern"]) and figures.ok(engines["fp32"]) else None
    return [row["model"], *(table.cell_ms(engines.get(e)) for e in (*OWN, *PEERS)), *(table.cell(r, "{:.2f}") for r in (*ratios, over_best(row))),
            table.cell(row["cosine"], "{:.4f}"), table.cell(size, "{:.2f}")]


def slower(row):
    """Returns why Tern's int8 model misses the promise of never being slower, or None."""
    engines = row["engines"]
    if not figures.ok(engines["tern"]):
        return engines["tern"]["reason"]
    worst = min((r for r in (figures.ratio(engines, other) for other in ("fp32", "bf16")) if r), default=1)
    return f"{worst:.2f} x the better of fp32 and bf16" if worst < FLOOR else None


def summary(rows):
    def mean(other):
        return figures.geomean(r for r in (figures.ratio(row["engines"], other) for row in rows) if r)

    best = figures.geomean(r for r in map(over_best, rows) if r)
    return ["geomean", *[""] * 5, *(f"{mean(other):.2f}" for other in ("fp32", "bf16", *PEERS)), f"{best:.2f}"]


def main():
    chosen = parse()
    index = {name: entry for name, entry in zoo.load_index(chosen.cache).items()
             if not name.endswith(".dynamic") and re.search(chosen.models, name)}
    if not index:
        sys.exit(f"no network in {chosen.cache} matches '{chosen.models}'; bench/zoo.py exports the networks")
    report, missed = [], []
    for threads in chosen.threads:
        width = [max(map(len, index)), *(max(len(head), 7) for head in HEADS[1:])]
        print(f"\nint8, {threads} thread(s), ms\n{table.line(HEADS, width)}", flush=True)
        rows = []
        for name, entry in index.items():
            rows.append(measure(name, entry, chosen, threads))
            print(table.line(cells(rows[-1]), width), flush=True)
            for engine, found in rows[-1]["engines"].items():
                if not figures.ok(found):
                    print(f"    {engine}: {found['reason']}", flush=True)
            if why := slower(rows[-1]):
                missed.append(f"{name}, {threads} thread(s): {why}")
        print(table.line(summary(rows), width), flush=True)
        report += rows
    if chosen.json:
        chosen.json.write_text(json.dumps({"rows": report}, indent=1) + "\n")
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0
