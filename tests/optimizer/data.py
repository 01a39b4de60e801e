"""Finds the models of the comparison and their inputs."""

import hashlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
from onnx import helper, numpy_helper

TESTS = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-5
# Larger tolerances for models whose layers round to int8 or float16. The order of a sum decides how an activation near
# a rounding boundary is rounded. onnxruntime's own optimizer changes the outputs of these models as much.
LOOSER = {"mobilenet_v2_int8_qdq": 0.06, "mobilenetv2-7_fp16": 2e-3}
OPEN_DIM = 2  # size of an open dim


def _zoo_tables():
    """Returns tests/zoo/run.py as a module. It has the settings of the published models: dims, inputs, tolerances."""
    spec = importlib.util.spec_from_file_location("zoo_run", TESTS / "zoo" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ZOO = _zoo_tables()


@dataclass(frozen=True)
class Model:
    name: str
    path: Path
    published: bool  # whether it is a model of the zoo; its inputs are random if none are stored

    @property
    def sha(self):
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @property
    def tolerance(self):
        return LOOSER.get(self.name, TOLERANCE) if self.published else TOLERANCE

    @property
    def invalid(self):
        """Returns whether the file violates ONNX, so that every engine must refuse it."""
        return self.published and self.name in ZOO.INVALID


def models(folder, zoo):
    """Returns the exported architectures in `folder`, then the published models in `zoo`. `folder` and `zoo` may be
    None."""
    found = [Model(p.parent.name, p, False) for p in sorted(folder.glob("*/model.onnx"))] if folder else []
    for path in sorted(Path(zoo, "models").rglob("*.onnx")) if zoo else []:
        found.append(Model(path.stem if path.stem != "model" else path.parent.name, path, True))
    return found


def declare(parser):
    """Declares the options for the tern binary and the models."""
    parser.add_argument("--tern", default=os.environ.get("TERN_BIN", "build/release/bin/tern"))
    parser.add_argument("--models", type=Path, help="folder that tests/architectures/export.py filled")
    parser.add_argument("--no-zoo", action="store_true", help="do not use the models under $TERN_ZOO/models")
    parser.add_argument("--only", default="", help="use only the models whose names match this regular expression")


def chosen(options):
    """Returns the models that the options select. Exits if there are none."""
    zoo = None if options.no_zoo else os.environ.get("TERN_ZOO")
    found = [m for m in models(options.models, zoo) if re.search(options.only, m.name)]
    if not found:
        print("no model: neither in --models nor under $TERN_ZOO/models", file=sys.stderr)
        sys.exit(2)
    return found


def inputs(model):
    """Returns the ValueInfos of the inputs that a caller must feed."""
    graph = onnx.load(model.path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    return [i for i in graph.input if i.name not in constants]


def _numbered(folder):
    return sorted(folder.glob("input_*.npy"), key=lambda f: int(f.stem.split("_")[1]))


def _stored(model, names):
    """Returns the inputs that are stored in the folder of the model: one dict per data set."""
    if not model.published:
        return [dict(zip(names, map(numpy.load, _numbered(folder)), strict=True))
                for folder in [model.path.parent, *sorted(model.path.parent.glob("data_*"))]]
    archive = model.path.parent / "io.npz"
    if archive.exists():
        arrays = numpy.load(archive)
        return [{name: arrays[name] for name in names}]
    vectors = [numpy_helper.to_array(onnx.load_tensor(file))
               for file in sorted(model.path.parent.glob(model.path.stem + ".input_*.pb"))]
    folder = model.path.with_suffix(".test")
    vectors = vectors or [numpy.load(file) for file in _numbered(folder)]
    return [dict(zip(names, vectors))] if len(vectors) == len(names) else []


def _random(value, dims, generator):
    tensor = value.type.tensor_type
    shape = [d.dim_value if d.dim_value > 0 else dims.get(d.dim_param, OPEN_DIM) for d in tensor.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype.kind == "f":
        return generator.uniform(-1, 1, shape).astype(dtype)
    return generator.integers(0, 2, shape).astype(dtype)


def feeds(model):
    """Returns one dict from input name to array per data set. There is at least one data set."""
    if model.published and model.name in ZOO.FIXED_INPUTS:
        return [ZOO.FIXED_INPUTS[model.name]]
    values = inputs(model)
    found = _stored(model, [v.name for v in values])
    if found:
        return found
    dims = ZOO.SHAPES.get(model.name, {}).get("dims", {}) if model.published else {}
    generator = numpy.random.default_rng(1)
    return [{v.name: _random(v, dims, generator) for v in values}]
