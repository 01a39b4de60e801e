#!/usr/bin/env python3
"""Times torch.compile with backend="tern" against inductor, in one process, a few calls of each in turn.

Needs torch, onnxscript, transformers and the package tern (see docs/guide/torch.md). The ratio is inductor's median time
divided by Tern's: above 1, Tern is faster.
"""

import argparse
import math
import os
import statistics
import time

import torch
import torch_networks

import tern.torch  # registers the backend in a source tree

BLOCK = 5  # timed calls of a backend before the other's turn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--calls", type=int, default=30, help="timed calls of each backend per network")
    parser.add_argument("--networks", nargs="+", default=list(torch_networks.NETWORKS), choices=list(torch_networks.NETWORKS))
    options = parser.parse_args()
    print(f"torch {torch.__version__}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'network':<12}{'threads':>8}{'tern ms':>10}{'inductor ms':>13}{'ratio':>8}{'of minima':>11}{'max error':>11}")
    for threads in options.threads:
        torch.set_num_threads(threads)
        rows = [measure(name, threads, options.calls) for name in options.networks]
        for column, what in ((0, "medians"), (1, "minima")):
            mean = math.exp(statistics.fmean(math.log(row[column]) for row in rows))
            print(f"geometric mean with {threads} threads, of {what}: {mean:.2f}")


def measure(name, threads, calls):
    """Prints the row of a network. Returns the ratios of the medians and of the minima."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, inputs = torch_networks.NETWORKS[name]()
    backends = {"tern": torch.compile(model, backend="tern", options={"threads": threads, "fallback": False}),
                "inductor": torch.compile(model, backend="inductor")}
    times = {backend: [] for backend in backends}
    with torch.no_grad():
        expected = torch_networks.tensors(model(**inputs))
        for run in backends.values():
            for _ in range(3):
                results = torch_networks.tensors(run(**inputs))
        results = torch_networks.tensors(backends["tern"](**inputs))
        error = max((results[key] - expected[key]).abs().max().item() for key in expected)
        for _ in range(math.ceil(calls / BLOCK)):
            for backend, run in backends.items():
                run(**inputs)  # not timed: threads of the other backend still spin for some milliseconds
                for _ in range(BLOCK):
                    start = time.perf_counter()
                    run(**inputs)
                    times[backend].append(time.perf_counter() - start)
    medians = {backend: statistics.median(values) for backend, values in times.items()}
    ratio, least = medians["inductor"] / medians["tern"], min(times["inductor"]) / min(times["tern"])
    print(f"{name:<12}{threads:>8}{medians['tern'] * 1e3:>10.2f}{medians['inductor'] * 1e3:>13.2f}{ratio:>8.2f}{least:>11.2f}{error:>11.1e}", flush=True)
    return ratio, least


if __name__ == "__main__":
    main()
