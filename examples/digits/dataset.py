"""MNIST's 10,000-image test file, and how this example splits it."""

import gzip
import os
import pathlib
import sys

import numpy as np

COUNT, HELD_OUT = 10_000, 1_500


def _read(name, magic, header, shape):
    zoo = os.environ.get("TERN_ZOO")
    if not zoo:
        sys.exit("TERN_ZOO is not set: point it at the folder that holds data/mnist")
    path = pathlib.Path(zoo) / "data" / "mnist" / name
    if not path.is_file():
        sys.exit(f"missing '{path}': TERN_ZOO must hold MNIST's t10k files under data/mnist")
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
    """True for exactly 1,500 indices, spread evenly over the file.

    7919 is coprime with 10,000, so i * 7919 mod 10,000 is a permutation: arithmetic that any language repeats,
    where a library's shuffle may change between versions.
    """
    return np.arange(COUNT) * 7919 % COUNT < HELD_OUT


def to_input(images):
    """Pixels as the model takes them: f32[N,1,28,28], 0 background to 1 ink."""
    return images[:, None].astype(np.float32) / 255
