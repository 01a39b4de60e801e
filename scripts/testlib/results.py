"""Counts of a suite, and the summary line every test runner of the project ends with."""

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
    """The counts a summary line states, or None where `line` is not one."""
    match = SUMMARY.match(line.strip())
    return Counts(*map(int, match.groups())) if match else None


class SuiteError(Exception):
    """A suite that cannot run at all: its files are absent, a build failed."""
