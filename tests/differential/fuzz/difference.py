"""Describes an explained difference: which cases it covers, and why the two engines differ in them."""

from dataclasses import dataclass


@dataclass
class Known:
    """`when(case)` returns whether the entry covers a case. The report calls an entry stale if the engines agree on
    all covered cases."""

    ops: list
    reason: str
    when: object

    def explains(self, case):
        return case.op.key in self.ops and bool(self.when(case))


def always(case):
    return True
