"""Counts verdicts per operator and writes the report."""

import json
from collections import Counter, defaultdict

STATUSES = ("matched", "explained", "mismatched", "unsupported", "failed", "refused")
STALE_AFTER = 50  # an entry is stale if it covers at least 50 cases and the engines agree on all of them


class Report:
    def __init__(self, known):
        self.known = known
        self.ops = defaultdict(Counter)
        self.hits = Counter()
        self.agreed = Counter()
        self.findings = []
        self.refusals = defaultdict(Counter)
        self.unsupported = defaultdict(Counter)
        self.crashes = []

    def add(self, verdict):
        self.ops[verdict.op][verdict.status] += 1
        if verdict.known is not None:
            self.hits[verdict.known] += 1
        self.agreed.update(verdict.agreed)
        if verdict.status in ("mismatched", "failed"):
            self.findings.append(verdict)
        if verdict.status == "refused":
            self.refusals[verdict.op][verdict.message] += 1
            if verdict.message.startswith("onnxruntime crashed"):
                self.crashes.append(verdict.ident)
        if verdict.status == "unsupported":
            self.unsupported[verdict.op][verdict.message] += 1

    def cases(self, op):
        """Returns the number of cases that onnxruntime ran."""
        return sum(n for status, n in self.ops[op].items() if status != "refused")

    def totals(self):
        return {s: sum(c[s] for c in self.ops.values()) for s in STATUSES}

    def stale(self):
        """Returns the known differences for which the engines agree on all covered cases."""
        return [e for i, e in enumerate(self.known) if not self.hits[i] and self.agreed[i] >= STALE_AFTER]

    def as_json(self):
        return {
            "totals": {"cases": sum(self.cases(op) for op in self.ops),
                       "operators": sum(1 for op in self.ops if self.cases(op)), **self.totals()},
            "operators": {op: {"cases": self.cases(op), **{s: c[s] for s in STATUSES}} for op, c in sorted(self.ops.items())},
            "findings": [vars(v) for v in self.findings],
            "unsupported": {op: c.most_common(3) for op, c in sorted(self.unsupported.items())},
            "refusals": {op: c.most_common(3) for op, c in sorted(self.refusals.items())},
            "crashes": self.crashes,
            "known": [{"ops": e.ops, "reason": e.reason, "hits": self.hits[i], "agreed": self.agreed[i]}
                      for i, e in enumerate(self.known)],
            "stale": [{"ops": e.ops, "reason": e.reason} for e in self.stale()],
        }

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.as_json(), file, indent=1, ensure_ascii=False)

    def table(self):
        """Returns a table of the totals and of the operators that have no case, or that have mismatched, unsupported or
        failed cases."""
        lines = [f"{'operator':48}{'cases':>7}" + "".join(f"{s:>13}" for s in STATUSES)]
        for op, counts in sorted(self.ops.items()):
            if any(counts[s] for s in ("mismatched", "unsupported", "failed")) or not self.cases(op):
                lines.append(f"{op:48}{self.cases(op):>7}" + "".join(f"{counts[s]:>13}" for s in STATUSES))
        total = self.totals()
        ran = [op for op in self.ops if self.cases(op)]
        lines.append(f"{f'{len(ran)} operators':48}{sum(map(self.cases, ran)):>7}" + "".join(f"{total[s]:>13}" for s in STATUSES))
        return "\n".join(lines)
