"""Processor time and memory of a server, with its child processes, from /proc."""

import os
import pathlib

TICK = 1 / os.sysconf("SC_CLK_TCK")


def tree(pid):
    """The process and all its descendants."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += tree(int(child))
    return found


def _cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def cpu_seconds(pid):
    """User and system time of all threads of the process and its descendants."""
    return sum(_cpu_seconds(each) for each in tree(pid))


def _resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resident_mb(pid):
    return sum(_resident(each) for each in tree(pid))


def load_average():
    return os.getloadavg()[0]


def busy_seconds():
    """Processor time of all programs on the machine since it started."""
    fields = list(map(int, pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) * TICK
