"""tern.Pipeline: takes pictures, sounds and texts, and returns labels, boxes, text or vectors."""

import json
import os

from .errors import InvalidArgument, IoError, ModelNotFound
from .models import path_of


def _bytes(item, name):
    """Returns the bytes of an item: bytes, a text, or a path object, whose file is read."""
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, os.PathLike):
        try:
            with open(item, "rb") as file:
                return file.read()
        except OSError as error:
            raise IoError(f"input '{name}': cannot read '{os.fspath(item)}': {error.strerror}") from error
    try:
        return bytes(memoryview(item))
    except TypeError:
        raise InvalidArgument(f"input '{name}': an item is bytes, a str (a text) or a pathlib.Path (a file), "
                              f"not {type(item).__name__}") from None


def _result(arrays, text):
    return {**json.loads(text), **arrays} if text else dict(arrays)


class Pipeline:
    """A model with the steps of its pipeline.yaml (docs/guide/pipelines.md). Call it with the bytes of files, or with texts.

    >>> from pathlib import Path
    >>> pipeline = tern.Pipeline(digits)               # reads the pipeline.yaml beside the model
    >>> pipeline.inputs, pipeline.outputs
    (['image'], ['digit'])
    >>> answer = pipeline(Path(digits).parent / "samples/7_0.png")
    >>> answer["digit"][0]["label"]
    '7'

    An item is bytes, a `str` (a text) or a `pathlib.Path`, whose file is read. A list of items is a batch, and gives a list of
    answers. An answer is a dict from outputs to results: lists of dicts (labels, boxes, spans), a str, or a numpy array.
    Any number of threads may call one pipeline; the GIL is released while it runs.
    """

    def __init__(self, model, file="", *, threads=0, precision="fp32"):
        from . import _pipeline  # not at the top, because it loads the libraries of pictures and sound

        path = path_of(model)
        if not os.path.exists(path):
            raise ModelNotFound(f"there is no model '{path}'")
        self._pipeline = _pipeline.open(path, os.fspath(file), threads, precision)

    @property
    def inputs(self):
        """The names of the inputs."""
        return self._pipeline.input_names()

    @property
    def outputs(self):
        """The names of the outputs."""
        return self._pipeline.output_names()

    def __call__(self, item=None, *, timeout=None, **named):
        """Returns the answer for one item, or a list of answers for a list of items. `timeout` is in seconds."""
        if (item is None) == (not named):
            raise InvalidArgument(f"give either one item or the inputs by name ({', '.join(self.inputs)})")
        inputs = named or {self.inputs[0] if len(self.inputs) == 1 else "": item}
        lists = [isinstance(value, (list, tuple)) for value in inputs.values()]
        if any(lists) != all(lists):
            raise InvalidArgument("either all inputs are lists of items, or none")
        batch = {name: [_bytes(one, name) for one in (value if lists[0] else [value])] for name, value in inputs.items()}
        answers = [_result(*answer) for answer in self._pipeline._run(batch, timeout or 0.0)]
        return answers if lists[0] else answers[0]

    def __repr__(self):
        return f"tern.Pipeline({', '.join(self.inputs)} -> {', '.join(self.outputs)})"
