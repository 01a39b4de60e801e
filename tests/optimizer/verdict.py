"""Compares Tern's result for one model with the peers and with the original."""

import tempfile
from pathlib import Path

import onnx

import child
import graphs
import outputs
import peers
from tern import save_inputs, shape_options


def node_problems(nodes, found, model):
    """Returns a message for each peer whose model has fewer nodes than Tern's. Ignores peers that failed or whose model
    is wrong."""
    fair = {p: r["nodes"] for p, r in found.items() if "nodes" in r and not peers.is_wrong(r, model)}
    return [f"{nodes - count} nodes more than {peer}" for peer, count in fair.items() if nodes > count]


def _onnx_error(model, optimised, all_feeds):
    """Returns the difference between the outputs of the optimised and the original file in onnxruntime, or None if the
    results of the original are random or onnxruntime cannot run it."""
    if graphs.is_random(graphs.load(model.path)):
        return None
    try:
        original = outputs.load(model.path)
        wanted = [outputs.results(original, feeds) for feeds in all_feeds]
    except Exception:
        return None  # onnxruntime does not support an operator of the original
    rewritten = outputs.load(optimised)
    got = [outputs.results(rewritten, feeds) for feeds in all_feeds]
    return max(outputs.distance(a, b) for a, b in zip(wanted, got))


def _usual(row):
    """Returns a text with the error of onnxruntime's optimizer for the same model. It shows how much the order of sums
    affects the outputs."""
    error = row["peers"]["onnxruntime"].get("error")
    return "" if error is None else f" (onnxruntime's optimizer: {error:.2g})"


class Judge:
    """Runs Tern's optimizer on models. `row` returns all results of one model as a dict of plain values."""

    def __init__(self, tern, options):
        self.tern, self.options = tern, options

    def row(self, model, all_feeds, found):
        row = {"model": model.name, "nodes": sum(graphs.ops(graphs.load(model.path)).values()), "peers": found,
               "tolerance": model.tolerance, "problems": []}
        with tempfile.TemporaryDirectory() as folder:
            try:
                self._fill(row, model, all_feeds, Path(folder))
            except child.Failure as failure:
                row["refused" if model.invalid else "failed"] = str(failure)
        if "failed" in row:
            row["problems"].append(row["failed"])
        elif model.invalid and "refused" not in row:
            row["problems"].append("accepts a file that violates ONNX")
        return row

    def _fill(self, row, model, all_feeds, folder):
        exported = folder / "optimised.onnx"
        report = self.tern.optimise(model.path, exported)
        row["tern"] = report
        row["exported"] = sum(graphs.ops(onnx.load(exported)).values())
        row["problems"] += node_problems(report["nodes_after"], row["peers"], model)
        row["error"] = child.call(_onnx_error, model, exported, all_feeds, limit=self.options.limit)
        if self.options.run or self.options.time:
            native = folder / "optimised.tern"
            self.tern.optimise(model.path, native)
            inputs = [save_inputs(feeds, folder / f"in_{k}") for k, feeds in enumerate(all_feeds)]
            if self.options.run and not graphs.is_random(graphs.load(model.path)):
                row["run_error"] = max(self._run_error(model, [exported, native], i, folder) for i in inputs)
            if self.options.time:
                self._time(row, model, native, inputs[0] + shape_options(all_feeds[0]))
        for key, engine in (("error", "onnxruntime"), ("run_error", "tern")):
            if (row.get(key) or 0.0) > model.tolerance:
                row["problems"].append(f"outputs in {engine} are {row[key]:.2g} from the original's{_usual(row)}")

    def _run_error(self, model, optimised, inputs, folder):
        def run(path):
            with tempfile.TemporaryDirectory(dir=folder) as out:
                return self.tern.run(path, inputs, Path(out))

        wanted = run(model.path)
        return max(outputs.distance(wanted, run(path)) for path in optimised)

    def _time(self, row, model, native, inputs):
        times = self.tern.times(model.path, native, inputs, self.options.rounds, self.options.seconds)
        noise = max(self.options.noise, times.spread)
        row["time"] = {"original_ms": times.original, "optimised_ms": times.optimised, "noise": noise}
        if times.ratio > 1 + noise:
            row["problems"].append(f"takes {times.ratio:.2f} of the original's time")
