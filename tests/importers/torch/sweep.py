"""Exports the networks of tests/architectures with torch.export into a cache folder, and compares tern with PyTorch.

python sweep.py export FOLDER [--only REGEX]   writes FAMILY.SHAPES.FORM/ with model.pt2, data_0.npz and data_1.npz
python sweep.py check FOLDER [--only REGEX]    runs tern on them and prints a report
python sweep.py run FOLDER [--only REGEX]      does both, one family after the other, and removes archives that match

SHAPES is static or dynamic; FORM is raw or core, which is after run_decompositions(). FAMILY.SHAPES.json records the export,
FAMILY.SHAPES.FORM.txt the result of tern, empty if it matches. A later call continues; remove these files to repeat.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import shutil
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


def selected(name, only):
    """Whether the family of this name, or of an export of this name, is to be tested."""
    return re.search(only, name.split(".")[0]) is not None


def attempts(family, shapes):
    """Pairs (dynamic dimensions, attention implementation) in the order in which they are tried."""
    wishes = [()] if shapes == "static" else list(dict.fromkeys([tuple(family.symbols()), ("batch",)]))
    return [(dynamic, attention) for attention in ("sdpa", "eager") for dynamic in wishes]


def export(family, shapes, folder):
    """Exports one family in both forms with the first attempt that PyTorch can export. Returns what the index records."""
    failure = None
    for dynamic, attention in attempts(family, shapes):
        try:
            forms, notes = attempt(family, f"{family.name}.{shapes}", dynamic, attention, folder)
            return {"forms": forms, "dynamic": dynamic, "attention": attention, "notes": notes}
        except Exception as error:  # noqa: BLE001
            failure = failure or f"{type(error).__name__}: {error}"
    return {"forms": [], "reason": re.sub(r"\s+", " ", failure)[:300]}


def attempt(family, key, dynamic, attention, folder):
    import network
    import torch

    notes = []
    net = network.build(family, attention).eval()
    tensors = network.inputs(family, 0)
    auto = torch.export.Dim.AUTO
    sizes = (tuple({a: auto for a, d in enumerate(s.dims) if d in dynamic} or None for s in family.inputs),) if dynamic else None
    with torch.no_grad():
        program = torch.export.export(net, tensors, dynamic_shapes=sizes, strict=False)
    sets = [data_set(net, tensors)]
    if dynamic:
        others = network.inputs(restricted(family, dynamic), 1)
        try:  # the exporter may have made sizes constant
            with torch.no_grad():
                program.module()(*others)
            sets.append(data_set(net, others))
        except Exception as error:  # noqa: BLE001
            notes.append(re.sub(r"\s+", " ", f"constant sizes: {error}")[:200])
    done = []
    for form in FORMS:
        if form == "core":
            try:
                program = program.run_decompositions()
            except Exception as error:  # noqa: BLE001
                notes.append(re.sub(r"\s+", " ", f"not decomposed: {error}")[:200])
                break
        out = folder / f"{key}.{form}"
        out.mkdir(parents=True, exist_ok=True)
        torch.export.save(program, out / "model.pt2")
        names = [s.arg.name for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
        (out / "inputs.json").write_text(json.dumps(names))
        for i, arrays in enumerate(sets):
            np.savez(out / f"data_{i}.npz", **arrays)
        done.append(form)
    return done, notes


def restricted(family, dynamic):
    """The family with the same size in both data sets for each dimension that is not dynamic."""
    fixed = {d: (family.size(d, 0),) * 2 for d in family.symbols() if d not in dynamic}
    return type(family)(**{**vars(family), "sizes": {**family.sizes, **fixed}})


def child(family, shapes, folder, pipe):
    log = os.open(folder / "export.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    pipe.send(export(family, shapes, folder))


def export_in_child(family, shapes, folder, limit):
    """Exports in a process of its own, so that a crash or an endless export costs one entry."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(family, shapes, folder, sender))
    process.start()
    sender.close()
    try:
        outcome = receiver.recv() if receiver.poll(limit) else {"forms": [], "reason": f"time limit of {limit} s"}
    except EOFError:
        outcome = {"forms": [], "reason": "the process died"}
    process.kill()
    process.join()
    return outcome


def export_all(folder, only, limit):
    import warnings

    import torch
    import transformers

    from families import FAMILIES

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    for name, family in FAMILIES.items():
        for shapes in SHAPES:
            key = f"{name}.{shapes}"
            entry = folder / f"{key}.json"
            if not selected(name, only) or entry.exists():
                continue
            start = time.time()
            outcome = export_in_child(family, shapes, folder, limit)
            outcome["seconds"] = round(time.time() - start, 1)
            entry.write_text(json.dumps(outcome, indent=1))
            print(key, outcome["forms"], outcome.get("reason", ""), outcome["seconds"], flush=True)


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
    for case in sorted(folder.glob("*.*.*")):
        if (case / "model.pt2").exists() and selected(case.name, only):
            problem = check_one(case)
            case.with_name(f"{case.name}.txt").write_text(problem or "")
            if problem:
                print(f"{case.name}: {problem}", flush=True)
    return summary(folder, only)


def run_all(folder, only, limit):
    """Like export_all and check_all, but needs the disk space of one family only."""
    from families import FAMILIES

    for name in FAMILIES:
        if not selected(name, only):
            continue
        export_all(folder, f"^{name}$", limit)
        for case in sorted(folder.glob(f"{name}.*.*/model.pt2")):
            problem = check_one(case.parent)
            case.parent.with_name(f"{case.parent.name}.txt").write_text(problem or "")
            if problem:
                print(f"{case.parent.name}: {problem}", flush=True)
            else:
                shutil.rmtree(case.parent)
    return summary(folder, only)


def summary(folder, only):
    """Prints how many programs PyTorch exported and how many of them tern matches. Returns the exit status."""
    results = {f.stem: f.read_text() for f in folder.glob("*.*.*.txt") if selected(f.name, only)}
    failed = [f.stem for f in folder.glob("*.json") if selected(f.name, only) and not json.loads(f.read_text())["forms"]]
    for shapes in SHAPES:
        for form in FORMS:
            found = [r for name, r in results.items() if name.endswith(f".{shapes}.{form}")]
            print(f"{shapes} {form}: {sum(not r for r in found)} of {len(found)} match")
    print("not exported by PyTorch:", ", ".join(sorted(failed)) or "none")
    bad = sum(bool(r) for r in results.values())
    print(f"{len(results) - bad} passed, {bad} failed, {len(failed)} skipped")
    return 1 if bad or not results else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("export", "check", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=240)
    options = parser.parse_args()
    if options.action == "export":
        return export_all(options.folder, options.only, options.limit)
    if options.action == "run":
        return run_all(options.folder, options.only, options.limit)
    return check_all(options.folder, options.only)


if __name__ == "__main__":
    sys.exit(main())
