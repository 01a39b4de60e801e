"""Describes the machine on which engines are compared, and measures its peaks."""

import importlib.metadata
import json
import pathlib
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


def name_of(engine, tern):
    """Returns the engine's name and version. The version of Tern is the modification time of the binary."""
    return f"{engine} {versions([engine])[engine] if engine in PACKAGES else pathlib.Path(tern).stat().st_mtime_ns}"


def peaks(tern, precision, threads):
    """Measures two loops on one thread and on several threads. The loop of multiply-adds gives GFLOP/s, and the loop that
    only reads memory gives GB/s. "peak_threads" is the number of threads used, which is at most the number of cores. A
    figure is None if it cannot be measured."""
    found = _doctor(tern, "--peak", "--threads", str(threads))
    rates = {key: found.get(key, {}).get(precision) for key in ("peak_gflops", "peak_gflops_threads")}
    return {**rates, **{key: found.get(key) for key in ("read_gb_per_s", "read_gb_per_s_threads", "peak_threads")}}


def best(measured):
    """Returns the maximum of each figure over all measurements."""
    return {key: max((found[key] for found in measured if found[key]), default=None) for key in measured[0]}
