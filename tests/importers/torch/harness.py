"""Exports modules with torch.export, runs them with tern and compares the results with those of PyTorch."""

import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import run_model  # noqa: E402

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
warnings.simplefilter = lambda *args, **options: None  # unittest would show the warnings of torch again


class Function(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def to_numpy(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().contiguous()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return np.asarray(value)


def flat(tree):
    return [v for v in torch.utils._pytree.tree_leaves(tree)]


def output_names(program):
    """Returns the names that outputs have in Tern, without the suffixes that make them unique: the keys that lead to the
    output, or the name in the program. The path to an output begins at the first key that is not an index."""
    signature = [s.arg.name for s in program.graph_signature.output_specs if s.kind.name == "USER_OUTPUT"]
    tree = torch.utils._pytree.tree_unflatten(signature, program.call_spec.out_spec)
    names = []
    for path, name in torch.utils._pytree.tree_flatten_with_path(tree)[0]:
        keys = [(isinstance(key, torch.utils._pytree.SequenceKey), re.sub(r"\W", "", str(key))) for key in path]
        while keys and keys[0][0]:
            del keys[0]
        names.append("_".join(text for _, text in keys) or name)
    return names


def run_program(program, args, kwargs, *options, keep=None):
    """Saves the program, runs it with tern, and returns the list of results in the order of the program's outputs."""
    with tempfile.TemporaryDirectory() as folder:
        path = keep or pathlib.Path(folder, "model.pt2")
        torch.export.save(program, path)
        values = [v for v in flat((args, kwargs or {}))]
        kinds = [s for s in program.graph_signature.input_specs if s.kind == torch.export.graph_signature.InputKind.USER_INPUT]
        feeds = {}
        for spec, value in zip(kinds, values, strict=True):
            if isinstance(spec.arg, (torch.export.graph_signature.TensorArgument, torch.export.graph_signature.SymIntArgument)):
                feeds[spec.arg.name] = to_numpy(value)
        return run_model(path, feeds, *options)


def compare(test, wanted, got, rtol, atol):
    """`wanted` are the results of PyTorch as a tree; `got` maps names to arrays, in order."""
    wanted = [to_numpy(w) for w in flat(wanted) if w is not None]
    test.assertEqual(len(wanted), len(got))
    for w, (name, g) in zip(wanted, got.items()):
        test.assertEqual(w.shape, g.shape, name)
        if w.dtype.kind == "f":
            test.assertEqual(g.dtype.kind, "f", name)
            np.testing.assert_allclose(g.astype("f8"), w.astype("f8"), rtol=rtol, atol=atol, err_msg=name)
        else:
            test.assertEqual(w.dtype, g.dtype, name)
            np.testing.assert_array_equal(g, w, err_msg=name)


def check(test, module, args, kwargs=None, dynamic=None, decompose=False, rtol=1e-3, atol=1e-5, more=()):
    """Exports and compares. `more` are further arguments of other sizes, for programs with dynamic shapes."""
    if not isinstance(module, torch.nn.Module):
        module = Function(module)
    module = module.eval()
    copies = torch.utils._pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, (args, kwargs))
    with torch.no_grad():
        program = torch.export.export(module, *copies, dynamic_shapes=dynamic, strict=False)
    if decompose:
        program = program.run_decompositions()
    for arguments in (args, *more):
        copies = torch.utils._pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, arguments)
        with torch.no_grad():
            wanted = module(*copies, **(kwargs or {}))
        compare(test, wanted, run_program(program, arguments, kwargs), rtol, atol)
