"""Reads the processor time and memory of a server and its child processes from /proc."""

import os
import pathlib
import time

TICK = 1 / os.sysconf("SC_CLK_TCK")


def tree(pid):
    """Returns the ids of the process and all its descendants."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += tree(int(child))
    return found


def _cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def cpu_seconds(pid):
    """Returns the user and system time of all threads of the process and its descendants."""
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


def wake_up_p99_ms(seconds=1.0):
    """Returns the p99 delay in ms of a process that sleeps for 1 ms. The delay shows how busy the machine is. No server can have a
    lower p99 latency at the same time."""
    late, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        time.sleep(0.001)
        late.append((time.monotonic() - begin) * 1e3 - 1)
    return sorted(late)[int(len(late) * 0.99)]
