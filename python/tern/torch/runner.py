"""Runs a translated graph with torch tensors."""

import threading

import numpy as np
import torch

from ..errors import InternalError, InvalidModel
from ..predictor import load

MAX_PROTOBUF = 2 ** 31 - 2 ** 20  # bytes; a protobuf message must be below 2 GiB
MAX_VARIANTS = 64                 # sets of weights for which a model stays loaded

MAX_ERROR, MAX_LOW_ERROR = 1e-2, 0.2  # relative errors that the first call accepts, for f32 products and for bf16 and fp16

_BITS = {torch.bfloat16: np.uint16}  # types of torch that numpy lacks
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by bytes


class Runner:
    """A callable that takes the list of a graph's arguments, which is the calling convention of AOTAutograd.

    The weights are constants of the loaded model. Every call compares the address and version of each weight with those of its
    argument. If one differs, the call takes another loaded model, or loads the model with the new weights.
    """

    _boxed_call = True

    def __init__(self, program, options, verify):
        self.program, self.options = program, options
        self.lock = threading.Lock()
        self.indices = [source for _, source in program.weights if isinstance(source, int)]
        self.variants = []  # in the order of their last use
        self.current = None
        self.verified = not verify

    def __call__(self, args):
        results = self._run(args)
        if not self.verified:
            verify(results, self.program.module(*args), self.options.get("precision", "fp32"))
            self.verified = True
        args.clear()
        return results

    def _run(self, args):
        variant = self.current
        if variant is None or not variant.matches(args):
            variant = self._choose(args)
        feeds = [_feed(args[index]) for index in self.program.inputs]
        values = list(variant.predictor.run(feeds).values())
        return [self._result(result, args, values) for result in self.program.results]

    def _choose(self, args):
        """Returns the loaded model for the weights among the arguments."""
        with self.lock:
            for variant in self.variants:
                if variant.matches(args):
                    self.variants.remove(variant)
                    break
            else:
                weights = [args[index] for index in self.indices]
                self.variants = [v for v in self.variants if not v.shares_memory(weights)][-MAX_VARIANTS + 1:]
                variant = _Variant(self.indices, weights, self._load(args))
            self.variants.append(variant)
            self.current = variant
            return variant

    def _load(self, args):
        options = dict(self.options)
        if options.get("threads") is None:
            options["threads"] = torch.get_num_threads()
        tensors = [source if isinstance(source, torch.Tensor) else args[source] for _, source in self.program.weights]
        return load(serialize(self.program, tensors), **options)

    @staticmethod
    def _result(result, args, values):
        if result[0] == "argument":
            return args[result[1]]
        if result[0] == "constant":
            return result[1]
        _, index, number = result
        return _tensor(values[index]) if number is None else number(values[index])


class _Variant:
    """A loaded model and the tensors of its weights. The tensors are kept, so that torch does not reuse their addresses."""

    def __init__(self, indices, weights, predictor):
        self.indices, self.weights, self.predictor = indices, weights, predictor
        self.state = [_state(tensor) for tensor in weights]
        self.copies = [tensor.clone() if tensor.is_inference() else None for tensor in weights]

    def matches(self, args):
        """Returns whether the arguments are these weights.

        The elements of tensors made in inference mode are compared, because torch does not count writes to such tensors.
        """
        return ([_state(args[index]) for index in self.indices] == self.state and
                all(copy is None or _same_bits(copy, args[index]) for copy, index in zip(self.copies, self.indices)))

    def shares_memory(self, weights):
        return any(tensor is other for tensor, other in zip(self.weights, weights))


def _state(tensor):
    """Returns a key that changes when torch records a write to the elements. Writes through `tensor.data` or numpy are not recorded."""
    return tensor.data_ptr(), -1 if tensor.is_inference() else tensor._version


def _same_bits(a, b):
    """Returns whether two tensors have the same type, shape and bits. NaN equals NaN, and 0 differs from -0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    bits = _INTEGERS.get(a.dtype.itemsize)
    return torch.equal(a, b) if bits is None else torch.equal(a.view(bits), b.view(bits))


def _feed(value):
    """Returns an argument of the graph as an object that Tern reads without a copy, if it is contiguous."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value, np.bool_ if isinstance(value, bool) else np.int64 if isinstance(value, int) else np.float32)
    value = value.detach().contiguous()
    return value if value.dtype in _BITS else value.numpy()


def _tensor(array):
    """Returns a torch tensor with the memory of an array."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def verify(results, expected, precision):
    """Fails if the results differ by more than rounding. This finds wrong translations, not a small loss of precision."""
    for index, (result, wanted) in enumerate(zip(results, expected)):
        if not isinstance(wanted, torch.Tensor):
            continue
        if result.shape != wanted.shape or result.dtype != wanted.dtype:
            raise InternalError(f"result {index} is {result.dtype}{list(result.shape)}, torch computes {wanted.dtype}{list(wanted.shape)}")
        if not wanted.is_floating_point() or not wanted.numel():
            continue
        low = precision in ("bf16", "auto") or wanted.dtype in (torch.float16, torch.bfloat16)
        finite = torch.isfinite(wanted)
        difference = torch.where(finite, result.double() - wanted.double(), 0).norm()
        norm = torch.where(finite, wanted.double(), 0).norm()
        if not difference <= (MAX_LOW_ERROR if low else MAX_ERROR) * norm + 1e-6:
            raise InternalError(f"result {index} differs from torch's by {difference:.3g}, at a norm of {norm:.3g}")


def serialize(program, tensors):
    """Returns the bytes of the program's ONNX model with these weights."""
    import onnx_ir
    from torch.onnx._internal.exporter._core import TorchTensor

    size = sum(tensor.nbytes for tensor in tensors)
    if size > MAX_PROTOBUF:
        raise InvalidModel(f"the weights have {size} bytes, the limit is {MAX_PROTOBUF}")
    try:
        for (value, _), tensor in zip(program.weights, tensors):
            value.const_value = TorchTensor(tensor.detach().contiguous(), name=value.name)
        return onnx_ir.to_proto(program.model).SerializeToString()
    finally:
        for value, _ in program.weights:
            value.const_value = None
