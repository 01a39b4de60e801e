"""Counts the results of a suite, and parses the summary line that every test runner of the project prints last."""

import dataclasses
import re

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


@dataclasses.dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    @property
    def total(self):
        return self.passed + self.failed + self.skipped


def parse_summary(line):
    """Returns the counts in a summary line, or None if `line` is not a summary line."""
    match = SUMMARY.match(line.strip())
    return Counts(*map(int, match.groups())) if match else None


class SuiteError(Exception):
    """Raised when a suite cannot run at all, because its files are absent or a build failed."""
