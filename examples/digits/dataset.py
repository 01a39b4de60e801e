"""Reads MNIST's test file of 10,000 images and splits it into training and held-out images."""

import gzip
import os
import pathlib
import sys

import numpy as np

COUNT, HELD_OUT = 10_000, 1_500


def _read(name, magic, header, shape):
    zoo = os.environ.get("TERN_ZOO")
    if not zoo:
        sys.exit("TERN_ZOO is not set: set it to the folder that contains data/mnist")
    path = pathlib.Path(zoo) / "data" / "mnist" / name
    if not path.is_file():
        sys.exit(f"'{path}' is missing: the folder TERN_ZOO must contain MNIST's t10k files in data/mnist")
    raw = gzip.decompress(path.read_bytes())
    if int.from_bytes(raw[:4], "big") != magic or len(raw) != header + np.prod(shape):
        sys.exit(f"'{path}' is not the expected idx file of shape {shape}")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)


def load():
    """Returns (images u8[10000,28,28], labels u8[10000]) in file order."""
    images = _read("t10k-images-idx3-ubyte.gz", 0x803, 16, (COUNT, 28, 28))
    labels = _read("t10k-labels-idx1-ubyte.gz", 0x801, 8, (COUNT,))
    return images, labels


def held_out_mask():
    """Returns booleans [10000]. Exactly 1,500 of them are True, spread evenly over the file.

    7919 is coprime with 10,000, so i * 7919 mod 10,000 is a permutation. Any language can compute it, whereas the
    result of a library's shuffle may change between versions.
    """
    return np.arange(COUNT) * 7919 % COUNT < HELD_OUT


def to_input(images):
    """Returns the pixels as the model's input: f32[N,1,28,28] from 0 (background) to 1 (ink)."""
    return images[:, None].astype(np.float32) / 255
