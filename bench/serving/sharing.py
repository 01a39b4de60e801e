"""Sends requests to several models at the same time and compares the share of each model with a fair share."""

import re
import threading
import urllib.request

import clients
import inputs
import repositories
import servers


def _cpu_seconds(server):
    """Reads the processor seconds of the executions of each model from the server's metrics."""
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r'^tern_model_cpu_seconds_total\{[^}]*model="(\w+)"[^}]*\} (\S+)', text, re.M)}


def measure(stack, folder, args, files):
    """Runs closed loops with the same concurrency on all models at once. A fair share is an equal part of the processor time."""
    names = list(files)
    kinds = {f"m{i}": names[i % len(names)] for i in range(args.shared)}
    for model, kind in kinds.items():
        repositories.onnx_model(folder / "models", model, files[kind], f"max_batch_size: {args.max_batch}\ndynamic_batching {{}}\n")
    server = servers.start_tern(args.tern, folder, "--repository", folder / "models")
    stack.callback(server.stop)
    found = {}
    sent = {model: inputs.write(server, model, _folder(folder, model), args.length) for model in kinds}

    def load(model):
        found[model] = clients.tern_load(args.tern, server.http, model, *sent[model], "--concurrency", 4, seconds=2 * args.seconds, warmup=1)

    before = _cpu_seconds(server)
    threads = [threading.Thread(target=load, args=(model,)) for model in kinds]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    spent = {model: seconds - before.get(model, 0) for model, seconds in _cpu_seconds(server).items()}
    return _show(kinds, found, spent)


def _folder(folder, model):
    path = folder / "inputs" / model
    path.mkdir(parents=True)
    return path


def _show(kinds, found, spent):
    print(f"\n{len(kinds)} models at once: answers/s, p99 ms, processor seconds")
    for model, kind in kinds.items():
        print(f"  {model} {kind:16}{found[model]['throughput']:9.1f}{found[model]['latency_ms']['p99']:10.1f}{spent.get(model, 0):8.2f}")
    shares = {"processor time": min(spent.values()) / (sum(spent.values()) / len(kinds))}
    for kind in dict.fromkeys(kinds.values()):
        rates = [found[model]["throughput"] for model in kinds if kinds[model] == kind]
        shares[kind] = min(rates) / (sum(rates) / len(rates))
    print("  slowest / fair share: " + ", ".join(f"{name} {share:.2f}" for name, share in shares.items()))
    return {"loads": found, "cpu_s": spent, "shares": shares}
