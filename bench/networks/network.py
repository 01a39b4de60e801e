"""The description of a network: how to build it and its inputs."""

import dataclasses
from collections.abc import Callable

import torch


@dataclasses.dataclass(frozen=True)
class Input:
    name: str
    dims: tuple  # a dim that growth may change is a (symbol, size) pair
    kind: str = "normal"  # normal | ids | ones
    high: int = 0  # upper bound of ids, exclusive

    def describe(self):
        """The entry in the zoo's index."""
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
    gain: float = 2.0  # variance of a weight times its fan-in: 2 before ReLU, 1 where a norm follows
    dynamo: bool = False  # the torch exporter to use
    for_growth: bool = False  # not part of the comparison


def image(size=224, name="image"):
    return (Input(name, (("batch", 1), 3, size, size)),)


PIXELS = image(name="pixel_values")  # names in transformers


def additive(mask):
    """Converts a mask of ones and zeros to an additive mask for attention scores: the older form, which every engine supports. MNN
    converts the form that transformers exports wrongly."""
    return (1.0 - mask[:, None, None, :].float()) * -10000.0


class Wrapped(torch.nn.Module):
    """A network of transformers: positional tensors in, the named results out."""

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
    """A Network from a configuration of transformers; `part` modifies it or selects a submodule."""

    def build():
        import transformers

        model_class = getattr(transformers, cls)
        config_object = model_class.config_class(**config)
        try:
            model = model_class._from_config(config_object, attn_implementation=attention)
        except ValueError:  # no attention, or not through this function
            model = model_class._from_config(config_object, attn_implementation="eager")
        return Wrapped(part(model) if part else model, [i.name for i in inputs], outputs, **(fixed or {}))

    return Network(name, build, inputs, outputs, gain=1.0, dynamo=dynamo)
