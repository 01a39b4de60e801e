#!/usr/bin/env python3
"""Exports the networks of the benchmark as ONNX files to a cache folder, with an index.json that describes their
inputs.

Weights are random with a fixed seed. Networks that are already in the index are skipped, unless --again is given.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import time
import traceback

os.environ.setdefault("HF_HUB_OFFLINE", "1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import published  # noqa: E402

OPSET = 17


def default_cache():
    return pathlib.Path(os.environ.get("TERN_BENCH_CACHE") or HERE.parent / ".cache" / "bench-zoo")


def load_index(cache):
    path = pathlib.Path(cache) / "index.json"
    return json.loads(path.read_text()) if path.exists() else {}


def store_index(cache, index):
    fresh = cache / "index.json.new"
    fresh.write_text(json.dumps(index, indent=1) + "\n")
    fresh.replace(cache / "index.json")


def example_inputs(network, batch):
    import feeds
    import torch

    return [torch.from_numpy(feeds.make(spec.describe(), {"batch": batch})) for spec in network.inputs]


def built(network):
    """Builds the network and sets its random weights."""
    import torch
    from networks.weights import randomize

    torch.manual_seed(0)
    model = network.build().float()
    randomize(model, network.gain, example_inputs(network, 2))
    return model


def _export(network, path, dynamic):
    import torch

    model, inputs = built(network), example_inputs(network, 1)
    names = [spec.name for spec in network.inputs]
    axes = {spec.name: {int(k): v for k, v in spec.describe()["symbols"].items()} for spec in network.inputs}
    options = dict(dynamic_axes=axes) if dynamic else {}
    with torch.no_grad():
        if network.dynamo:
            if dynamic:
                shapes = tuple({a: torch.export.Dim(s, min=1) for a, s in axes[n].items()} for n in names)
                options = dict(dynamic_shapes=(shapes,))
            torch.onnx.export(model, tuple(inputs), str(path), dynamo=True, external_data=False, verbose=False,
                              input_names=names, output_names=list(network.outputs), **options)
        else:
            torch.onnx.export(model, tuple(inputs), str(path), dynamo=False, opset_version=OPSET, do_constant_folding=True,
                              input_names=names, output_names=list(network.outputs), **options)


def make(network, cache, dynamic=False):
    """Exports one network and returns its index entry. If `dynamic` is true, batch and length are open dims."""
    path = cache / f"{network.name}{'.dynamic' if dynamic else ''}.onnx"
    fresh = path.with_suffix(".new")
    _export(network, fresh, dynamic)
    fresh.replace(path)
    inputs = [spec.describe() for spec in network.inputs]
    return {"file": path.name, "inputs": inputs, "outputs": list(network.outputs)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=pathlib.Path, default=default_cache(), help="folder for the models (TERN_BENCH_CACHE)")
    parser.add_argument("--models", default="", help="export only the networks whose names match this regular expression")
    parser.add_argument("--dynamic", action="store_true", help="export with open dims for batch and length, for bench/growth")
    parser.add_argument("--published", type=pathlib.Path, help="folder of published models (default: $TERN_ZOO/models/onnx)")
    parser.add_argument("--again", action="store_true", help="also export networks that are already in the index")
    return parser.parse_args()


def add_published(options, index):
    folder = options.published or pathlib.Path(os.environ.get("TERN_ZOO", "")) / "models" / "onnx"
    for name in published.MODELS:
        entry = published.entry(folder, name)
        if entry:
            index[name] = entry
        else:
            print(f"{name}: not in {folder}; set TERN_ZOO or --published", flush=True)


def main():
    options = parse()
    options.cache.mkdir(parents=True, exist_ok=True)
    import warnings

    import torch
    from networks import all_networks

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    index, failed = load_index(options.cache), 0
    for name, network in all_networks().items():
        key = f"{name}.dynamic" if options.dynamic else name
        wanted = re.search(options.models, name) and (options.dynamic or not network.for_growth)
        if not wanted or (key in index and not options.again):
            continue
        start = time.time()
        try:
            index[key] = make(network, options.cache, options.dynamic)
            print(f"{key}: {time.time() - start:.1f} s", flush=True)
        except Exception:
            failed += 1
            print(f"{key}: not exported\n{traceback.format_exc(limit=3)}", flush=True)
        store_index(options.cache, index)
    add_published(options, index)
    order = [name + kind for kind in ("", ".dynamic") for name in (*all_networks(), *published.MODELS)]
    store_index(options.cache, {name: index[name] for name in order if name in index})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
