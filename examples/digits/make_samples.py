"""Writes samples/<label>_<k>.png: the first two held-out images of each digit, in the order of MNIST's file.

    TERN_ZOO=... python make_samples.py
"""

import pathlib

import numpy as np
from PIL import Image

import dataset

PER_DIGIT = 2


def main():
    folder = pathlib.Path(__file__).with_name("samples")
    folder.mkdir(exist_ok=True)
    images, labels = dataset.load()
    mask = dataset.held_out_mask()
    for digit in range(10):
        for k, row in enumerate(np.flatnonzero(mask & (labels == digit))[:PER_DIGIT]):
            Image.fromarray(images[row]).save(folder / f"{digit}_{k}.png", optimize=True)


if __name__ == "__main__":
    main()
