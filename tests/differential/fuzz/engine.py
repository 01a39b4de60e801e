"""The result type of every engine under test."""

from dataclasses import dataclass


@dataclass
class Answer:
    """`status` is 'ran' if the outputs are still to be compared, 'matched' or 'mismatched' if the engine compared them
    itself, 'unsupported' if the engine reported that it does not support the case, and 'failed' for any other error."""

    outputs: list | None = None
    status: str = "ran"
    message: str = ""
