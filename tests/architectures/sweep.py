#!/usr/bin/env python3
"""Runs tern on every exported architecture and compares the results with the stored results of onnxruntime.

The exit status is 1 if there is any mismatch, crash or time-out. Models with operators that tern does not support are
counted and listed. They fail the sweep only with --strict.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import case

OUTCOMES = ("matched", "unsupported", "failed", "mismatched")  # from best to worst


def run_model(tern, folder, limit):
    """Returns the worst outcome over the data sets of one model."""
    results = [case.run(tern, folder / "model.onnx", data, limit) for data in case.data_sets(folder)]
    return max(results, key=lambda r: OUTCOMES.index(r["outcome"]))


def read_index(models):
    """Returns the index that export.py wrote. If there is no index file, returns an index that lists every folder with
    a model as exported."""
    path = models / "index.json"
    if path.exists():
        return json.loads(path.read_text())
    return {folder.parent.name: {"status": "exported"} for folder in sorted(models.glob("*/model.onnx"))}


def families_of(index, only):
    """Returns for each family a dict from "exporter.shape" to the index entry."""
    found = defaultdict(dict)
    for name, entry in sorted(index.items()):
        family, variant = name.split(".", 1)
        if re.search(only, family):
            found[family][variant] = entry
    return found


MARK = {"matched": "ok", "mismatched": "MISMATCH", "unsupported": "unsupported", "failed": "FAILED"}
VARIANTS = ("torchscript.static", "torchscript.dynamic", "dynamo.static", "dynamo.dynamic")


def row(family, variants, results):
    cells = []
    for variant in VARIANTS:
        name = f"{family}.{variant}"
        status = variants.get(variant, {}).get("status", "absent")
        cells.append(MARK[results[name]["outcome"]] if name in results else "-" if status == "absent" else "no export")
    return f"{family:32}" + "".join(f"{c:14}" for c in cells)


def summarize(families, results):
    entries = [e for variants in families.values() for e in variants.values()]
    count = Counter(r["outcome"] for r in results.values())
    whole = sum(all(results.get(f"{f}.{v}", {}).get("outcome") == "matched" for v, e in vs.items()
                    if e["status"] == "exported") for f, vs in families.items()
                if any(e["status"] == "exported" for e in vs.values()))
    return {
        "families": len(families),
        "families with every export matched": whole,
        "models exported": sum(e["status"] != "exporter failed" for e in entries),
        "models run by onnxruntime": sum(e["status"] == "exported" for e in entries),
        **{f"models {o} by tern": count[o] for o in OUTCOMES},
    }


def missing_ops(results):
    return Counter(op for r in results.values() for op in r.get("ops", ()))


def print_details(results):
    for name, result in results.items():
        if result["outcome"] == "mismatched":
            print(f"mismatch    {name}: {result['message']}")
    for name, result in results.items():
        if result["outcome"] in ("failed", "unsupported"):
            print(f"{result['outcome']:11} {name}: {result['message']}")
    for op, models in missing_ops(results).most_common():
        print(f"missing op  {op} ({models} models)")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", required=True, help="the tern program")
    parser.add_argument("--models", type=Path, required=True, help="folder that export.py filled")
    parser.add_argument("--only", default="", help="run only the families whose names match this regular expression")
    parser.add_argument("--limit", type=int, default=60, help="time limit of one run of tern, in seconds")
    parser.add_argument("--report", type=Path, help="write the results to this file as JSON")
    parser.add_argument("--strict", action="store_true", help="also fail on unsupported models")
    return parser.parse_args()


def main():
    options = parse()
    families = families_of(read_index(options.models), options.only)
    results = {}
    print(f"{'family':32}" + "".join(f"{v.replace('torchscript', 'ts'):14}" for v in VARIANTS))
    for family, variants in families.items():
        for variant, entry in variants.items():
            if entry["status"] == "exported":
                name = f"{family}.{variant}"
                results[name] = run_model(options.tern, options.models / name, options.limit)
        print(row(family, variants, results), flush=True)
    print_details(results)
    summary = summarize(families, results)
    print("\n".join(f"{key}: {value}" for key, value in summary.items()))
    if options.report:
        report = {"summary": summary, "missing_ops": missing_ops(results), "models": results}
        options.report.write_text(json.dumps(report, indent=1) + "\n")
    bad = OUTCOMES[1:] if options.strict else OUTCOMES[2:]
    failed = sum(r["outcome"] in bad for r in results.values())
    matched = sum(r["outcome"] == "matched" for r in results.values())
    for name, result in results.items():
        if result["outcome"] in bad:
            print(f"FAIL {name}: {result['message']}")
    skipped = sum(e["status"] != "exported" for variants in families.values() for e in variants.values())
    print(f"{matched} passed, {failed} failed, {skipped + len(results) - matched - failed} skipped")
    return int(failed > 0 or not results)


if __name__ == "__main__":
    sys.exit(main())
