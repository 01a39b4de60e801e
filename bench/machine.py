"""What the comparison ran on."""

import importlib.metadata
import json
import platform
import subprocess

PACKAGES = {"ort": "onnxruntime", "openvino": "openvino", "mnn": "MNN", "torch": "torch"}


def _doctor(tern, *options):
    done = subprocess.run([tern, "doctor", "--json", *options], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {}


def describe(tern):
    found = _doctor(tern)
    return {"cpu": found.get("cpu", ""), "isa": found.get("isa", ""), "cores": found.get("cores", 0), "system": platform.system(),
            "tern": found.get("version", "")}


def versions(peers):
    return {peer: importlib.metadata.version(PACKAGES[peer]) for peer in peers}


def peak(tern, precision):
    """GFLOP/s that one core reaches right now in a loop of nothing but multiply-adds; None where it cannot be
    measured."""
    return _doctor(tern, "--peak").get("peak_gflops", {}).get(precision)
