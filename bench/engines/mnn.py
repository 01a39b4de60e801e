"""Runs MNN. Its precision is "high" for fp32 and "low_bf16" for bf16. The model is converted once and cached."""

import os
import pathlib
import subprocess
import sys
import tempfile

import MNN
import numpy as np

# Calls MNN's converter directly, because MNN's command `mnnconvert` would install a package that reports usage to its
# authors. The converter runs in a separate process, so that its memory is not counted. If it crashes, MNN counts as
# failed on this model.
CONVERT = "import _tools, sys; sys.exit(not _tools.mnnconvert(sys.argv))"


def converted(job):
    source = pathlib.Path(job.model)
    target = pathlib.Path(job.cache) / "mnn" / f"{source.stem}.mnn"
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return str(target)
    target.parent.mkdir(exist_ok=True)
    fresh = f"{target}.{os.getpid()}"
    command = [sys.executable, "-c", CONVERT, "-f", "ONNX", "--modelFile", str(source), "--MNNModel", fresh, "--bizCode", "bench"]
    with tempfile.TemporaryDirectory() as folder:  # the converter writes a file with a fixed name to its working folder
        done = subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
    if done.returncode != 0 or not os.path.exists(fresh):
        raise RuntimeError("MNN's converter refuses the model")
    os.replace(fresh, target)
    return str(target)


def prepare(job):
    """Converts the model. The caller does not measure the time of this function."""
    converted(job)


def _variable(value):
    value = value.astype(np.int32) if value.dtype == np.int64 else value
    kind = {"float32": MNN.expr.float, "int32": MNN.expr.int}[value.dtype.name]
    made = MNN.expr.placeholder(list(value.shape), MNN.expr.NCHW, kind)
    made.write(value)  # copies the array; MNN.expr.const would only refer to the array
    return made


def load(job):
    precision = {"fp32": "high", "bf16": "low_bf16"}[job.precision]
    runtime = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": precision, "numThread": job.threads},))
    module = MNN.nn.load_module_from_file(converted(job), list(job.inputs), list(job.outputs), runtime_manager=runtime)
    inputs = [_variable(value) for value in job.inputs.values()]
    last = []

    def run():
        last[:] = module.forward(inputs)
        last[0].read()  # forces the computation

    return run, lambda: [np.array(output.read()) for output in last]
