"""tern.load and tern.Predictor."""

from . import _tern
from .errors import InvalidArgument
from .records import record

# An input or output as the model declares it. `kind` is "tensor", "sequence", "map", "optional" or "unknown". `dtype` is a
# name such as "float32", "bfloat16" or "str", or "" if the value is not a tensor. In `shape`, an open dim is its name or None.
# `shape` is None if the rank is unknown. `type` is the text form, such as "f32[N,3]" or "seq(map(i64,f32[]))".
ValueInfo = record("ValueInfo", "name kind dtype shape type", "An input or output as the model declares it.")

# A pair of an input and an output whose value the predictor keeps between runs. `name` is the name of the input and of the
# state. `axis` is the growing axis, or -1 if the size is fixed.
StateInfo = record("StateInfo", "name output type axis", "An input whose value the predictor keeps between runs.")


class Predictor(_tern.Predictor):
    """A loaded model. Call it with arrays; it returns an `Outputs`, which is a dict from names to arrays.

    Arguments are positional, by name, or one dict:

    >>> predictor = tern.load(digits)
    >>> image = np.zeros((1, 1, 28, 28), np.float32)
    >>> by_position, by_name, by_dict = predictor(image), predictor(image=image), predictor({"image": image})

    Any number of threads may call one predictor at the same time. The GIL is released while the model runs. A
    C-contiguous numpy array, and any object with DLPack (a torch tensor on the CPU), is read without a copy. A list, a
    number or a data frame column is converted to the declared type. Types that numpy lacks (bf16, fp8, int4) are dtypes of
    the package ml_dtypes if that is installed, else integers with the same bits.
    """

    def __init__(self, model, **options):
        if isinstance(model, _tern.Predictor):
            if options:
                raise InvalidArgument(f"a clone has the options of its predictor; got {', '.join(options)}")
            super().__init__(model)
        else:
            super().__init__(model, options)

    def inputs(self):
        """Returns a list of `ValueInfo`, in the order of positional arguments."""
        return [ValueInfo(*info) for info in self._inputs()]

    def outputs(self):
        """Returns a list of `ValueInfo`."""
        return [ValueInfo(*info) for info in self._outputs()]

    def overridable(self):
        """Returns the constants that may be fed by name in place of their stored values."""
        return [ValueInfo(*info) for info in self._overridable()]

    def states(self):
        """Returns a list of `StateInfo`. See the option `states` of `tern.load`."""
        return [StateInfo(*info) for info in self._states()]

    def clone(self):
        """Returns a predictor that shares the weights and has its own memory and states."""
        return type(self)(self)

    async def predict_async(self, inputs=None, outputs=None, *, timeout=None, tag="", **named):
        """Runs the model in a thread of the event loop's executor. The arguments are those of `run`.

        If the task is cancelled, the run ends after its current step.
        """
        import asyncio  # not at the top, because the import takes milliseconds

        if named:
            inputs = {**(inputs or {}), **named}
        cancel = _tern.Cancel()
        loop = asyncio.get_running_loop()
        run = loop.run_in_executor(None, lambda: self.run(inputs, outputs, timeout=timeout, cancel=cancel, tag=tag))
        try:
            return await run
        except asyncio.CancelledError:
            cancel.set()
            raise

    def __repr__(self):
        def lines(role, infos):
            return [f"  {role} {info.name}: {info.type}" for info in infos]
        title = f"tern.Predictor({self.source!r})" if self.source else "tern.Predictor(bytes)"
        return "\n".join([title, *lines("input ", self.inputs()), *lines("output", self.outputs())])


def load(model, **options):
    """Loads a model and returns a `Predictor`.

    `model` is the path of a file or folder, a bytes-like object, an `onnx.ModelProto` or a `tern.Graph`. The format is detected from the contents. The
    weights of a .tern file stay in the mapped file; do not write into it.

    Options, with their defaults:

    threads=0          threads of one run; 0 means one per core
    parallel=0         limit for runs at the same time; 0 means the number of cores; further calls wait
    optimize="layout"  "none", "basic", "extended" or "layout"
    precision="fp32"   "bf16" rounds operands of matrix products, convolutions, attention and recurrent layers to bf16; "auto"
                       does so where that is measured to be faster; "fast" permits fp32 algorithms with errors above 1e-6
    batch=0            overrides the fixed batch size of a model
    plan_cache=8       number of input shapes whose plans are cached
    memory_limit=0     limit in bytes for intermediate values; 0 means the memory of the machine
    collect_limit=0    limit in bytes for the outputs that a loop collects
    tune_ms=0          time budget in milliseconds for measuring kernels
    cache_dir=None     folder of the measurements; "" means that they are not stored
    states=None        "auto", "none" or "past=present,…": inputs whose values the predictor keeps between runs
    reference=False    runs the slow reference evaluator
    weights=""         file with the weights, for formats that keep them in a file of their own, such as Caffe's
    signature=""       entry point, for formats with several, such as SavedModels; "" means the default one
    input_types={}     dict from inputs to types such as "f32[N,3,224,224]", for formats that declare none, such as TorchScript

    >>> tern.load("missing.onnx")
    Traceback (most recent call last):
    tern.errors.ModelNotFound: ...
    """
    return Predictor(model, **options)
