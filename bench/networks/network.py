"""Describes the inputs of a network and how to build it."""

import dataclasses
from collections.abc import Callable

import torch


@dataclasses.dataclass(frozen=True)
class Input:
    name: str
    dims: tuple  # sizes; a dim whose size bench/growth varies is a pair (symbol, size)
    kind: str = "normal"  # normal | ids | ones
    high: int = 0  # upper bound of ids, exclusive

    def describe(self):
        """Returns the entry of this input in the zoo's index."""
        sizes = [d[1] if isinstance(d, tuple) else d for d in self.dims]
        symbols = {str(axis): d[0] for axis, d in enumerate(self.dims) if isinstance(d, tuple)}
        dtype = "float32" if self.kind == "normal" else "int64"
        return {"name": self.name, "dtype": dtype, "dims": sizes, "symbols": symbols, "kind": self.kind, "high": self.high}


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    build: Callable[[], torch.nn.Module]
    inputs: tuple
    outputs: tuple = ("output",)
    gain: float = 2.0  # the variance of a weight is gain / fan-in; use 2 before ReLU and 1 before a norm
    dynamo: bool = False  # export with torch's dynamo exporter instead of the TorchScript exporter
    for_growth: bool = False  # used by bench/growth only, not by bench/compare


def image(size=224, name="image"):
    return (Input(name, (("batch", 1), 3, size, size)),)


PIXELS = image(name="pixel_values")  # the name of the input in transformers


def additive(mask):
    """Converts a mask of ones and zeros to an additive mask for attention scores. Every engine supports an additive
    mask. MNN's converter produces wrong results for the mask that transformers exports by default."""
    return (1.0 - mask[:, None, None, :].float()) * -10000.0


class Wrapped(torch.nn.Module):
    """Wraps a network of transformers. Accepts positional tensors, which `names` names. Returns a tuple of those results that
    `results` names."""

    def __init__(self, model, names, results, **fixed):
        super().__init__()
        self.model, self.names, self.results, self.fixed = model, names, results, fixed

    def forward(self, *tensors):
        named = dict(zip(self.names, tensors))
        if "attention_mask" in named:
            named["attention_mask"] = additive(named["attention_mask"])
        found = self.model(**named, **self.fixed, return_dict=True)
        return tuple(found[name] for name in self.results)


def transformers_network(name, cls, inputs, outputs=("logits",), dynamo=False, fixed=None, part=None, attention="sdpa",
                         **config):
    """Returns a Network that is built from a configuration of transformers. `part` modifies the model or selects a
    submodule."""

    def build():
        import transformers

        model_class = getattr(transformers, cls)
        config_object = model_class.config_class(**config)
        try:
            model = model_class._from_config(config_object, attn_implementation=attention)
        except ValueError:  # the model has no attention, or no attention of this implementation
            model = model_class._from_config(config_object, attn_implementation="eager")
        return Wrapped(part(model) if part else model, [i.name for i in inputs], outputs, **(fixed or {}))

    return Network(name, build, inputs, outputs, gain=1.0, dynamo=dynamo)
