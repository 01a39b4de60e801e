"""A model as ncnn wants it: converted once by pnnx, for the dims it is run with, and kept in the cache. Needs neither of them to be imported."""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

KINDS = {"float32": "f32", "int64": "i64", "int32": "i32"}  # of inputs, in pnnx's words


def pnnx():
    """The converter's program and version. Its Python package would import torch."""
    return pathlib.Path(importlib.util.find_spec("pnnx").origin).parent / "pnnx", importlib.metadata.version("pnnx")


def layout(script, graph):
    """How tensors become the converted model's: of each input the axis that is its batch, which ncnn keeps apart (a large number:
    none); of each output that axis, and all dims (None where they are open).

    script: the example that pnnx writes; graph: its own form of the model, the only one that has the dims of outputs.
    """
    dims = dict(re.findall(r"^pnnx\.Output +(\w+) .*#\w+=\(([\d,]*)\)", graph, re.MULTILINE))
    outputs = re.findall(r"(out\d+)\.numpy\(batch_index=(\d+)\)", script)
    return {"inputs": [int(axis) for axis in re.findall(r"in\d+\.numpy\(\), batch_index=(\d+)\)", script)],
            "outputs": [[int(axis), [int(d) for d in dims[name].split(",") if d] if name in dims else None] for name, axis in outputs]}


def convert(source, inputs, folder, program):
    """Writes model.ncnn.param, model.ncnn.bin and layout.json into the folder. fp16=0: weights stay f32 in the file."""
    (folder / "model.onnx").symlink_to(source)  # pnnx writes beside what it reads
    dims = ",".join(f"[{','.join(map(str, value.shape))}]{KINDS[value.dtype.name]}" for value in inputs.values())
    done = subprocess.run([program, "model.onnx", f"inputshape={dims}", "fp16=0"], cwd=folder, stdout=sys.stderr, check=False)
    if done.returncode != 0 or not (folder / "model.ncnn.bin").exists():
        how = f"killed by {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"exit status {done.returncode}"
        raise RuntimeError(f"pnnx refuses the model: {how}")
    found = layout((folder / "model_ncnn.py").read_text(), (folder / "model.pnnx.param").read_text())
    (folder / "layout.json").write_text(json.dumps(found))
    for path in folder.iterdir():
        if path.name not in ("model.ncnn.param", "model.ncnn.bin", "layout.json"):
            path.unlink()


def converted(job, program=None, version=None):
    """The folder with the converted model, made where it is not there yet or older than the model."""
    if program is None:
        program, version = pnnx()
    source = pathlib.Path(job.model).resolve()
    dims = "_".join("x".join(map(str, value.shape)) for value in job.inputs.values())
    target = pathlib.Path(job.cache) / "ncnn" / f"{source.stem}-{dims}-{version}"
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return target
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        fresh = pathlib.Path(folder) / "fresh"
        fresh.mkdir()
        convert(source, job.inputs, fresh, program)
        shutil.rmtree(target, ignore_errors=True)
        os.replace(fresh, target)
    return target
