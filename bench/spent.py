"""Finds out from the output of `tern profile` which kernels take most of a model's time."""

import json
import subprocess

MOST, LEAST_SHARE = 4, 0.03  # at most four kernels are listed, each with at least 3 % of the time
BEYOND_CACHES = 64e6  # if a step reads and writes at least this many bytes, no cache contains them in the next run


def by_kernel(nodes):
    """Returns each kernel's share of the time and its percentage of the roofline, sorted by decreasing share. The time
    of a loop includes its body."""
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
    """Returns the share of the time in memory-bound steps. A step is memory-bound if its bytes exceed BEYOND_CACHES and
    reading them takes longer than its multiply-adds."""
    def waits(node):
        peak = profile.get("peak_gflops_bf16", profile["peak_gflops"]) if node["kernel"].endswith(".bf16") else profile["peak_gflops"]
        by_bytes, by_flops = (node["bytes"] or 0) / profile["read_gb_per_s"], (node["flops"] or 0) / peak
        return (node["bytes"] or 0) >= BEYOND_CACHES and by_bytes > by_flops

    nodes = [node for node in profile["nodes"] if node["depth"] == 0]
    total = sum(node["ms"] for node in nodes)
    return sum(node["ms"] for node in nodes if waits(node)) / total if total else 0


def of(tern, path, precision, threads):
    """Returns the output of `tern profile`, or None if the model cannot be profiled."""
    command = [tern, "profile", str(path), "--threads", str(threads), "--precision", precision, "--seconds", "0.3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def longest(profile):
    """Returns the kernels that take most of the time."""
    return [group for group in by_kernel(profile["nodes"])[:MOST] if group["share"] >= LEAST_SHARE]


def words(groups):
    """Returns text such as "gemm.packed 78 % at 95, attention 9 % at 69". The first figure is the kernel's share of the
    time. The second figure is its percentage of the roofline. It is omitted if the kernel's FLOPs or bytes are unknown."""
    def one(group):
        name = group["kernel"].removeprefix("cpu.").removesuffix(".f32")
        roof = "" if group["percent_of_roof"] is None else f" at {group['percent_of_roof']:.0f}"
        return f"{name} {100 * group['share']:.0f} %{roof}"

    return ", ".join(map(one, groups or []))
