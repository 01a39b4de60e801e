"""Lists published models with their files and the sizes of their open dims."""

import pathlib

import onnx
from onnx import helper

MODELS = {
    "super_resolution_10": ("super_resolution_10.onnx", {"batch_size": 1}),
    "mobilenetv2-7": ("mobilenetv2-7_fp32.onnx", {}),
    "squeezenet1.1_onnx": ("squeezenet1.1_fp32.onnx", {}),
    "magika_v3_3": ("magika_v3_3.onnx", {"unk__214": 1}),
    "ultraface_RFB-320": ("ultraface_RFB-320.onnx", {}),
    "nsnet2": ("nsnet2.onnx", {"batch": 1, "frames": 1}),
    "dtln_model_2": ("dtln_model_2.onnx", {}),
}


def _describe(value, sizes):
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
    dims = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
    symbols = {str(axis): d.dim_param for axis, d in enumerate(tensor.shape.dim) if d.dim_param}
    kind = "normal" if dtype.startswith("float") else "ids"
    return {"name": value.name, "dtype": dtype, "dims": dims, "symbols": symbols, "kind": kind, "high": 256}


def entry(folder, name):
    """Returns the entry of a model for the zoo's index, or None if its file is not in `folder`."""
    file, sizes = MODELS[name]
    path = pathlib.Path(folder) / file
    if not path.exists():
        return None
    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [_describe(value, sizes) for value in graph.input if value.name not in weights]
    return {"file": str(path.resolve()), "inputs": inputs, "outputs": [value.name for value in graph.output]}
