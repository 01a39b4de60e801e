"""The function that torch.compile calls for each graph."""

import warnings

import torch
from torch._functorch.aot_autograd import aot_module_simplified

from ..errors import Error, InvalidArgument, Unsupported
from ..predictor import load
from .runner import Runner
from .translate import NotTranslated, decompositions, translate


class TernWarning(UserWarning):
    """Warns that torch runs a graph, because Tern cannot. The text gives the reason."""


def backend(graph, examples, *, options=None, **others):
    """Returns a function that runs `graph`, a torch.fx.GraphModule. `examples` are its arguments."""
    if others:
        raise InvalidArgument(f"torch.compile(backend=\"tern\") has no argument '{next(iter(others))}'; give options={{...}}")
    options = dict(options or {})
    fallback, verify = options.pop("fallback", True), options.pop("verify", True)
    _check(options)
    try:
        _check_examples(examples)
        return _Compiled(graph, examples, options, fallback, verify)
    except NotTranslated as error:
        return _fall_back(graph, error, fallback)


class _Compiled:
    """Runs one graph. The first call loads the model, because the weights are known only then."""

    def __init__(self, graph, examples, options, fallback, verify):
        self.graph, self.fallback = graph, fallback

        def compile_inference(aten, _):
            return Runner(translate(aten, _static_indices()), options, verify)

        self.run = aot_module_simplified(graph, examples, fw_compiler=_training, inference_compiler=compile_inference,
                                         decompositions=decompositions())

    def __call__(self, *args):
        try:
            return self.run(*args)
        except Error as error:  # the load or the run failed, and no argument has been changed
            self.run = _fall_back(self.graph, error, self.fallback)
            return self.run(*args)


def _static_indices():
    """Returns the indices of the arguments that are parameters and buffers, and that the graph does not write."""
    metadata = torch._guards.TracingContext.get().fw_metadata
    return [i for i in metadata.static_input_indices if not metadata.input_info[i].mutates_data]


def _training(_, __):
    raise NotTranslated("gradients are required")


def _check_examples(examples):
    """Refuses tensors that need gradients, and tensors on other devices. The graph itself does not show these properties."""
    tensors = [value for value in examples if isinstance(value, torch.Tensor)]
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        raise NotTranslated("gradients are required; call the model in torch.no_grad() or torch.inference_mode() to run it with Tern")
    devices = sorted({str(tensor.device) for tensor in tensors if tensor.device.type != "cpu"})
    if devices:
        raise NotTranslated(f"the graph has tensors on {', '.join(devices)}; Tern runs on the CPU")


def _fall_back(graph, error, fallback):
    """Returns the function that runs the graph with torch, or raises the reason why Tern cannot run it."""
    if not fallback:
        raise Unsupported(f"Tern cannot run a graph of torch.compile: {error}") from error
    warnings.warn(f"torch runs a graph of torch.compile(backend=\"tern\"), because Tern cannot: {error}", TernWarning, stacklevel=2)
    return graph.forward


def _check(options):
    """Raises InvalidArgument if an option is not one of `tern.load` or has a bad value."""
    from ..graph import Graph

    probe = Graph.parse("graph @probe(%x: f32[1]) -> (%y) {\n  %y = Relu(%x)\n}")
    load(probe, **options)
