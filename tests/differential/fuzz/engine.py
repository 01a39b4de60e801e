"""The result type of every engine under test."""

from dataclasses import dataclass


@dataclass
class Answer:
    """`status` is one of:
    'ran': `outputs` are the engine's outputs, which the caller must compare;
    'matched', 'mismatched': the engine has compared its outputs itself;
    'unsupported': the engine reported that it does not support the case;
    'failed': any other error."""

    outputs: list | None = None
    status: str = "ran"
    message: str = ""
