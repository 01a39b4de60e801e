"""Generates inputs for a network of the zoo. Every engine reads the same inputs."""

import zlib

import numpy as np


def dims_of(spec, sizes):
    """Returns the dims of an input. `sizes` maps symbols to sizes and overrides the default size of an open dim."""
    return [sizes.get(spec["symbols"].get(str(axis)), size) for axis, size in enumerate(spec["dims"])]


def make(spec, sizes=None):
    """Generates one input from its description in the zoo's index. The values depend only on the description and the
    dims."""
    dims = dims_of(spec, sizes or {})
    generator = np.random.default_rng(zlib.crc32(spec["name"].encode()))
    if spec["kind"] == "ids":
        return generator.integers(0, spec["high"], dims).astype(spec["dtype"])
    if spec["kind"] == "ones":
        return np.ones(dims, spec["dtype"])
    return generator.standard_normal(dims).astype(spec["dtype"])


def make_all(entry, sizes=None):
    return {spec["name"]: make(spec, sizes) for spec in entry["inputs"]}


def file_name(value):
    """Returns the stem of the .npy file of an output. `tern run` uses the same stem."""
    return value.replace("/", "_").replace(":", "_")


def store(path, inputs):
    np.savez(path, **inputs)


def load(path):
    with np.load(path) as arrays:
        return {name: np.ascontiguousarray(arrays[name]) for name in arrays.files}
