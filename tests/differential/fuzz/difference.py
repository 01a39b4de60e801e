"""An explained difference: which cases it covers and why the two engines may differ there."""

from dataclasses import dataclass


@dataclass
class Known:
    """`when(case)` says whether a case is covered. `fails` admits an engine that gives no answer at
    all. An entry that no case hits is reported as stale."""

    ops: list
    reason: str
    when: object
    fails: bool = False
    engine: str = "any"   # "reference": a fault of onnx.reference, never an excuse for Tern

    def explains(self, case, expected, answer, status):
        if case.op.key not in self.ops or (status == "failed") != self.fails:
            return False
        return bool(self.when(case))


def always(case):
    return True


def applying(entries, engine):
    return [e for e in entries if e.engine in ("any", engine)]
