"""Runs other optimizers and caches their results in a file."""

import importlib
import importlib.metadata
import json
import math
import tempfile
import time
from pathlib import Path

import onnx

import child
import graphs
import outputs
from data import TESTS

PINS = [TESTS.parent / "scripts" / f"requirements-{group}.txt" for group in ("test", "optimizer")]
WRONG = 1e-2  # an optimised model with a larger error counts as wrong


def _onnxruntime(model, folder):
    """Optimises with onnxruntime's extended level. This level fuses nodes, but does not change layouts and does not use
    operators for a specific machine."""
    given, out = folder / "given.onnx", folder / "optimised.onnx"
    onnx.save(model, given)
    outputs.session(given, outputs.LEVELS.ORT_ENABLE_EXTENDED, save_to=out)
    return onnx.load(out)


def _onnxsim(model, folder):
    import onnxsim

    return onnxsim.simplify(model)[0]


def _onnxslim(model, folder):
    import onnxslim

    return onnxslim.slim(model)


OPTIMIZERS = {"onnxruntime": _onnxruntime, "onnxsim": _onnxsim, "onnxslim": _onnxslim}


def versions():
    """Returns the version of each peer that scripts/requirements-*.txt pins. A peer need not be installed if the cache
    has all its results."""
    pins = dict(line.strip().split("==") for file in PINS for line in file.read_text().splitlines() if "==" in line)
    return {peer: pins[peer] for peer in OPTIMIZERS}


def _require(peer, version):
    try:
        found = importlib.metadata.version(peer)
    except importlib.metadata.PackageNotFoundError:
        found = "none"
    if found != version:
        raise SystemExit(f"the cache lacks a result of {peer} {version}, but the installed version is {found}; "
                         "run scripts/deps optimizer")
    importlib.import_module(peer)  # imported once here, because forked children inherit the module


def _optimise(peer, path):
    with tempfile.TemporaryDirectory() as folder:
        optimised = OPTIMIZERS[peer](graphs.load(path), Path(folder))
        return optimised.SerializeToString()


def _originals(path, all_feeds):
    return [outputs.results(outputs.load(path), feeds) for feeds in all_feeds]


def _runnable(peer, model, optimised, folder):
    """Returns a session that runs the peer's model. For the peer onnxruntime, the session optimises the original model
    in memory, because onnxruntime cannot read some of the files that it writes."""
    if peer == "onnxruntime":
        return outputs.session(model.path, outputs.LEVELS.ORT_ENABLE_EXTENDED)
    path = Path(folder) / "optimised.onnx"
    path.write_bytes(optimised)
    return outputs.load(path)


def _distance(peer, model, optimised, all_feeds):
    """Returns the largest difference between the outputs of the optimised and the original model."""
    with tempfile.TemporaryDirectory() as folder:
        session = _runnable(peer, model, optimised, folder)
        pairs = zip(_originals(model.path, all_feeds), (outputs.results(session, feeds) for feeds in all_feeds))
        return max(outputs.distance(wanted, got) for wanted, got in pairs)


def _judge(peer, model, optimised, all_feeds, limit):
    """Returns {"error": largest difference of outputs}, or {"broken": reason} if the peer's model does not run. Returns
    {} if the original is random or does not run."""
    if graphs.is_random(graphs.load(model.path)):
        return {}
    try:
        child.call(_originals, model.path, all_feeds, limit=limit)
    except child.Failure:
        return {}
    try:
        error = child.call(_distance, peer, model, optimised, all_feeds, limit=limit)
    except child.Failure as failure:
        return {"broken": str(failure)}
    return {"error": error} if math.isfinite(error) else {"broken": "outputs have different shapes, types or NaNs"}


def _measure(peer, model, all_feeds, limit):
    start = time.monotonic()
    try:
        optimised = child.call(_optimise, peer, model.path, limit=limit)
    except child.Failure as failure:
        return {"reason": str(failure)}
    seconds = round(time.monotonic() - start, 2)
    found = graphs.ops(onnx.load_from_string(optimised))
    result = {"nodes": sum(found.values()), "seconds": seconds, "ops": dict(found.most_common())}
    return {**result, **_judge(peer, model, optimised, all_feeds, limit)}


class Cache:
    """The file with the results of the peers. It maps the hash of a model file to a dict from "PEER VERSION" to the
    result. It is rewritten after each model, so that no result is lost if the program is interrupted."""

    def __init__(self, path, limit):
        self.path, self.limit = path, limit
        self.entries = json.loads(path.read_text()) if path.exists() else {}
        self.versions = versions()

    def _save(self):
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(self.entries, indent=1, sort_keys=True) + "\n")
        fresh.replace(self.path)

    def results(self, model, all_feeds):
        """Returns a dict from peer to result. A result is {nodes, ops, seconds, error}, {nodes, ops, seconds, broken}
        or {reason}."""
        known = self.entries.setdefault(model.sha, {})
        keys = {peer: f"{peer} {version}" for peer, version in self.versions.items()}
        missing = [peer for peer, key in keys.items() if key not in known]
        for peer in missing:
            _require(peer, self.versions[peer])
            known[keys[peer]] = _measure(peer, model, all_feeds, self.limit)
        if missing:
            self._save()
        return {peer: known[key] for peer, key in keys.items()}


def is_wrong(result, model):
    """Returns whether a peer's model does not run or computes wrong results."""
    return "broken" in result or result.get("error", 0.0) > max(WRONG, model.tolerance)
