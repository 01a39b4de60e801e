"""Inputs for a network of the zoo, the same for every engine."""

import zlib

import numpy as np


def dims_of(spec, sizes):
    """The dims of an input, with the sizes of symbols replaced by `sizes`."""
    return [sizes.get(spec["symbols"].get(str(axis)), size) for axis, size in enumerate(spec["dims"])]


def make(spec, sizes=None):
    """Generates one input from its description in the zoo's index; depends only on name and dims."""
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
    """The stem of the file that an engine writes an output to, as `tern run` chooses it."""
    return value.replace("/", "_").replace(":", "_")


def store(path, inputs):
    np.savez(path, **inputs)


def load(path):
    with np.load(path) as arrays:
        return {name: np.ascontiguousarray(arrays[name]) for name in arrays.files}
