"""tern.bench and tern.profile."""

import time

import numpy as np

from ._tern import Predictor as _Predictor
from ._tern import _bench, _profile
from .errors import InvalidArgument
from .graph import table
from .predictor import load
from .records import record


def random_inputs(predictor, dims=None, seed=0):
    """Returns random values for the inputs of a predictor. `dims` gives the sizes of open dims; others are 1.

    Floats are normally distributed, integers are 0 or 1.

    >>> random_inputs(tern.load(digits), {"N": 2})["image"].shape
    (2, 1, 28, 28)
    """
    rng = np.random.default_rng(seed)
    dims = dict(dims or {})
    symbols = {dim for info in predictor.inputs() for dim in info.shape or () if isinstance(dim, str)}
    unknown = sorted(set(dims) - symbols)
    if unknown:
        raise InvalidArgument(f"no input has a dim '{unknown[0]}'; open dims are: {', '.join(sorted(symbols)) or 'none'}")
    return {info.name: _random(info, dims, rng) for info in predictor.inputs()}


def _random(info, dims, rng):
    if info.kind != "tensor" or info.shape is None or info.dtype == "str":
        raise InvalidArgument(f"input '{info.name}' is {info.type}, for which there are no random values; pass `inputs`")
    shape = [dim if isinstance(dim, int) else dims.get(dim, 1) for dim in info.shape]
    try:
        dtype = np.dtype(info.dtype)
    except TypeError:
        raise InvalidArgument(f"input '{info.name}' is {info.type}, for which there are no random values; pass `inputs`") from None
    if dtype.kind in "fc":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 2, shape).astype(dtype)


_BenchFields = record("BenchResult", "latencies load_ms threads", "Measured times.")


class BenchResult(_BenchFields):
    """`latencies` are the times of all runs in ms, sorted. `load_ms` is None if a predictor was measured. `threads` is the option, or 0."""
    __slots__ = ()

    @property
    def median(self):
        return self.percentile(50)

    @property
    def mean(self):
        return sum(self.latencies) / len(self.latencies)

    @property
    def fastest(self):
        return self.latencies[0]

    @property
    def per_second(self):
        """Runs per second, one after the other."""
        return 1000 / self.mean

    def percentile(self, p):
        """Returns the p-th percentile of the latencies in ms, by nearest rank."""
        rank = -(-len(self.latencies) * p // 100)
        return self.latencies[min(max(int(rank), 1), len(self.latencies)) - 1]

    def _rows(self):
        rows = [("runs", len(self.latencies)), ("median", f"{self.median:.3f} ms"), ("fastest", f"{self.fastest:.3f} ms"),
                ("mean", f"{self.mean:.3f} ms"), ("90 %", f"{self.percentile(90):.3f} ms"), ("99 %", f"{self.percentile(99):.3f} ms"),
                ("runs per second", f"{self.per_second:.1f}")]
        return rows + ([("load", f"{self.load_ms:.1f} ms")] if self.load_ms is not None else [])

    def __repr__(self):
        return "\n".join(f"{name:>16}: {value}" for name, value in self._rows())

    def _repr_html_(self):
        return table(["", ""], self._rows())


def _loaded(model, options):
    if isinstance(model, _Predictor):
        if options:
            raise InvalidArgument(f"the option {next(iter(options))} is for loading a model, but a predictor is already loaded")
        return model, None
    started = time.perf_counter()
    predictor = load(model, **options)
    return predictor, (time.perf_counter() - started) * 1e3


def bench(model, inputs=None, *, dims=None, runs=0, seconds=2.0, warmup=3, **options):
    """Measures how long a model runs. Returns a `BenchResult`.

    `model` is a predictor, or what `tern.load` takes. A model that is not yet loaded is loaded with `options`, which are
    those of `tern.load`. Without `inputs`, random values are fed; `dims` gives the sizes of open dims, such as {"N": 8}.
    `runs` is the number of runs; 0 means as many as fit into `seconds`. The times do not include the conversion of inputs
    and outputs.

    >>> result = tern.bench(digits, runs=10, threads=1)
    >>> result.fastest <= result.median <= result.percentile(99)
    True
    """
    if runs < 0 or warmup < 0 or not 0 < seconds <= 86400:
        raise InvalidArgument(f"runs and warmup must not be negative, and seconds must be above 0 and at most 86400; got {runs}, {warmup} and {seconds}")
    predictor, load_ms = _loaded(model, options)
    feeds = random_inputs(predictor, dims) if inputs is None else inputs
    return BenchResult(sorted(_bench(predictor, feeds, warmup, runs, seconds)), load_ms, options.get("threads", 0))


NodeTime = record("NodeTime", "name op kernel output depth calls ms flops bytes", "The time of a node in its fastest run.")
OpTime = record("OpTime", "op ms percent calls", "The time of all nodes of an op.")
_ProfileFields = record("Profile", "nodes latencies", "Times of a model's nodes.")


class Profile(_ProfileFields):
    """The times of a model's nodes. `nodes` is a list of `NodeTime`, slowest first; `latencies` are the times of the runs in ms, sorted."""
    __slots__ = ()

    @property
    def ms(self):
        """The time of all nodes of the main graph, in ms."""
        return sum(node.ms for node in self.nodes if node.depth == 0)

    def by_op(self):
        """Returns a list of `OpTime`, slowest first."""
        sums = {}
        for node in self.nodes:
            if node.depth == 0:
                ms, calls = sums.get(node.op, (0.0, 0))
                sums[node.op] = ms + node.ms, calls + node.calls
        total = self.ms or 1
        return sorted((OpTime(op, ms, 100 * ms / total, calls) for op, (ms, calls) in sums.items()), key=lambda row: -row.ms)

    def __repr__(self):
        lines = [f"{len(self.nodes)} nodes, {self.ms:.3f} ms in {len(self.latencies)} runs", "", f"{'op':24} {'ms':>9} {'%':>6} {'calls':>6}"]
        lines += [f"{row.op[:24]:24} {row.ms:9.4f} {row.percent:6.1f} {row.calls:6}" for row in self.by_op()]
        lines += ["", f"{'node':32} {'op':20} {'kernel':20} {'ms':>9} {'GFLOP/s':>8}"]
        lines += [f"{n.name[:32]:32} {n.op[:20]:20} {n.kernel[:20]:20} {n.ms:9.4f} {_rate(n):>8}" for n in self.nodes[:20]]
        return "\n".join(lines + ([f"and {len(self.nodes) - 20} more"] if len(self.nodes) > 20 else []))

    def _repr_html_(self):
        by_op = [[row.op, f"{row.ms:.4f}", f"{row.percent:.1f}", row.calls] for row in self.by_op()]
        nodes = [[n.name, n.op, n.kernel, n.output, f"{n.ms:.4f}", _rate(n)] for n in self.nodes[:100]]
        return (f"<p>{len(self.nodes)} nodes, {self.ms:.3f} ms</p>" + table(["op", "ms", "%", "calls"], by_op)
                + table(["node", "op", "kernel", "output", "ms", "GFLOP/s"], nodes))


def _rate(node):
    return f"{node.flops * node.calls / node.ms * 1e-6:.1f}" if node.ms > 0 and node.flops else "-"


def profile(model, inputs=None, *, dims=None, runs=10, warmup=2, **options):
    """Measures the time of each node of a model. Returns a `Profile`. The arguments are those of `tern.bench` without `seconds`.

    >>> result = tern.profile(digits, runs=3)
    >>> result.by_op()[0].ms >= result.by_op()[-1].ms
    True
    """
    if not 1 <= runs <= 1_000_000 or warmup < 0:
        raise InvalidArgument(f"runs must be 1 to 1000000 and warmup 0 or more, got {runs} and {warmup}")
    predictor, _ = _loaded(model, options)
    rows, times = _profile(predictor, random_inputs(predictor, dims) if inputs is None else inputs, warmup, runs)
    return Profile(sorted((NodeTime(*row) for row in rows), key=lambda node: -node.ms), sorted(times))
