"""ncnn on the CPU, with 32-bit floats, or bf16 where the processor multiplies it; from a model converted once and kept in the cache.

Not called ncnn: child.py's folder comes first where Python looks for modules.
"""

import json
import pathlib
import re

import ncnn
import numpy as np

from engines.ncnn_files import converted

ROUNDING = ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic",
            "use_int8_inference", "use_int8_packed", "use_int8_storage", "use_int8_arithmetic")


def prepare(job):
    """What is done once per model and counts towards no time."""
    if job.precision == "bf16" and not re.search(r"\b(avx512_bf16|bf16)\b", pathlib.Path("/proc/cpuinfo").read_text()):
        raise RuntimeError("ncnn has bf16 products only where the processor has them; here it would only store bf16")
    converted(job)


def _set_options(options, job):
    """All else as it is by default: Winograd, products of matrices and packed channels are on."""
    options.num_threads = job.threads
    options.use_vulkan_compute = False
    for name in ROUNDING:
        setattr(options, name, False)
    options.use_bf16_storage = options.use_bf16_packed = job.precision == "bf16"


def _loaded(job, folder):
    net = ncnn.Net()
    _set_options(net.opt, job)
    param = folder / "model.ncnn.param"
    if net.load_param(str(param)) != 0:
        kinds = dict.fromkeys(line.split()[0] for line in param.read_text().splitlines()[2:])
        unknown = [kind for kind in kinds if ncnn.layer_to_index(kind) < 0]
        raise RuntimeError(f"ncnn has no layer {', '.join(unknown)}" if unknown else "ncnn does not read what pnnx made")
    if net.load_model(str(folder / "model.ncnn.bin")) != 0:
        raise RuntimeError("ncnn does not read the weights that pnnx wrote")
    return net


def _mat(value, batch_axis):
    value = value.astype(np.int32) if value.dtype == np.int64 else value
    return ncnn.Mat(value, batch_index=batch_axis).clone()  # a copy of its own, aligned


def _array(mat, batch_axis, dims):
    value = mat.numpy(batch_index=batch_axis)
    return np.array(value if dims is None else value.reshape(dims))


def load(job):
    ncnn.set_cpu_powersave(0)
    folder = converted(job)
    layout = json.loads((folder / "layout.json").read_text())
    net = _loaded(job, folder)
    at = dict(zip([*net.input_names(), *net.output_names()], [*net.input_indexes(), *net.output_indexes()]))
    inputs = [(at[f"in{i}"], _mat(value, layout["inputs"][i])) for i, value in enumerate(job.inputs.values())]
    outputs = [at[f"out{i}"] for i in range(len(job.outputs))]
    last = []

    def run():
        extractor = net.create_extractor()  # for one run: it keeps what it has computed
        for index, mat in inputs:
            extractor.input(index, mat)
        found = [extractor.extract(index) for index in outputs]
        if any(status != 0 for status, _ in found):
            raise RuntimeError("ncnn fails to run the model")
        last[:] = [mat for _, mat in found]

    return run, lambda: [_array(mat, *where) for mat, where in zip(last, layout["outputs"])]
