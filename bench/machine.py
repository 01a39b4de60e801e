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
    return {"cpu": found.get("cpu", ""), "simd": found.get("simd", ""), "bf16_products": found.get("bf16_products", False),
            "cores": found.get("cores", 0), "system": platform.system(), "tern": found.get("version", "")}


def versions(peers):
    return {peer: importlib.metadata.version(PACKAGES[peer]) for peer in peers}


def peaks(tern, precision, threads):
    """GFLOP/s that one thread, and that so many at once, reach right now in a loop of nothing but multiply-adds, and how many those
    were: Tern uses no more threads than there are cores. None where it cannot be measured."""
    found = _doctor(tern, "--peak", "--threads", str(threads))
    one, several = (found.get(key, {}).get(precision) for key in ("peak_gflops", "peak_gflops_threads"))
    return one, several, found.get("peak_threads")
