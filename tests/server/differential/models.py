"""Writes the same models for both servers. They differ only in the back end in config.pbtxt, and in the file model.py,
which only Triton needs."""

import dataclasses

TYPES = ("BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 BYTES BF16").split()

# The model for Triton's python back end. OUTPUTi is a copy of INPUTi. BF16 is copied with DLPack, because numpy does
# not support it. The process that runs the model ignores PYTHONPATH, so that DIFFERENTIAL_NUMPY names the folder of
# numpy.
MODEL_PY = '''
import os
import sys
import time

sys.path.insert(0, os.environ["DIFFERENTIAL_NUMPY"])
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def initialize(self, args):
        import json
        config = json.loads(args["model_config"])
        self.types = {i["name"]: i["data_type"] for i in config["input"]}
        self.names = [(i["name"], o["name"]) for i, o in zip(config["input"], config["output"])]
        parameter = config.get("parameters", {}).get("execute_delay_ms", {})
        self.delay = int(parameter.get("string_value", "0")) / 1000

    def execute(self, requests):
        if self.delay:
            time.sleep(self.delay)
        return [self.answer(request) for request in requests]

    def answer(self, request):
        wanted, outputs = request.requested_output_names(), []
        for source, target in self.names:
            tensor = pb_utils.get_input_tensor_by_name(request, source)
            if tensor is None or target not in wanted:
                continue
            if self.types[source] == "TYPE_BF16":
                outputs.append(pb_utils.Tensor.from_dlpack(target, tensor.to_dlpack()))
            else:
                outputs.append(pb_utils.Tensor(target, tensor.as_numpy()))
        return pb_utils.InferenceResponse(outputs)
'''


@dataclasses.dataclass
class Model:
    """A model whose outputs equal its inputs. Each element (suffix, type, dims) of `tensors` is an input INPUT<suffix>
    and an output OUTPUT<suffix>."""
    name: str
    tensors: list
    max_batch: int = 0
    versions: tuple = (1,)
    optional: bool = False
    labels: str = ""
    extra: str = ""

    def config(self, backend):
        lines = [f'name: "{self.name}"', f'backend: "{backend}"', f"max_batch_size: {self.max_batch}"]
        for kind, side in (("input", "INPUT"), ("output", "OUTPUT")):
            for suffix, datatype, dims in self.tensors:
                more = " optional: true" if self.optional and kind == "input" else ""
                more += ' label_filename: "labels.txt"' if self.labels and kind == "output" else ""
                enum = "TYPE_STRING" if datatype == "BYTES" else f"TYPE_{datatype}"
                lines.append(f'{kind} {{ name: "{side}{suffix}" data_type: {enum} dims: {dims}{more} }}')
        return "\n".join(lines + ["instance_group { count: 1 kind: KIND_CPU }", self.extra, ""])

    def write(self, folder, backend):
        for version in self.versions:
            (folder / self.name / str(version)).mkdir(parents=True)
            if backend == "python":
                (folder / self.name / str(version) / "model.py").write_text(MODEL_PY)
        (folder / self.name / "config.pbtxt").write_text(self.config(backend))
        if self.labels:
            (folder / self.name / "labels.txt").write_text(self.labels)


MODELS = [
    Model("plain", [("0", "FP32", [-1])]),
    Model("pair", [("0", "INT32", [4]), ("1", "FP32", [-1, 2])]),
    Model("types", [(f"_{t}", t, [-1]) for t in TYPES], optional=True),
    Model("batch", [("0", "INT32", [4]), ("1", "BYTES", [2])], max_batch=8,
          extra="dynamic_batching { max_queue_delay_microseconds: 1000 }"),
    Model("labels", [("0", "FP32", [4])], max_batch=4, labels="ant\nbee\ncat\n"),
    Model("queue", [("0", "FP32", [1])], max_batch=2, extra='parameters { key: "execute_delay_ms" value { string_value: "200" } }\n'
          "dynamic_batching { priority_levels: 3 default_priority_level: 2 default_queue_policy { allow_timeout_override: true } }"),
    Model("versions", [("0", "INT64", [2])], versions=(1, 2, 3), extra="version_policy { specific { versions: [1, 3] } }"),
    Model("spare", [("0", "FP32", [1])]),
]
LOADED = [model.name for model in MODELS if model.name != "spare"]


def write_models(folder, backend):
    """Writes all models to the folder and returns the folder. The folder must not exist before."""
    for model in MODELS:
        model.write(folder, backend)
    return folder
