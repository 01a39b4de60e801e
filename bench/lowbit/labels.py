"""Measures what quantization costs in accuracy: labels of ImageNet pictures before and after, paired.

    TERN_ZOO=… bench/quantize labels [--tern build/release/bin/tern] [--methods mse,kl] [--models squeezenet] [--curve] [--json FILE]

Pictures are $TERN_ZOO/data/imagenet/NNNN.jpg, where NNNN is the class. Every fifth one (100) calibrates, the other 400 are measured.
For each model there is a row per calibration method, with the defaults of `tern quantize`, and with --curve a row per number of
calibration pictures. The limits are: at most 1 % of the labels lost net; and 98 % of the labels unchanged for squeezenet, 96 % for
mobilenet. The default method must keep them, else the exit status is 1.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MODELS = {"squeezenet1.1_fp32": 0.98, "mobilenetv2-7_fp32": 0.96}  # and the share of labels that stay the same
METHODS = ("mse", "minmax", "ema", "percentile", "kl", "admm", "eq")
MOST_LOST = 0.01
MOST_BYTES = 0.27
COLUMNS = "| model | method | pictures | labels unchanged | correct before | after | lost | gained | change | 95 % interval | McNemar p | file |"


def run(tern, *arguments):
    done = subprocess.run([tern, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"tern {' '.join(map(str, arguments))}\n{done.stderr}")
    return json.loads(done.stdout)


def split(pictures, folder):
    """Makes folders with links: every fifth picture calibrates."""
    for name in ("calibrate", "measure"):
        (folder / name).mkdir()
    for i, picture in enumerate(pictures):
        target = folder / ("calibrate" if i % 5 == 2 else "measure") / picture.name
        target.symlink_to(picture.resolve())


def spread(folder, count, into):
    """Links `count` pictures of a folder, evenly spread over its files."""
    into.mkdir()
    files = sorted(folder.iterdir())
    for i in range(count):
        picture = files[i * len(files) // count]
        (into / picture.name).symlink_to(picture.resolve())
    return into


def measure(tern, model, calibration, pictures, out, options):
    made = run(tern, "quantize", model, "-o", out, "--calib", calibration, "--preprocess", "imagenet", "--json", *options)
    found = run(tern, "eval", out, "--images", pictures, "--labels", "stem", "--preprocess", "imagenet", "--against", model, "--json")
    return {**found["paired"], "top1": found["top1"], "top1_before": found["against"]["top1"], "samples": made["samples"],
            "bytes": made["bytes"]["after"] / made["bytes"]["before"]}


def row(name, method, m):
    n, low, high = m["n"], *m["change_95"]
    return (f"| {name} | {method} | {m['samples']} | {m['same']} of {n} ({100 * m['same'] / n:.1f} %) | {100 * m['top1_before']:.2f} % | "
            f"{100 * m['top1']:.2f} % | {m['lost']} | {m['gained']} | {100 * m['change']:+.2f} % | {100 * low:+.2f} to {100 * high:+.2f} % | "
            f"{m['mcnemar_p']:.2f} | {100 * m['bytes']:.1f} % |")


def failures(name, m):
    if -m["change"] > MOST_LOST:
        yield f"{name}: lost {-100 * m['change']:.2f} % of the labels"
    if m["same"] < MODELS[name] * m["n"]:
        yield f"{name}: {m['same']} of {m['n']} labels are unchanged, fewer than {100 * MODELS[name]:g} %"
    if m["bytes"] > MOST_BYTES:
        yield f"{name}: the file has {100 * m['bytes']:.1f} % of the bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", default="build/release/bin/tern")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--models", default="", help="only models whose names contain this text")
    parser.add_argument("--curve", action="store_true", help="also 10 to 100 calibration pictures, by the first method")
    parser.add_argument("--options", default="", help="more options of tern quantize, such as '--rounding nearest'")
    parser.add_argument("--json", default="", help="write all numbers to this file")
    chosen = parser.parse_args()
    zoo = pathlib.Path(os.environ.get("TERN_ZOO") or sys.exit("TERN_ZOO must name the folder of models and pictures"))
    pictures = sorted((zoo / "data/imagenet").glob("*.jpg"))
    if len(pictures) < 100:
        sys.exit(f"{zoo / 'data/imagenet'} has {len(pictures)} pictures, fewer than 100")
    rows, failed, methods, options = [], [], chosen.methods.split(","), chosen.options.split()
    print(f"{COLUMNS}\n{'|---' * COLUMNS.count(' | ')}|---|", flush=True)
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        split(pictures, folder)
        for count in range(10, 100, 10) if chosen.curve else ():
            spread(folder / "calibrate", count, folder / f"calibrate{count}")
        for name in (n for n in MODELS if chosen.models in n):
            cases = [(method, folder / "calibrate") for method in methods]
            cases += [(methods[0], folder / f"calibrate{count}") for count in range(10, 100, 10)] if chosen.curve else []
            for method, calibration in cases:
                m = measure(chosen.tern, zoo / f"models/onnx/{name}.onnx", calibration, folder / "measure", folder / "int8.tern",
                            ["--method", method, *options])
                print(row(name, method, m), flush=True)
                rows.append({"model": name, "method": method, **m})
                failed += failures(name, m) if method == METHODS[0] and calibration.name == "calibrate" else ()
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(rows, indent=1))
    for line in failed:
        print(f"FAIL {line}")
    return 1 if failed else 0

