"""Exports the networks of tests/architectures with torch.export into a cache folder, and compares tern with PyTorch.

python sweep.py export FOLDER [--only REGEX]   writes FAMILY.SHAPES.FORM/ with model.pt2, data_0.npz and data_1.npz
python sweep.py check FOLDER [--only REGEX]    runs tern on them and prints a report
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "architectures"))
sys.path.insert(0, str(HERE.parent))
from run_model import TernError, run_model  # noqa: E402

os.environ.setdefault("HF_HUB_OFFLINE", "1")
SHAPES, FORMS = ("static", "dynamic"), ("raw", "core")
RTOL, ATOL = 1e-3, 1e-4


def data_set(net, tensors):
    """The inputs and results of PyTorch. The inputs are named by the position of the argument."""
    import torch

    with torch.no_grad():
        results = net(*tensors)
    arrays = {f"in.{i}": t.numpy() for i, t in enumerate(tensors)}
    return {**arrays, **{f"out.{i}": r.numpy() for i, r in enumerate(results)}}


def export(family, shapes, folder):
    """Exports one family in all forms. Returns the names of the exports."""
    import network
    import torch

    done = []
    dynamic = tuple(family.symbols()) if shapes == "dynamic" else ()
    net = network.build(family, "sdpa").eval()
    tensors = network.inputs(family, 0)
    sizes = None
    if dynamic:
        auto = torch.export.Dim.AUTO
        sizes = (tuple({a: auto for a, d in enumerate(s.dims) if d in dynamic} or None for s in family.inputs),)
    with torch.no_grad():
        program = torch.export.export(net, tensors, dynamic_shapes=sizes, strict=False)
    sets = [data_set(net, tensors)]
    if dynamic:
        others = network.inputs(family, 1)
        try:  # the exporter may have made sizes constant
            with torch.no_grad():
                program.module()(*others)
            sets.append(data_set(net, others))
        except Exception as error:  # noqa: BLE001
            print(family.name, "has constant sizes:", error)
    for form in FORMS:
        if form == "core":
            try:
                program = program.run_decompositions()
            except Exception as error:  # noqa: BLE001
                print(family.name, "cannot be decomposed:", error)
                break
        out = folder / f"{family.name}.{shapes}.{form}"
        out.mkdir(parents=True, exist_ok=True)
        torch.export.save(program, out / "model.pt2")
        names = [s.arg.name for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
        (out / "inputs.json").write_text(json.dumps(names))
        for i, arrays in enumerate(sets):
            np.savez(out / f"data_{i}.npz", **arrays)
        done.append(out.name)
    return done


def child(family, shapes, folder, pipe):
    log = os.open(folder / "export.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        pipe.send(("exported", export(family, shapes, folder)))
    except Exception as error:  # noqa: BLE001
        pipe.send(("failed", re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:300]))


def export_all(folder, only, limit):
    import torch
    import transformers
    import warnings

    from families import FAMILIES

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    index_file = folder / "index.json"
    index = json.loads(index_file.read_text()) if index_file.exists() else {}
    for name, family in FAMILIES.items():
        for shapes in SHAPES:
            key = f"{name}.{shapes}"
            if not re.search(only, key) or key in index:
                continue
            start = time.time()
            context = multiprocessing.get_context("fork")
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=child, args=(family, shapes, folder, sender))
            process.start()
            sender.close()
            try:
                outcome = receiver.recv() if receiver.poll(limit) else ("failed", f"time limit of {limit} s")
            except EOFError:
                outcome = ("failed", "child process died")
            process.kill()
            process.join()
            index[key] = outcome
            index_file.write_text(json.dumps(index, indent=1))
            print(key, outcome[0], outcome[1] if outcome[0] == "failed" else "", f"{time.time() - start:.0f} s", flush=True)


def difference(wanted, got):
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return f"expected {wanted.dtype}{list(wanted.shape)}, got {got.dtype}{list(got.shape)}"
    if np.allclose(got, wanted, rtol=RTOL, atol=ATOL, equal_nan=True):
        return None
    return f"max abs {np.nanmax(np.abs(wanted.astype('f8') - got.astype('f8'))):.3g}"


def check_one(folder):
    names = json.loads((folder / "inputs.json").read_text())
    for file in sorted(folder.glob("data_*.npz")):
        data = np.load(file)
        feeds = {name: data[f"in.{i}"] for i, name in enumerate(names)}
        try:
            got = list(run_model(folder / "model.pt2", feeds).values())
        except TernError as error:
            return str(error)[:600]
        wanted = [data[f"out.{i}"] for i in range(sum(k.startswith("out.") for k in data.files))]
        if len(got) != len(wanted):
            return f"{len(wanted)} outputs expected, got {len(got)}"
        for i, (w, g) in enumerate(zip(wanted, got)):
            problem = difference(w, g)
            if problem:
                return f"{file.stem} output {i}: {problem}"
    return None


def check_all(folder, only):
    good, bad = 0, []
    for case in sorted(folder.glob("*.*.*")):
        if not (case / "model.pt2").exists() or not re.search(only, case.name):
            continue
        problem = check_one(case)
        if problem:
            bad.append(case.name)
            print(f"{case.name}: {problem}", flush=True)
        else:
            good += 1
    print(f"{good} of {good + len(bad)} match")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("export", "check"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=240)
    options = parser.parse_args()
    if options.action == "export":
        return export_all(options.folder, options.only, options.limit)
    return check_all(options.folder, options.only)


if __name__ == "__main__":
    sys.exit(main())
