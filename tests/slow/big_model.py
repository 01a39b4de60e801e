#!/usr/bin/env python3
"""Tests a model with 3 GB of external data. Runs it, converts it to .tern and runs the .tern file. In each of these
commands, the peak resident memory must be at most 1.1 times the size of the weights.

    big_model.py --tern build/release/bin/tern [--gigabytes 3] [--width 8192]

A layer is a matrix of width x width floats, by default 256 MiB. While a layer is packed, its weights are in memory
twice. The factor 1.1 has room for one such layer. The test needs numpy and onnx from .venv, and twice the size of the
model on disk.
"""

import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

LIMIT = 1.1


def make_model(folder, layers, width):
    layer_bytes = width * width * 4
    rng = np.random.default_rng(0)
    nodes, weights = [], []
    with open(folder / "weights.bin", "wb") as data:
        for i in range(layers):
            block = rng.standard_normal((64, width), dtype=np.float32) / width**0.5
            for _ in range(width // 64):  # writes the same 64 random rows again, because new ones would take too long
                data.write(block.tobytes())
            w = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[width, width], data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "weights.bin"), ("offset", str(i * layer_bytes)), ("length", str(layer_bytes))):
                entry = w.external_data.add()
                entry.key, entry.value = key, value
            weights.append(w)
            nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
    shape = ["N", width]
    graph = helper.make_graph(nodes, "big", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(f"x{layers}", TensorProto.FLOAT, shape)], weights)
    path = folder / "big.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def run(name, command, size):
    """Runs a command. Prints its exit status and peak resident memory, and returns whether both are acceptable."""
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    peak = usage.ru_maxrss * 1024
    good = status == 0 and peak <= LIMIT * size
    print(f"{'PASS' if good else 'FAIL'} {name}: exit {os.waitstatus_to_exitcode(status)}, "
          f"peak {peak / 1e9:.2f} GB = {peak / size:.2f}x of {size / 1e9:.2f} GB", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tern", default=os.environ.get("TERN_BIN", "build/release/bin/tern"))
    parser.add_argument("--gigabytes", type=float, default=3)
    parser.add_argument("--width", type=int, default=8192, help="rows and columns of each matrix; a multiple of 64 (default: 8192)")
    options = parser.parse_args()
    layer_bytes = options.width * options.width * 4
    layers = max(1, math.ceil(options.gigabytes * 1e9 / layer_bytes))
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        model, size = make_model(folder, layers, options.width), layers * layer_bytes
        flags = ["--dim", "N=1", "--random", 1, "--output-dir", folder / "out"]
        good = [run("run from ONNX", [options.tern, "run", model, *flags], size),
                run("convert to .tern", [options.tern, "convert", model, "-o", folder / "big.tern"], size),
                run("run from .tern", [options.tern, "run", folder / "big.tern", *flags], size)]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed, 0 skipped")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
