#!/usr/bin/env python3
"""Compares the quantized forms of the sentiment classifier with its f32 form, on the same sentences.

    python tests/accuracy/sst2/compare.py --model DIR [--tern build/release/bin/tern] [--set dev]

DIR is the output of train.py. Writes the quantized models beside model.onnx, runs all of them, and prints for each: the
accuracy, how many labels it loses and gains against f32, the p-value of McNemar's exact test, the mean cosine of the pooled
vectors to those of f32, and the bytes of its file.
"""

import argparse
import math
import pathlib
import subprocess
import tempfile

import numpy

CHUNK = 512  # sentences per run
CALIBRATION = 200  # sentences
FORMS = {
    "dynamic int8": ["--dynamic"],
    "weights int8": ["--weights", "int8"],
    "weights int4, blocks of 32": ["--weights", "int4", "--block", "32"],
    "weights int4, blocks of 32, GPTQ": ["--weights", "int4", "--block", "32", "--weight-method", "gptq"],
    "weights int4, blocks of 32, AdaRound": ["--weights", "int4", "--block", "32", "--weight-method", "adaround"],
    "weights int4, blocks of 32, AWQ": ["--weights", "int4", "--block", "32", "--weight-method", "awq"],
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--tern", default="tern")
    parser.add_argument("--set", default="dev", choices=("dev", "test"))
    return parser.parse_args()


def run(tern, model, ids, mask):
    """Returns the logits and pooled vectors of all sentences."""
    logits, pooled = [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for i in range(0, len(ids), CHUNK):
            longest = int(mask[i:i + CHUNK].sum(1).max())
            numpy.save(folder / "ids.npy", ids[i:i + CHUNK, :longest])
            numpy.save(folder / "mask.npy", mask[i:i + CHUNK, :longest])
            subprocess.run([tern, "run", model, "--input", f"input_ids={folder / 'ids.npy'}", "--input",
                            f"attention_mask={folder / 'mask.npy'}", "--output-dir", folder], check=True,
                           stdout=subprocess.DEVNULL)
            logits.append(numpy.load(folder / "logits.npy"))
            pooled.append(numpy.load(folder / "pooled.npy"))
    return numpy.concatenate(logits), numpy.concatenate(pooled)


def mcnemar(lost, gained):
    """Returns the probability of a difference as large as this by chance."""
    n, k = lost + gained, min(lost, gained)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n) if n else 1.0


def cosine(a, b):
    return float(((a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)).mean())


def main():
    args = parse()
    data = numpy.load(args.model / f"{args.set}.npz")
    ids, mask, labels = data["input_ids"], data["attention_mask"], data["labels"]
    # Calibration sentences have one length, because the arrays of a file have one shape.
    train = numpy.load(args.model / "train.npz")
    long = numpy.flatnonzero(train["attention_mask"].sum(1) >= 24)[:CALIBRATION]
    calibration = args.model / "calibration.npz"
    numpy.savez(calibration, **{name: train[name][long, :24] for name in ("input_ids", "attention_mask")})
    original = args.model / "model.onnx"
    want_logits, want_pooled = run(args.tern, original, ids, mask)
    want = want_logits.argmax(1) == labels
    print(f"{args.set}: {len(labels)} sentences\n"
          f"{'form':34} {'accuracy':>8} {'change':>7} {'lost':>5} {'gained':>6} {'p':>6} {'cosine':>8} {'bytes':>9}")
    print(f"{'f32':34} {100 * want.mean():8.2f} {'':7} {'':5} {'':6} {'':6} {'':8} {original.stat().st_size:9}")
    for i, (name, options) in enumerate(FORMS.items()):
        path = args.model / f"form{i}.tern"
        calib = ["--calib", calibration] if "--weight-method" in options else []
        subprocess.run([args.tern, "quantize", original, "-o", path, *options, *calib], check=True, stdout=subprocess.DEVNULL)
        logits, pooled = run(args.tern, path, ids, mask)
        right = logits.argmax(1) == labels
        lost, gained = int((want & ~right).sum()), int((right & ~want).sum())
        print(f"{name:34} {100 * right.mean():8.2f} {100 * (right.mean() - want.mean()):7.2f} {lost:5} {gained:6} "
              f"{mcnemar(lost, gained):6.3f} {cosine(pooled, want_pooled):8.5f} {path.stat().st_size:9}", flush=True)


if __name__ == "__main__":
    main()
