"""An explained difference: which cases it covers and why the two engines may differ there."""

from dataclasses import dataclass


@dataclass
class Known:
    """`when(case)`: whether a case is covered. An entry that no case hits is reported as stale."""

    ops: list
    reason: str
    when: object

    def explains(self, case):
        return case.op.key in self.ops and bool(self.when(case))


def always(case):
    return True
