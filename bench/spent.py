"""A model's time by kernel, from `tern profile`."""

import json
import subprocess

MOST, LEAST_SHARE = 4, 0.03  # maximum number of kernels listed, and the minimum share of time
BEYOND_CACHES = 64e6  # bytes of one step above which caches do not keep its data from run to run


def by_kernel(nodes):
    """Share of the time and percent of the roofline of each kernel, the longest first. Loop bodies are part of their loop."""
    nodes = [node for node in nodes if node["depth"] == 0]
    total = sum(node["ms"] for node in nodes)
    groups = {}
    for node in nodes:
        groups.setdefault(node["kernel"], []).append(node)
    found = []
    for kernel, members in groups.items():
        ms = sum(node["ms"] for node in members)
        counted = [node for node in members if node["percent_of_roof"] is not None]
        at_roof = sum(node["ms"] * node["percent_of_roof"] for node in counted) if len(counted) == len(members) else None
        found.append({"kernel": kernel, "share": ms / total if total else 0, "percent_of_roof": at_roof / ms if at_roof is not None and ms else None})
    return sorted(found, key=lambda group: -group["share"])


def waiting(profile):
    """Share of the time in memory-bound steps: their bytes exceed the caches and take longer than their multiply-adds."""
    def waits(node):
        peak = profile.get("peak_gflops_bf16", profile["peak_gflops"]) if node["kernel"].endswith(".bf16") else profile["peak_gflops"]
        by_bytes, by_flops = (node["bytes"] or 0) / profile["read_gb_per_s"], (node["flops"] or 0) / peak
        return (node["bytes"] or 0) >= BEYOND_CACHES and by_bytes > by_flops

    nodes = [node for node in profile["nodes"] if node["depth"] == 0]
    total = sum(node["ms"] for node in nodes)
    return sum(node["ms"] for node in nodes if waits(node)) / total if total else 0


def of(tern, path, precision, threads):
    """The output of `tern profile`; None if the model cannot be profiled."""
    command = [tern, "profile", str(path), "--threads", str(threads), "--precision", precision, "--seconds", "0.3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def longest(profile):
    """The kernels with most of the time."""
    return [group for group in by_kernel(profile["nodes"])[:MOST] if group["share"] >= LEAST_SHARE]


def words(groups):
    """"gemm.packed 78 % at 95, attention 9 % at 69"; kernels without FLOPs and bytes that can be counted have no second figure."""
    def one(group):
        name = group["kernel"].removeprefix("cpu.").removesuffix(".f32")
        roof = "" if group["percent_of_roof"] is None else f" at {group['percent_of_roof']:.0f}"
        return f"{name} {100 * group['share']:.0f} %{roof}"

    return ", ".join(map(one, groups or []))
