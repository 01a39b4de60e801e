"""Runs a test program as a child process. Prints its output, limits its time and parses its summary line."""

import os
import signal
import subprocess
import threading

from .results import Counts, parse_summary

TIME_LIMIT_S = 1800
RUNNING = "RUN "  # prefix of the line that names a test before it runs
QUIET_PREFIXES = ("PASS", "SKIP", RUNNING)  # lines with these prefixes are shown only with --verbose


def say(text):
    print(f"  {text}", flush=True)


def describe_exit(code):
    """Returns 'exit code 3' or 'killed by SIGSEGV'."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def stream(command, env=None, on_line=say, time_limit_s=TIME_LIMIT_S, cwd=None):
    """Runs `command`, calls `on_line` with each line of its output, and returns its exit code.

    A child that exceeds the time limit is killed together with the processes it started.
    """
    child = subprocess.Popen([str(part) for part in command], env=env, cwd=cwd, text=True, errors="replace",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)

    def kill_group():
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def expire():
        say(f"FAIL {command[0]}: over the time limit of {time_limit_s} s")
        kill_group()

    timer = threading.Timer(time_limit_s, expire)
    timer.start()
    try:
        for line in child.stdout:
            on_line(line.rstrip("\n"))
        return child.wait()
    except BaseException:
        kill_group()
        child.wait()
        raise
    finally:
        timer.cancel()


def run_with_summary(command, env=None, verbose=False, cwd=None):
    """Runs a test runner that prints a summary line. Returns the counts in that line.

    If the runner exits with an error but counts no failure, or if it counts no test, adds one failure. If the runner
    crashes in a test that it has named with RUNNING, the message contains the name.
    """
    counts, running = None, ""

    def on_line(line):
        nonlocal counts, running
        counts = parse_summary(line) or counts
        if line.startswith(QUIET_PREFIXES):
            running = line.removeprefix(RUNNING) if line.startswith(RUNNING) else ""
        if parse_summary(line) is None and (verbose or not line.startswith(QUIET_PREFIXES)):
            say(line)

    names = [os.path.basename(str(part)) for part in command]
    name = names[1] if names[0].startswith("python") else names[0]
    code = stream(command, env=env, on_line=on_line, cwd=cwd)
    if counts is None:
        say(f"FAIL {f'{name} in {running}' if running else name}: no summary line ({describe_exit(code)})")
        return Counts(failed=1)
    if code != 0 and counts.failed == 0:
        say(f"FAIL {name}: counted no failure, but ended with {describe_exit(code)}")
        return counts + Counts(failed=1)
    if counts.total == 0:
        say(f"FAIL {name}: ran no test")
        return Counts(failed=1)
    return counts
