"""What every engine under test answers."""

from dataclasses import dataclass


@dataclass
class Answer:
    """status: 'ran' with outputs to compare, 'matched' or 'mismatched' where the engine compared
    them itself, 'unsupported' when it said so in good order, 'failed' when it did not."""

    outputs: list | None = None
    status: str = "ran"
    message: str = ""
