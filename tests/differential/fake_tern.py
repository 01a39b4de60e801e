#!/usr/bin/env python3
"""Imitates Tern's command line with onnxruntime, to test the fuzzer itself.

The environment variable FAKE_TERN_FAULT (value, shape, type, refuse or crash) injects a fault into every answer."""

import argparse
import os
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fuzz import compare, ort_engine  # noqa: E402
from fuzz.case import Check  # noqa: E402
from fuzz.tern_engine import file_stem  # noqa: E402

FAULT = os.environ.get("FAKE_TERN_FAULT", "")


def spoil(outputs):
    """Returns the outputs with the fault of FAKE_TERN_FAULT. Only non-empty tensors of numpy's own numeric types are
    changed."""
    def change(a):
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "biuf" or not a.size:
            return a
        if FAULT == "value":
            return ~a if a.dtype.kind == "b" else a + a.dtype.type(3)
        if FAULT == "shape":
            return a[None]
        return a.astype(np.float32 if a.dtype != np.float32 else np.float64)
    return [change(a) for a in outputs] if FAULT in ("value", "shape", "type") else outputs


def session_run(path, feeds):
    session = ort_engine.open_session(onnx.load(path))
    return [o.name for o in session.get_outputs()], spoil(session.run(None, feeds))


def run(options):
    pairs = [text.split("=", 1) for text in options.input]
    names, outputs = session_run(options.model, {name: np.load(path) for name, path in pairs})
    folder = pathlib.Path(options.output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in zip(names, outputs):
        np.save(folder / f"{file_stem(name)}.npy", value)
    return 0


def read_value(path, kind):
    """Reads a data file. `kind` is the value's type in the model. It selects the message to parse, because the file
    does not name its message."""
    data = path.read_bytes()
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    array = numpy_helper.to_array(onnx.TensorProto.FromString(data))
    if array.dtype.kind not in "biufOUS":
        sys.exit("fake_tern.py cannot feed types that onnxruntime's Python binding does not support")
    return array.astype(object) if array.dtype.kind in "OUS" else array


def verify(options):
    graph = onnx.load(options.model).graph
    folder = pathlib.Path(options.data)
    constants = {t.name for t in graph.initializer}
    inputs = [i for i in graph.input if i.name not in constants]
    try:
        feeds = {v.name: read_value(folder / f"input_{k}.pb", v.type.WhichOneof("value")) for k, v in enumerate(inputs)}
        want = [read_value(folder / f"output_{k}.pb", v.type.WhichOneof("value")) for k, v in enumerate(graph.output)]
    except SystemExit as refusal:
        print(refusal, file=sys.stderr)
        return 2
    _, got = session_run(options.model, feeds)
    message = compare.outputs_differ(want, got, Check(rtol=options.rtol, atol=options.atol))
    print(message or "match", file=sys.stderr)
    return 1 if message else 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("model")
    one.add_argument("--input", action="append", default=[])
    one.add_argument("--output-dir")
    two = commands.add_parser("verify")
    two.add_argument("model")
    two.add_argument("--data")
    two.add_argument("--rtol", type=float, default=1e-3)
    two.add_argument("--atol", type=float, default=1e-5)
    options = parser.parse_args()
    if FAULT == "refuse":
        print("unsupported: everything", file=sys.stderr)
        return 2
    if FAULT == "crash":
        os.abort()
    return run(options) if options.command == "run" else verify(options)


if __name__ == "__main__":
    sys.exit(main())
