"""Exports the networks of the zoo with torch.export, with the weights of their ONNX files."""

import json
import warnings

import torch

import zoo

FORMS = ("raw", "core")  # as torch.export returns a program, and after run_decompositions()
INDEX = "programs.json"


def load_index(cache):
    path = cache / INDEX
    return json.loads(path.read_text()) if path.exists() else {}


def _export(network, cache):
    """Writes one file per form. Returns their index entries: the file, and the names of inputs and outputs in order."""
    model, inputs = zoo.built(network), zoo.example_inputs(network, 1)
    entries = {}
    with torch.no_grad():
        program = torch.export.export(model, tuple(inputs), strict=False)
        for form in FORMS:
            if form == "core":
                program = program.run_decompositions()
            path = cache / f"{network.name}.{form}.pt2"
            torch.export.save(program, path)
            signature = program.graph_signature
            entries[form] = {"file": path.name, "inputs": list(signature.user_inputs), "outputs": list(signature.user_outputs)}
    return entries


def add(name, cache):
    """Exports a network as ONNX and as programs, unless this is done."""
    from networks import all_networks

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    cache.mkdir(parents=True, exist_ok=True)
    network = all_networks()[name]
    models, programs = zoo.load_index(cache), load_index(cache)
    if name not in models:
        models[name] = zoo.make(network, cache)
        zoo.store_index(cache, models)
    if name not in programs:
        programs[name] = _export(network, cache)
        (cache / INDEX).write_text(json.dumps(programs, indent=1) + "\n")
