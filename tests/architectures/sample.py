#!/usr/bin/env python3
"""Copies a few exported models into tests/data/architectures and removes metadata of the exporter from them.

The dynamo exporter stores stack traces. They contain paths of the exporting machine, which must not be checked in.
"""

import argparse
import shutil
import sys
from pathlib import Path

import numpy
import onnx
import onnxruntime

from histogram import graphs

SAMPLE = (
    "bert.dynamo.static",
    "gpt2.torchscript.dynamic",
    "llama.dynamo.dynamic",
    "t5.dynamo.static",
    "vit.torchscript.dynamic",
    "swin.dynamo.static",
    "mobilevit.dynamo.static",
    "wav2vec2.torchscript.dynamic",
)
DESTINATION = Path(__file__).resolve().parents[1] / "data" / "architectures"
LIMIT = 200 * 1024
PRIVATE = (b"site-packages", b"/home/", b"/root/", b"/tmp/", b".py")


def bare(message):
    for field in ("doc_string", "metadata_props"):
        if field in message.DESCRIPTOR.fields_by_name:
            message.ClearField(field)


def strip(model):
    bare(model)
    for body in [*graphs(model.graph), *model.functions]:
        bare(body)
        values = [] if isinstance(body, onnx.FunctionProto) else [*body.initializer, *body.input, *body.output]
        for message in [*body.node, *body.value_info, *values]:
            bare(message)


def check(folder):
    """Asserts that the stripped model still computes the stored results, is small, and contains no path. Returns its
    size."""
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    assert size <= LIMIT, f"{folder.name} takes {size} bytes"
    content = (folder / "model.onnx").read_bytes()
    assert not [p for p in PRIVATE if p in content], f"{folder.name} names a path"
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    feeds = {v.name: numpy.load(folder / f"input_{k}.npy") for k, v in enumerate(session.get_inputs())}
    for k, result in enumerate(session.run(None, feeds)):
        numpy.testing.assert_allclose(result, numpy.load(folder / f"output_{k}.npy"), rtol=1e-4, atol=1e-5)
    return size


def copy(source, name):
    folder = DESTINATION / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source / name, folder)
    model = onnx.load(folder / "model.onnx")
    strip(model)
    onnx.save(model, folder / "model.onnx")
    print(f"{folder.name}: {check(folder)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="folder that export.py filled")
    options = parser.parse_args()
    for name in SAMPLE:
        copy(options.models, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
