"""Runs models with LiteRT, and compares Tern's results with its results."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import run_model  # noqa: E402

from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: E402


def interpreter(model, reference=True, threads=1):
    """LiteRT with its reference kernels, or with its fastest ones. Operators without a reference kernel use the fast one."""
    def make(kind):
        return Interpreter(model_path=str(model), experimental_op_resolver_type=kind, num_threads=threads)
    if not reference:
        return make(OpResolverType.AUTO)
    try:
        return make(OpResolverType.BUILTIN_REF)
    except ValueError:
        return make(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)


def unique(names):
    """The names that Tern gives to inputs, then outputs."""
    taken, out = set(), []
    for name in names:
        fresh, i = name, 1
        while fresh in taken:
            fresh, i = f"{name}_{i}", i + 1
        taken.add(fresh)
        out.append(fresh)
    return out


def names_of(lite):
    inputs = [d["name"] for d in lite.get_input_details()]
    outputs = [d["name"] for d in lite.get_output_details()]
    names = unique(inputs + outputs)
    return names[:len(inputs)], names[len(inputs):]


def run_lite(lite, arrays, resize=True):
    """Feeds the arrays in the order of the inputs. Returns the outputs in order."""
    details = lite.get_input_details()
    if resize:
        for d, a in zip(details, arrays):
            if list(d["shape"]) != list(a.shape):
                lite.resize_tensor_input(d["index"], a.shape)
    lite.allocate_tensors()
    for d, a in zip(lite.get_input_details(), arrays):
        lite.set_tensor(d["index"], a)
    lite.invoke()
    return [lite.get_tensor(d["index"]) for d in lite.get_output_details()]


def random_input(detail, rng, shape=None):
    """Numbers of the input's type. Floats are normally distributed."""
    shape = list(detail["shape"]) if shape is None else shape
    dtype = np.dtype(detail["dtype"])
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.itemsize == 1 else (0, 10)
    return rng.integers(low, high + 1, shape).astype(dtype)


def run_both(model, seed=0, args=(), arrays=None, reference=True):
    """Runs a model on random inputs. Returns pairs (name, Tern's result, LiteRT's result)."""
    lite = interpreter(model, reference)
    rng = np.random.default_rng(seed)
    arrays = arrays or [random_input(d, rng) for d in lite.get_input_details()]
    wanted = run_lite(lite, arrays)
    inputs, outputs = names_of(lite)
    got = run_model(model, dict(zip(inputs, arrays)), *args)
    return [(name, got[name], array) for name, array in zip(outputs, wanted)]


def difference(got, wanted):
    """The largest difference: in steps for integers, relative to the largest magnitude for floats."""
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    if got.dtype != wanted.dtype:
        return f"type {got.dtype}, not {wanted.dtype}"
    if wanted.size == 0:
        return 0
    if wanted.dtype.kind in "fc":
        return float(np.max(np.abs(got - wanted)) / max(1e-6, float(np.max(np.abs(wanted)))))
    return int(np.max(np.abs(got.astype(np.int64) - wanted.astype(np.int64))))
