"""The result type of every engine under test."""

from dataclasses import dataclass


@dataclass
class Answer:
    """status: 'ran' with outputs to compare, 'matched' or 'mismatched' if the engine compared them itself,
    'unsupported' for a regular refusal, 'failed' for anything else."""

    outputs: list | None = None
    status: str = "ran"
    message: str = ""
