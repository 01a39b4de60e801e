#!/usr/bin/env python3
"""Measures functions of tern::np beside numpy, on small and large arrays. Build the target tern_np_driver first.

Prints microseconds of processor time per call, over all threads; numpy's include the call from Python."""

import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/np"))
from probe import Probe  # noqa: E402

RANDOM = np.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


CASES = [
    ("add f32[10]", "add", (floats(10), floats(10)), np.add),
    ("add f32[1000000]", "add", (floats(1_000_000), floats(1_000_000)), np.add),
    ("add f32[1000,1000] and [1000]", "add", (floats(1000, 1000), floats(1000)), np.add),
    ("exp f32[1000000]", "exp", (floats(1_000_000),), np.exp),
    ("tanh f64[1000000]", "tanh", (floats(1_000_000).astype(np.float64),), np.tanh),
    ("sum f32[1000,1000] axis 0", "sum", (floats(1000, 1000), 0, 0), lambda a, axis, _: a.sum(axis)),
    ("mean f32[1000,1000] axis 1", "mean", (floats(1000, 1000), 1, 0), lambda a, axis, _: a.mean(axis)),
    ("transpose f32[1000,1000]", "transpose", (floats(1000, 1000), ()), lambda a, _: a.T.copy()),
    ("matmul f32[512,512]", "matmul", (floats(512, 512), floats(512, 512)), np.matmul),
    ("matmul f32[4,4]", "matmul", (floats(4, 4), floats(4, 4)), np.matmul),
    ("sort f32[100000]", "sort", (floats(100_000), -1), lambda a, axis: np.sort(a)),
    ("mask f32[1000000]", "index", (floats(1_000_000), RANDOM.random(1_000_000) < 0.5), lambda a, mask: a[mask]),
    ("solve f64[200,200]", "solve", (RANDOM.random((200, 200)), RANDOM.random(200)), np.linalg.solve),
]


def by_numpy(function, arguments):
    best, repeat = float("inf"), 1
    while repeat < 1 << 20:
        start = time.process_time()
        for _ in range(repeat):
            function(*arguments)
        taken = time.process_time() - start
        best = min(best, taken / repeat)
        if taken > 0.2:
            break
        repeat *= 4
    return 1e6 * best


def by_tern(probe, name, arguments):
    best, repeat = float("inf"), 1
    while repeat < 1 << 20:
        probe(name, *arguments, repeat=repeat)
        best = min(best, probe.nanoseconds)
        if probe.nanoseconds * repeat > 2e8:
            break
        repeat *= 4
    return best / 1e3


def main():
    probe = Probe()
    for title, name, arguments, function in CASES:
        ours, theirs = by_tern(probe, name, arguments), by_numpy(function, arguments)
        print(f"{title:32} tern {ours:10.2f}   numpy {theirs:10.2f}   numpy / tern {theirs / ours:6.2f}", flush=True)
    probe.close()


if __name__ == "__main__":
    main()
