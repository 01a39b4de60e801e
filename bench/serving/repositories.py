"""Writes model repositories in Triton's layout."""

import os
import pathlib
import shutil

IDENTITY = """name: "{name}"
backend: "{backend}"
max_batch_size: 0
input [ {{ name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }} ]
output [ {{ name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }} ]
instance_group [ {{ kind: KIND_CPU count: {instances} }} ]
"""

# The model extends sys.path itself, because the stub of Triton's python back end ignores PYTHONPATH.
PYTHON_IDENTITY = """import sys

sys.path.insert(0, "{site}")
import triton_python_backend_utils as utils


class TritonPythonModel:
    def execute(self, requests):
        return [utils.InferenceResponse([utils.Tensor("OUTPUT0", utils.get_input_tensor_by_name(request, "INPUT0").as_numpy())])
                for request in requests]
"""


def _model(root, name, config):
    version = pathlib.Path(root) / name / "1"
    version.mkdir(parents=True)
    (version.parent / "config.pbtxt").write_text(config)
    return version


def tern_identity(root, extra="", name="identity", instances=2):
    """Writes a model that Tern's sample plug-in `identity` executes. `extra` is added to config.pbtxt."""
    _model(root, name, IDENTITY.format(name=name, backend="identity", instances=instances) + extra)


def tern_plug_in(root, name, config=""):
    """Writes the model `name` for Tern's sample plug-in of the same name."""
    _model(root, name, f'name: "{name}"\nbackend: "{name}"\n{config}')


def triton_identity(root, site):
    """Writes the models `identity` and `cached` for Triton's python back end. `cached` also uses Triton's response cache. `site` is a
    folder of Python packages with numpy < 2."""
    for name, extra in (("identity", ""), ("cached", "response_cache { enable: true }\n")):
        version = _model(root, name, IDENTITY.format(name=name, backend="python", instances=1) + extra)
        (version / "model.py").write_text(PYTHON_IDENTITY.format(site=site))


def onnx_model(root, name, file, config):
    """Adds an ONNX file to the repository as the model `name`. Makes a hard link, or a copy if that fails. A symbolic link is not
    possible, because Tern refuses links that leave the model's folder."""
    version = _model(root, name, f'name: "{name}"\n{config}')
    try:
        os.link(pathlib.Path(file).resolve(), version / "model.onnx")
    except OSError:
        shutil.copy(file, version / "model.onnx")
