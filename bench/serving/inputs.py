"""Writes random inputs of a model as .npy files, for `tern load --input`."""

import json
import pathlib
import urllib.request

import numpy as np

TYPES = {"FP32": np.float32, "INT64": np.int64, "INT32": np.int32}


def write(server, model, folder, length):
    """Writes one file per input and returns the options `--input NAME=FILE`. `length` is the size of open dims. Integers are 0 or
    1, because these are valid token ids, masks and segment types."""
    with urllib.request.urlopen(f"http://{server.http}/v2/models/{model}", timeout=10) as answer:
        facts = json.load(answer)["inputs"]
    random, found = np.random.default_rng(0), []
    for each in facts:
        dims = [1] + [length if dim < 0 else dim for dim in each["shape"][1:]]
        values = random.standard_normal(dims) if each["datatype"] == "FP32" else random.integers(0, 2, dims)
        path = pathlib.Path(folder) / f"{each['name']}.npy"
        np.save(path, values.astype(TYPES[each["datatype"]]))
        found += ["--input", f"{each['name']}={path}"]
    return found
