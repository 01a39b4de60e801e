"""Runs a model in onnxruntime and in tern on the same inputs. A tensor is returned as an array, a sequence as a list,
and a map as a dict."""

import json
import subprocess

import numpy as np


def by_onnxruntime(path, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def write_input(path, x):
    """Writes strings to a JSON file and numbers to a .npy file. Returns its path."""
    if x.dtype.kind == "f" or x.dtype.kind == "i":
        np.save(path.with_suffix(".npy"), x)
        return path.with_suffix(".npy")
    path = path.with_suffix(".json")
    path.write_text(json.dumps({"shape": list(x.shape), "data": x.reshape(-1).tolist()}))
    return path


def read(value):
    """Converts a value in tern's JSON output to an array, list or dict."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if "type" not in value:
        return {key: read(item) for key, item in value.items()}
    text = value["type"] == "string"
    flat = np.array(value["data"], dtype=object).reshape(value["shape"]) if text else np.array(value["data"])
    if value["type"] in ("f32", "f64"):
        flat = np.array(value["data"], dtype=np.float64)
    return flat.reshape(value["shape"])


def by_tern(tern, path, feeds, folder, limit, options=()):
    """Returns the results by name. Raises RuntimeError with tern's message if tern fails."""
    command = [str(tern), "run", str(path), "--threads", "1", "--format", "json", "--output-dir", str(folder / "out"), *options]
    for name, x in feeds.items():
        command += ["--input", f"{name}={write_input(folder / name, x)}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"tern did not exit within {limit} s") from None
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()}")
    return {file.stem: read(json.loads(file.read_text())) for file in (folder / "out").iterdir()}
