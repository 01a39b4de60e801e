#!/usr/bin/env python3
"""Compares Tern and onnxruntime in GPT-2 decoding with a KV cache. Compares the tokens, the tokens per second, and how the
time of a token grows with the length of the past.

    python -m venv .venv-generate && .venv-generate/bin/pip install -r scripts/requirements-bench.txt onnx onnxruntime numpy
    .venv-generate/bin/python bench/generate.py

GPT-2 small with random weights is exported from torch with inputs and outputs for the past. onnxruntime stores the past
in OrtValues, and I/O binding passes the present of one run to the next run as its past. Tern stores the past as states (`tern
generate`). Both engines use greedy decoding. The exit status is 1 if the tokens differ.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PASTS = (100, 500, 1000)
SKIP = 3  # number of first tokens that are not counted, because their time includes compiling plans
NEAR = 10  # the time at a past length is the median over this many tokens before and after that length


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "tern")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / ".cache" / "generate" / "gpt2.onnx",
                        help="model file; exported if it does not exist")
    parser.add_argument("--exporter", choices=("legacy", "dynamo"), default="legacy", help="the exporter of torch.onnx to use")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0, help="seed of the random weights")
    parser.add_argument("--tokens", type=int, default=1000)
    parser.add_argument("--prompt", default="464", help="token ids, separated by commas")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds per engine; the best round counts")
    parser.add_argument("--json", type=pathlib.Path, help="write all measurements to this file")
    return parser.parse_args()


def names(layers):
    """Returns the names of the inputs past_key_values.* and of the outputs present.*. The package optimum uses the same
    names."""
    parts = [(i, kind) for i in range(layers) for kind in ("key", "value")]
    return [f"past_key_values.{i}.{kind}" for i, kind in parts], [f"present.{i}.{kind}" for i, kind in parts]


def export(path, layers, seed, exporter):
    import torch
    from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(seed)
    config = GPT2Config(n_layer=layers)
    model = GPT2LMHeadModel(config).eval()

    class Step(torch.nn.Module):
        """A decoder with its KV cache as inputs and outputs."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, *past):
            cache = DynamicCache()
            for layer in range(layers):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            out = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)
            flat = [part for layer in out.past_key_values.layers for part in (layer.keys, layer.values)]
            return (out.logits, *flat)

    size = config.n_embd // config.n_head
    past = [torch.zeros(1, config.n_head, 5, size) for _ in range(2 * layers)]
    ids = torch.zeros(1, 2, dtype=torch.int64)
    inputs, outputs = names(layers)
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"input_names": ["input_ids", *inputs], "output_names": ["logits", *outputs]}
    if exporter == "legacy":
        axes = {name: {0: "batch", 2: "past_sequence"} for name in inputs}
        axes.update({name: {0: "batch", 2: "total_sequence"} for name in outputs})
        axes.update({name: {0: "batch", 1: "sequence"} for name in ("input_ids", "logits")})
        options.update(dynamic_axes=axes, opset_version=17, dynamo=False)
    else:
        batch, sequence, before = (torch.export.Dim(n) for n in ("batch", "sequence", "past_sequence"))
        shapes = ({0: batch, 1: sequence}, tuple({0: batch, 2: before} for _ in past))
        options.update(dynamic_shapes=shapes, dynamo=True, external_data=False)
    with torch.no_grad():
        torch.onnx.export(Step(), (ids, *past), str(path), **options)


def weight_bytes(model):
    """Returns the number of bytes of weights that the MatMul and Gemm nodes read for one token. A weight that several nodes
    read counts once."""
    import onnx

    graph = onnx.load(str(model)).graph
    sizes = {t.name: len(t.raw_data) for t in graph.initializer}
    made_from = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Transpose"}
    read = {made_from.get(node.input[1], node.input[1]) for node in graph.node if node.op_type in ("MatMul", "Gemm")}
    return sum(sizes.get(name, 0) for name in read)


def run_onnxruntime(model, prompt, tokens, threads):
    """Returns the tokens, and the milliseconds of each token."""
    import numpy
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    pasts = [value for value in session.get_inputs() if value.name != "input_ids"]
    presents = [value.name for value in session.get_outputs()[1:]]
    empty = {value.name: numpy.zeros((1, value.shape[1], 0, value.shape[3]), numpy.float32) for value in pasts}
    held = [onnxruntime.OrtValue.ortvalue_from_numpy(empty[value.name]) for value in pasts]
    binding = session.io_binding()
    ids, made, spent = numpy.array([prompt], numpy.int64), [], []
    for _ in range(tokens):
        start = time.perf_counter()
        binding.bind_cpu_input("input_ids", ids)
        for value, past in zip(pasts, held):
            binding.bind_ortvalue_input(value.name, past)
        for name in ("logits", *presents):
            binding.bind_output(name, "cpu")
        session.run_with_iobinding(binding)
        logits, *held = binding.get_outputs()
        token = int(logits.numpy()[0, -1].argmax())
        spent.append(1e3 * (time.perf_counter() - start))
        made.append(token)
        ids = numpy.array([[token]], numpy.int64)
    return {"tokens": made, "milliseconds": spent}


def command_of(tern, model, prompt, tokens, threads, bytes_read=0):
    command = [str(tern), "generate", str(model), "--prompt", ",".join(map(str, prompt)), "--tokens", str(tokens),
               "--threads", str(threads), "--json"]
    return command + (["--read-peak", str(bytes_read)] if bytes_read else [])


def run_tern(command, env=None):
    """Returns the JSON that `tern generate --json` prints, and its stderr."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout), done.stderr


def allocations(command, library):
    """Returns the number of heap allocations of the process from its start to its end."""
    _, messages = run_tern(command, {**os.environ, "LD_PRELOAD": str(library)})
    return int(re.search(r"allocations: (\d+)", messages)[1])


def allocations_per_token(tern, model, prompt, threads, folder):
    """Returns the heap allocations per token while the past grows from 600 to 1,000 tokens. The memory of the states
    has a constant size in this range."""
    library = folder / "count_allocations.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", str(HERE / "count_allocations.c"), "-o", str(library)], check=True)
    few, many = (allocations(command_of(tern, model, prompt, n, threads), library) for n in (600, 1000))
    return (many - few) / 400


def agreement(ours, theirs):
    """Returns the number of equal tokens before the first difference."""
    return next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))


def rate(spent, skip=SKIP):
    """Returns tokens per second, without the first `skip` tokens, whose time includes compiling plans."""
    return 1e3 * len(spent[skip:]) / sum(spent[skip:]) if spent[skip:] else 0.0


def at_past(spent, prompt, past):
    """Returns the median time of a token at this past length in ms, or None if there are no samples."""
    index = past - prompt
    near = spent[max(0, index - NEAR):index + NEAR + 1]
    return statistics.median(near) if 0 <= index < len(spent) + NEAR and near else None


def summary(ours, theirs, prompt, bytes_read):
    """Returns all figures. A token reads all weights once, so memory bandwidth limits the tokens per second. This limit is
    "permitted_tokens_per_second". `tern generate` measures it between its tokens, by reading as many bytes as the weights
    have. "percent_of_permitted" is the share of the limit that a token of median time reaches."""
    reads = ours.get("read_milliseconds")
    permitted = 1e3 / statistics.median(reads) if reads else None
    usual = 1e3 / statistics.median(ours["milliseconds"][SKIP:]) if ours["milliseconds"][SKIP:] else None
    rates = {"tern": rate(ours["milliseconds"]), "onnxruntime": rate(theirs["milliseconds"])}
    return {
        "tokens": len(ours["tokens"]), "same": agreement(ours["tokens"], theirs["tokens"]),
        "tokens_per_second": rates, "ratio": rates["tern"] / rates["onnxruntime"],
        "weight_bytes": bytes_read, "permitted_tokens_per_second": permitted,
        "percent_of_permitted": 100 * usual / permitted if permitted and usual else None,
        "plans": ours.get("plans"), "allocations_per_token": ours.get("allocations_per_token"),
        "ms_at_past": {name: {past: at_past(run["milliseconds"], prompt, past) for past in PASTS}
                       for name, run in (("tern", ours), ("onnxruntime", theirs))}}


def show(found):
    number = lambda value, form="{:.1f}": "–" if value is None else form.format(value)  # noqa: E731
    print(f"equal tokens: {found['same']} of {found['tokens']}")
    for name, value in found["tokens_per_second"].items():
        past = ", ".join(f"{number(ms, '{:.2f}')} ms at past {length}" for length, ms in found["ms_at_past"][name].items())
        print(f"{name:12} {value:6.1f} tokens/s; a token takes {past}")
    print(f"ratio {found['ratio']:.2f}; reading {found['weight_bytes'] / 1e6:.0f} MB of weights per token permits "
          f"{number(found['permitted_tokens_per_second'])} tokens/s, of which Tern reaches {number(found['percent_of_permitted'])} %")
    print(f"plans made: {number(found['plans'], '{}')}; allocations per token: {number(found['allocations_per_token'], '{}')}")


def better(best, run):
    return run if best is None or rate(run["milliseconds"]) > rate(best["milliseconds"]) else best


def main():
    chosen = parse()
    if not chosen.tern.exists():
        sys.exit(f"{chosen.tern} does not exist; build it, or name another binary with --tern")
    if not chosen.model.exists():
        export(chosen.model, chosen.layers, chosen.seed, chosen.exporter)
    prompt = [int(word) for word in chosen.prompt.split(",")]
    bytes_read = weight_bytes(chosen.model)
    command = command_of(chosen.tern, chosen.model, prompt, chosen.tokens, chosen.threads, bytes_read)
    ours = theirs = None
    for _ in range(chosen.rounds):
        ours = better(ours, run_tern(command)[0])
        theirs = better(theirs, run_onnxruntime(chosen.model, prompt, chosen.tokens, chosen.threads))
    ours["allocations_per_token"] = allocations_per_token(chosen.tern, chosen.model, prompt, chosen.threads,
                                                          chosen.model.parent)
    found = summary(ours, theirs, len(prompt), bytes_read)
    show(found)
    if chosen.json:
        chosen.json.write_text(json.dumps({**found, "runs": {"tern": ours, "onnxruntime": theirs}}, indent=1))
    return 0 if found["same"] == found["tokens"] else 1


if __name__ == "__main__":
    sys.exit(main())
