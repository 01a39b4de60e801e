#!/usr/bin/env python3
"""Measures how many tokens per second `tern serve` generates for one sequence after the other, and for several at once.

    .venv/bin/python bench/serving/generation.py

The model has the size of GPT-2 small (12 layers, width 768) and random weights; tests/e2e/causal_models.py makes it. All
sequences are greedy, and the tokens of both runs are compared. The exit status is 1 if they differ or if the ratio is below
--least."""

import argparse
import concurrent.futures
import http.client
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import causal_models  # noqa: E402
from serving import Server  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / ".cache" / "generate" / "served", help="the model; made if it does not exist")
    parser.add_argument("--sequences", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=20, help="tokens of a prompt")
    parser.add_argument("--rounds", type=int, default=3, help="the median counts")
    parser.add_argument("--least", type=float, default=3, help="the least ratio of both rates")
    return parser.parse_args()


def generate(server, chosen, index):
    """Returns the token texts of one sequence."""
    prompt = [(index * 31 + k * 7) % 250 for k in range(chosen.prompt + index)]
    body = {"model": "gpt2", "prompt": prompt, "max_tokens": chosen.tokens, "temperature": 0, "ignore_eos": True, "logprobs": 0}
    connection = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=600)
    try:
        connection.request("POST", "/v1/completions", json.dumps(body))
        return json.loads(connection.getresponse().read())["choices"][0]["logprobs"]["tokens"]
    finally:
        connection.close()


def measure(server, chosen, at_once):
    """Returns the tokens of all sequences, and the tokens per second."""
    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(chosen.sequences if at_once else 1) as pool:
        tokens = list(pool.map(lambda i: generate(server, chosen, i), range(chosen.sequences)))
    return tokens, chosen.sequences * chosen.tokens / (time.perf_counter() - begin)


def quantile(server, name, q):
    """Returns the upper end of the bucket of a histogram that contains the quantile, in seconds."""
    _, _, text = server.call("GET", "/metrics", port="metrics")
    buckets = [(float(le), float(count)) for le, count in re.findall(rf'^{name}_bucket{{.*le="([^"]+)"}} (\S+)$', text.decode(), re.M)]
    return next(le for le, count in buckets if count >= q * buckets[-1][1])


def main():
    chosen = parse()
    if not (chosen.folder / "model.onnx").exists():
        causal_models.write_generator(chosen.folder, layers=12, heads=12, width=768, vocabulary=50257, context=1024, scale=0.02)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, "--model", f"gpt2={chosen.folder}").start(600)
        measure(server, chosen, True)
        alone, together = [], []
        equal = True
        for _ in range(chosen.rounds):
            (want, rate), (got, rate_at_once) = measure(server, chosen, False), measure(server, chosen, True)
            alone.append(rate)
            together.append(rate_at_once)
            equal &= want == got
        between = {q: quantile(server, "tern_inter_token_latency_seconds", q) for q in (0.5, 0.99)}
        server.stop()
    one, all_ = statistics.median(alone), statistics.median(together)
    print(f"one after the other {one:.1f} tokens/s, {chosen.sequences} at once {all_:.1f} tokens/s, ratio {all_ / one:.2f}; "
          f"equal tokens: {'yes' if equal else 'NO'}; between two tokens at most {between[0.5]:g} s (50 %), {between[0.99]:g} s (99 %)")
    return 0 if equal and all_ / one >= chosen.least else 1


if __name__ == "__main__":
    sys.exit(main())
