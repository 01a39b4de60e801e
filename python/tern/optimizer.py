"""tern.optimize."""

from .graph import Graph, table
from .records import record

_Fields = record("OptimizeReport", "level nodes_before nodes_after hits stages warnings milliseconds", "The effect of an optimization.")


class OptimizeReport(_Fields):
    """What the optimizer did: `hits` is a dict from rules and passes to the number of their changes."""
    __slots__ = ()

    def __repr__(self):
        lines = [f"level {self.level}: {self.nodes_before} nodes became {self.nodes_after} in {self.milliseconds:.1f} ms"]
        lines += [f"  {count:5} x {name}" for name, count in self._ordered()]
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.warnings)])

    def _ordered(self):
        return sorted(self.hits.items(), key=lambda item: (-item[1], item[0]))

    def _repr_html_(self):
        head = f"<p>level {self.level}: {self.nodes_before} nodes became {self.nodes_after} in {self.milliseconds:.1f} ms</p>"
        return head + table(["rule or pass", "changes"], self._ordered())


def optimize(model, level="extended", *, only=(), disable=(), enable=(), stop_after=""):
    """Optimizes a model and returns (graph, report).

    `model` is a path, a bytes-like object, or a `Graph`, which is not changed. `level` is "none", "basic", "extended" or
    "layout". `only`, `disable` and `enable` are names of rules, passes or groups, as `tern passes` lists them.

    >>> graph, report = tern.optimize(digits)
    >>> len(graph) <= report.nodes_before
    True
    """
    graph = model.clone() if isinstance(model, Graph) else Graph(model)
    before = len(graph)
    hits, stages, warnings, ms = graph.run_passes(level, only=list(only), disable=list(disable), enable=list(enable),
                                                  stop_after=stop_after)
    return graph, OptimizeReport(level, before, len(graph), hits, stages, [*graph.warnings, *warnings], ms)
