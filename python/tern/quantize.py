"""tern.quantize."""

import json
import os
import pathlib
import tempfile

from .errors import InvalidArgument, ModelNotFound
from .models import path_of


def _archive(arrays, folder):
    """Writes arrays with the samples along the first axis. Returns the path of the .npz file."""
    import numpy as np

    path = pathlib.Path(folder, "samples.npz")
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})
    return path


def quantize(model, output, calib=None, *, threads=0, model_weights="", method="mse", percentile=99.99, samples=0, preprocess="imagenet", bits=8,
             symmetric=False, per_tensor=False, adaround=True, bias_correction=True, equalize=False, keep_float=(), min_sqnr=0.0, fastest=False, layers=False,
             sensitivity=False, weights="", block=-1, weight_method="nearest", dynamic=False, external_data=False):
    """Writes a copy of a model with integer weights and, after calibration, integer activations. Returns the report as a dict.

    `model` is a path, `output` a path that ends in .tern or .onnx. `calib` is a folder of pictures or arrays, an .npz file, or a
    dict from the names of inputs to arrays with the samples along their first axis. `weights` ("int8" or "int4", with `block` and
    `weight_method`) and `dynamic` need no calibration data, unless `weight_method` is "gptq", "awq" or "adaround". The options are those of
    `tern quantize` (docs/guide/quantization.md, docs/guide/weight_only.md).

    `model_weights` is the file with the weights, for formats that keep them in a file of their own, such as Caffe's. The GIL is released.

    >>> import numpy as np, os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> images = np.random.default_rng(0).random((8, 1, 28, 28), np.float32)
    >>> report = tern.quantize(digits, os.path.join(folder, "int8.tern"), {"image": images}, method="minmax")
    >>> report["bytes"]["after"] < report["bytes"]["before"]
    True
    """
    from . import _quantize  # not at the top, because it loads the libraries of pictures

    path = path_of(model)
    if not os.path.exists(path):
        raise ModelNotFound(f"there is no model '{path}'")
    settings = _quantize.Options()
    options = {"method": method, "percentile": percentile, "samples": samples, "preprocess": os.fspath(preprocess), "bits": bits, "symmetric": symmetric,
               "per_tensor": per_tensor, "adaround": adaround, "bias_correction": bias_correction, "equalize": equalize, "keep_float": list(keep_float),
               "min_sqnr": min_sqnr, "fastest": fastest, "layers": layers, "sensitivity": sensitivity, "weights": weights, "block": block,
               "weight_method": weight_method, "dynamic": dynamic, "external_data": external_data}
    for name, value in options.items():
        try:
            setattr(settings, name, value)
        except TypeError:
            raise InvalidArgument(f"option '{name}' cannot be {value!r}") from None
    with tempfile.TemporaryDirectory() as folder:
        if calib is not None:
            settings.calib = os.fspath(_archive(calib, folder) if hasattr(calib, "items") else calib)
        return json.loads(_quantize.quantize(path, os.fspath(output), settings, os.fspath(model_weights), threads))
