"""Saves modules with torch.jit.save, runs them with Tern and compares with PyTorch."""

import pathlib
import sys
import tempfile
import unittest
import warnings

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import TernError, run_model, tern  # noqa: E402

warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)


def flatten(result, into=None):
    """Returns the tensors and numbers of a result in order, as arrays."""
    into = [] if into is None else into
    if isinstance(result, torch.Tensor):
        into.append(result.detach().numpy())
    elif isinstance(result, dict):
        for value in result.values():
            flatten(value, into)
    elif isinstance(result, (list, tuple)):
        for value in result:
            flatten(value, into)
    elif result is not None:
        into.append(np.array(result))
    return into


def input_names(model, inputs):
    """Returns the names and arrays of the inputs of forward. Tuples and lists have one input per item."""
    feeds = {}

    def add(name, value):
        if isinstance(value, torch.Tensor):
            feeds[name] = value.numpy()
        elif isinstance(value, dict):
            for key, item in value.items():
                add(key, item)
        elif hasattr(value, "_fields"):
            for field, item in zip(value._fields, value):
                add(f"{name}_{field}", item)
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                add(f"{name}_{i}", item)
        elif value is not None:
            kinds = {bool: np.bool_, int: np.int64, float: np.float32}
            feeds[name] = np.array(value, kinds[type(value)])

    names = [a.name for a in model.forward.schema.arguments][1:]
    for name, value in zip(names, inputs):
        add(name, value)
    return feeds


class ScriptCase(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name, "model.pt")

    def compare(self, model, *inputs, rtol=1e-4, atol=1e-5):
        """Runs a ScriptModule in PyTorch and in Tern with the same inputs."""
        torch.jit.save(model, self.path)
        loaded = torch.jit.load(self.path)
        copies = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
        with torch.no_grad():
            wanted = flatten(loaded(*copies))
        got = list(run_model(self.path, input_names(model, inputs)).values())
        self.assertEqual(len(got), len(wanted))
        for a, b in zip(got, wanted):
            self.assertEqual(a.shape, b.shape)
            self.assertEqual(a.dtype.kind, b.dtype.kind)
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=rtol, atol=atol)

    def scripted(self, module, *inputs, **tolerance):
        self.compare(torch.jit.script(module.eval()), *inputs, **tolerance)

    def traced(self, module, *inputs, **tolerance):
        self.compare(torch.jit.trace(module.eval(), inputs, check_trace=False), *inputs, **tolerance)

    def both(self, module, *inputs, **tolerance):
        with self.subTest("traced"):
            self.traced(module, *inputs, **tolerance)
        with self.subTest("scripted"):
            self.scripted(module, *inputs, **tolerance)


__all__ = ["ScriptCase", "TernError", "flatten", "input_names", "run_model", "tern"]
