#!/usr/bin/env python3
"""Compares Tern's graph optimizer with those of onnxruntime (extended level), onnxsim and onnxslim.

The models are those of --models and of $TERN_ZOO/models. For each model, it prints the number of nodes after
optimisation, and the difference between the outputs of the optimised and the original model. With --time, it also
prints the time of both models. The exit status is 1 if there is a model on which Tern fails, leaves more nodes than a
peer, changes the outputs, or makes the model slower. The results of peers are stored in the file --cache, so that a
second run runs only Tern. The last line is `N passed, N failed, N skipped`.
"""

import argparse
import json
import math
import sys
from collections import Counter
from pathlib import Path

import data
import peers
from tern import Tern
from verdict import Judge

HEADER = (f"{'model':44}{'onnx':>7}{'tern':>7}{'export':>7}{'ort':>7}{'sim':>7}{'slim':>7}{'error':>10}"
          f"{'run':>10}{'time':>7}  verdict")


def number(value, form=""):
    return "-" if value is None else format(value, form)


def peer_cell(result, model):
    """Returns the peer's number of nodes as text: "12", "12!" if its model is wrong, or "-" if it failed."""
    return str(result["nodes"]) + "!" * peers.is_wrong(result, model) if "nodes" in result else "-"


def line(row, model):
    time = row.get("time")
    cells = [row["nodes"], row.get("tern", {}).get("nodes_after"), row.get("exported")]
    text = f"{row['model']:44}" + "".join(f"{number(c):>7}" for c in cells)
    text += "".join(f"{peer_cell(row['peers'][p], model):>7}" for p in peers.OPTIMIZERS)
    text += "".join(f"{number(row.get(key), '.1e'):>10}" for key in ("error", "run_error"))
    text += f"{number(time and time['optimised_ms'] / time['original_ms'], '.2f'):>7}"
    return f"{text}  {'; '.join(row['problems']) or ('refused' if 'refused' in row else 'ok')}"


def against(peer, rows, models):
    """Returns a comparison of Tern with one peer. The node counts cover only the models that both optimised."""
    both = [(r["tern"]["nodes_after"], r["exported"], r["peers"][peer]["nodes"]) for r in rows
            if "tern" in r and "nodes" in r["peers"][peer]]
    sign = Counter("fewer" if tern < other else "equal" if tern == other else "more" for tern, _, other in both)
    return {"models": len(both), **{key: sign[key] for key in ("fewer", "equal", "more")},
            "exported_more": sum(exported > other for _, exported, other in both),
            "nodes_tern": sum(t for t, _, _ in both), "nodes_exported": sum(e for _, e, _ in both),
            "nodes_peer": sum(o for _, _, o in both),
            "failed": sum("reason" in r["peers"][peer] for r in rows),
            "wrong": sum(peers.is_wrong(r["peers"][peer], models[k]) for k, r in enumerate(rows))}


def total_time(rows):
    timed = [r["time"] for r in rows if "time" in r]
    return {"original_ms": sum(t["original_ms"] for t in timed), "optimised_ms": sum(t["optimised_ms"] for t in timed)}


def summarize(rows, models):
    counts = {"models": len(rows), "passed": sum(not r["problems"] and "refused" not in r for r in rows),
              "failed": sum(bool(r["problems"]) for r in rows),
              "refused": sum("refused" in r for r in rows),
              "no_more_nodes_than_any_peer": sum("tern" in r and not losses(r) for r in rows),
              "largest_error": max((r["error"] for r in rows if r.get("error") is not None), default=None)}
    summary = {**counts, "peers": {p: against(p, rows, models) for p in peers.OPTIMIZERS}}
    if any("time" in r for r in rows):
        summary["time"] = total_time(rows)
    return summary


def is_slower(summary):
    return "time" in summary and summary["time"]["optimised_ms"] > summary["time"]["original_ms"]


def losses(row):
    return [p for p in row["problems"] if " nodes more than " in p]


def print_summary(summary, rows, models):
    for peer, c in summary["peers"].items():
        print(f"{peer:12} {c['models']} models: tern fewer {c['fewer']}, equal {c['equal']}, more {c['more']}; "
              f"total nodes: tern {c['nodes_tern']}, tern after export to ONNX {c['nodes_exported']}, {peer} {c['nodes_peer']}; "
              f"models with more nodes than {peer} after export to ONNX: {c['exported_more']}; {peer} failed on {c['failed']}, wrong on {c['wrong']}")
    for row, model in zip(rows, models):
        for peer, result in row["peers"].items():
            if peers.is_wrong(result, model):
                why = result.get("broken") or f"outputs are {result['error']:.2g} from the original's"
                print(f"wrong {peer} {row['model']}: {why}")
    if "time" in summary:
        time = summary["time"]
        print(f"total time: original {time['original_ms']:.2f} ms, optimised {time['optimised_ms']:.2f} ms")
        if is_slower(summary):
            print("FAIL total time: the optimised models take longer")
    print(f"tern has no more nodes than any peer on {summary['no_more_nodes_than_any_peer']} of {summary['models']} models")
    for row in rows:
        if row["problems"]:
            print(f"FAIL {row['model']}: {'; '.join(row['problems'])}")
    print(f"{summary['passed']} passed, {summary['failed']} failed, {summary['refused']} skipped")


def printable(value):
    """Converts infinities and NaNs to text, because JSON cannot represent them."""
    if isinstance(value, dict):
        return {key: printable(item) for key, item in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def fill(models, cache):
    for model in models:
        found = cache.results(model, data.feeds(model))
        print(f"{model.name:44}" + "".join(f"{peer_cell(found[p], model):>8}" for p in peers.OPTIMIZERS), flush=True)
        for peer, result in found.items():
            if "reason" in result:
                print(f"  {peer}: {result['reason']}")
    return 0


def compare(models, cache, options):
    judge = Judge(Tern(options.tern, options.limit), options)
    rows = []
    if not options.json:
        print(HEADER)
    for model in models:
        all_feeds = data.feeds(model)
        rows.append(judge.row(model, all_feeds, cache.results(model, all_feeds)))
        if not options.json:
            print(line(rows[-1], model), flush=True)
    summary = summarize(rows, models)
    if options.json:
        print(json.dumps({"summary": printable(summary), "models": [printable(r) for r in rows]}, indent=1))
    else:
        print_summary(summary, rows, models)
    return int(summary["failed"] > 0 or is_slower(summary))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.declare(parser)
    parser.add_argument("--cache", type=Path, help="the file with the results of the peers (default: peers.json in --models)")
    parser.add_argument("--peers-only", action="store_true", help="write the results of the peers to --cache and exit; tern is not needed")
    parser.add_argument("--limit", type=int, default=60, help="time limit of one optimizer on one model, in seconds")
    parser.add_argument("--run", action="store_true", help="also run the original and the optimised models in tern and compare their outputs")
    parser.add_argument("--time", action="store_true", help="also measure the time of the original and the optimised model in tern, with one thread")
    parser.add_argument("--rounds", type=int, default=3, help="number of measurements of both models for --time")
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds for one measurement")
    parser.add_argument("--noise", type=float, default=0.05, help="an optimised model may be slower by this fraction of the original's time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if not options.cache and not options.models:
        parser.error("--models or --cache is required")
    options.cache = options.cache or options.models / "peers.json"
    return options


def main():
    options = parse()
    models = data.chosen(options)
    cache = peers.Cache(options.cache, options.limit)
    return fill(models, cache) if options.peers_only else compare(models, cache, options)


if __name__ == "__main__":
    sys.exit(main())
