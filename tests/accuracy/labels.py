"""Counts how often a lower precision changes the label that a published classifier computes for a picture.

    TERN_ZOO=… tests/accuracy/labels.py [--precision bf16] [--tern build/release/bin/tern] [--pictures 500]

Pictures are $TERN_ZOO/data/imagenet/NNNN.jpg, where NNNN is the correct label. Prints for each model how many labels
equal those of fp32, and how many labels are correct in each precision. Also prints the largest change of a score, in
percent of the largest score. A model fails if less than 99 % of its labels equal those of fp32. The last line is
`N passed, N failed, N skipped`, where N are numbers of models.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MODELS = ("mobilenetv2-7_fp32", "squeezenet1.1_fp32", "mobilenetv2-7_fp16")
PICTURE = ("--crop", "224", "--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225")
LEAST = 0.99


def scores(tern, model, picture, precision):
    done = subprocess.run([tern, "run", model, "--input", str(picture), *PICTURE, "--threads", "1", "--precision", precision,
                           "--json"], capture_output=True, text=True, check=True)
    return flat(next(iter(json.loads(done.stdout)["outputs"].values()))["data"])


def flat(data):
    return flat(data[0]) if isinstance(data[0], list) else data


def label(values):
    return max(range(len(values)), key=values.__getitem__)


def measure(tern, model, pictures, precision):
    same = right = right_exact = 0
    moved = largest = 0.0
    for picture in pictures:
        exact, got = scores(tern, model, picture, "fp32"), scores(tern, model, picture, precision)
        wanted = int(picture.stem)
        same += label(exact) == label(got)
        right += label(got) == wanted
        right_exact += label(exact) == wanted
        moved = max(moved, max(abs(a - b) for a, b in zip(exact, got)))
        largest = max(largest, max(abs(a) for a in exact))
    return {"same": same, "right": right, "right_fp32": right_exact, "moved": moved / largest}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", default="build/release/bin/tern")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--pictures", type=int, default=500)
    parser.add_argument("--models", nargs="*", default=MODELS)
    chosen = parser.parse_args()
    zoo = pathlib.Path(os.environ.get("TERN_ZOO") or sys.exit("TERN_ZOO must name the folder of models and pictures"))
    pictures = sorted((zoo / "data/imagenet").glob("*.jpg"))[:chosen.pictures]
    if not pictures:
        sys.exit(f"no pictures in {zoo / 'data/imagenet'}")
    failed = 0
    print("| model | labels as in fp32 | correct | correct in fp32 | largest change of a score |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.models:
            model = str(pathlib.Path(folder) / f"{name}.tern")
            subprocess.run([chosen.tern, "convert", str(zoo / f"models/onnx/{name}.onnx"), "-o", model], check=True,
                           capture_output=True)
            m = measure(chosen.tern, model, pictures, chosen.precision)
            print(f"| {name} | {m['same']} of {len(pictures)} | {m['right']} | {m['right_fp32']} | {100 * m['moved']:.2f} % |",
                  flush=True)
            if m["same"] < LEAST * len(pictures):
                failed += 1
                print(f"FAIL {name}: {m['same']} of {len(pictures)} labels equal those of fp32, fewer than {100 * LEAST:g} %")
    print(f"{len(chosen.models) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
