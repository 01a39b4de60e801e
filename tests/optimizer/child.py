"""Calls a function in a forked child with a time limit, so that a crash or a hang affects only one result."""

import multiprocessing
import os
import re
import signal


class Failure(Exception):
    """The call has no result. The message of the exception is the reason, in one line."""


def one_line(text, limit=240):
    """Returns the text in one line. Paths are replaced by their file names, because their folders are temporary and
    would differ in every run."""
    return re.sub(r"\s+", " ", re.sub(r"(?<![\w.])/(?:[\w.-]+/)+", "", str(text))).strip()[:limit]


def _target(function, args, pipe):
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        pipe.send((function(*args), None))
    except Failure as failure:
        pipe.send((None, str(failure)))
    except Exception as error:
        pipe.send((None, one_line(f"{type(error).__name__}: {error}")))


def _death(code):
    return f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"exit status {code}"


def call(function, *args, limit):
    """Returns the result of `function`. Raises Failure if the function raises an exception, dies or exceeds the time
    limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_target, args=(function, args, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            raise Failure(f"time limit of {limit} s")
        result, reason = receiver.recv()
    except EOFError:
        process.join()
        raise Failure(_death(process.exitcode)) from None
    finally:
        process.kill()
        process.join()
    if reason is not None:
        raise Failure(reason)
    return result
