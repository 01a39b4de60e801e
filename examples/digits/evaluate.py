"""Prints the accuracy of digits.onnx on the held-out images, first as they are, then moved by up to two pixels.

    TERN_ZOO=... python evaluate.py [model.onnx]

Exits 1 when the held-out accuracy is below 98.5 %.
"""

import pathlib
import sys

import numpy as np
import onnxruntime

import dataset

REQUIRED = 0.985
SHIFT = 2


def shifted(images, dy, dx):
    """Moves the digits down by dy pixels and right by dx pixels. Pixels that leave the image are cut off."""
    padded = np.pad(images, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)))
    return padded[:, SHIFT - dy:SHIFT - dy + 28, SHIFT - dx:SHIFT - dx + 28]


def correct(session, images, labels):
    probabilities, = session.run(["probabilities"], {"image": dataset.to_input(images)})
    return int((probabilities.argmax(axis=1) == labels).sum())


def main():
    default = pathlib.Path(__file__).with_name("digits.onnx")
    model = sys.argv[1] if len(sys.argv) > 1 else default
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    images, labels = dataset.load()
    mask = dataset.held_out_mask()
    images, labels = images[mask], labels[mask]

    right = correct(session, images, labels)
    print(f"held-out accuracy {right / len(labels):.2%} ({right} of {len(labels)}; required {REQUIRED:.1%})")
    reach = range(-SHIFT, SHIFT + 1)
    moved = [correct(session, shifted(images, dy, dx), labels) / len(labels) for dy in reach for dx in reach if dy or dx]
    print(f"moved by up to {SHIFT} pixels: mean {np.mean(moved):.2%}, worst {min(moved):.2%} of {len(moved)} shifts")
    return 0 if right >= REQUIRED * len(labels) else 1


if __name__ == "__main__":
    sys.exit(main())
