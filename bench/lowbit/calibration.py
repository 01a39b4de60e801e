"""Inputs with which the networks of the zoo are calibrated. They are drawn like the inputs of the measurement, with other seeds."""

import zlib

import numpy as np

SAMPLES = 16


def is_text(entry):
    return any(spec["kind"] == "ids" for spec in entry["inputs"])


def draw(spec, sample):
    generator = np.random.default_rng(zlib.crc32(f"{spec['name']} {sample}".encode()))
    if spec["kind"] == "ids":
        return generator.integers(0, spec["high"], spec["dims"]).astype(spec["dtype"])
    if spec["kind"] == "ones":
        return np.ones(spec["dims"], spec["dtype"])
    return generator.standard_normal(spec["dims"]).astype(spec["dtype"])


def samples(entry):
    """Yields a dict of arrays for each sample."""
    for sample in range(SAMPLES):
        yield {spec["name"]: draw(spec, sample) for spec in entry["inputs"]}


def store(entry, path):
    """Writes all samples to an .npz file. The networks have batch size 1, so each row of an array is a sample."""
    drawn = list(samples(entry))
    np.savez(path, **{name: np.concatenate([sample[name] for sample in drawn]) for name in drawn[0]})
