"""InferenceSession, OrtValue and IOBinding."""

import concurrent.futures
import json
import os
import time
import warnings

import numpy as np

from ..._tern import _profile
from ...errors import Error
from ...predictor import Predictor
from ._pybind_state import GraphOptimizationLevel, ModelMetadata, NodeArg, SessionOptions
from .errors import InvalidProtobuf, NotImplemented, loading_error, running_error
from .ort_value import IOBinding, OrtValue

__all__ = ["IOBinding", "InferenceSession", "OrtValue"]

LEVELS = {GraphOptimizationLevel.ORT_DISABLE_ALL: "none", GraphOptimizationLevel.ORT_ENABLE_BASIC: "basic",
          GraphOptimizationLevel.ORT_ENABLE_EXTENDED: "extended", GraphOptimizationLevel.ORT_ENABLE_LAYOUT: "layout",
          GraphOptimizationLevel.ORT_ENABLE_ALL: "layout"}


def check_providers(providers):
    """Warns about providers that Tern does not have, as onnxruntime does."""
    for provider in providers or ():
        name = provider[0] if isinstance(provider, (tuple, list)) else provider
        if not isinstance(name, str):
            raise ValueError(f"a provider must be a name or a pair of a name and options, got {provider!r}")
        if name != "CPUExecutionProvider":
            warnings.warn(f"the provider {name} is not available; Tern runs on the CPU", stacklevel=4)


def to_strings(value):
    """Converts the elements of an array of Python objects to str, except bytes. Returns any other value unchanged."""
    if getattr(value, "dtype", None) != object:
        return value
    texts = np.empty(value.size, object)
    texts[:] = [item if isinstance(item, (str, bytes)) else str(item) for item in value.ravel()]
    return texts.reshape(value.shape)


class InferenceSession:
    """Runs a model, with the interface of onnxruntime's class."""

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **kwargs):
        if not isinstance(path_or_bytes, (str, bytes, bytearray, memoryview, os.PathLike)):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        check_providers(providers)
        self._started_ns = time.perf_counter_ns()
        self._sess_options = sess_options if sess_options is not None else SessionOptions()
        try:
            self._predictor = self._load(path_or_bytes, self._sess_options)
        except Error as error:
            raise loading_error(error) from None
        self._inputs = [NodeArg(info) for info in self._predictor.inputs()]
        self._outputs = [NodeArg(info) for info in self._predictor.outputs()]
        self._names = [info.name for info in self._inputs]
        self._strings = [argument.name for argument in self._inputs if argument.type == "tensor(string)"]
        self._events = [] if self._sess_options.enable_profiling else None
        if self._events is not None:
            self._record("session_initialization", "Session", self._started_ns, time.perf_counter_ns() - self._started_ns)
        self._last_feed = None
        self._executor = None

    @staticmethod
    def _load(model, options):
        if isinstance(model, (bytes, bytearray, memoryview)) and len(model) == 0:
            raise InvalidProtobuf("the model is empty")
        settings = {"threads": options.intra_op_num_threads, "optimize": LEVELS[GraphOptimizationLevel(options.graph_optimization_level)]}
        if not (options._dims or options._initializers or options.optimized_model_filepath):
            return Predictor(model, **settings)
        from ...graph import Graph
        graph = Graph(model)
        for name, value in options._initializers.items():
            graph[name].set(value.numpy())
        if options._dims:
            known = {dim for value in graph.inputs for dim in value.info[3] or ()}
            graph.set_dims(**{name: size for name, size in options._dims.items() if name in known})
        if options.optimized_model_filepath:
            optimized = graph.clone()
            optimized.run_passes("extended" if settings["optimize"] == "layout" else settings["optimize"])
            optimized.save(options.optimized_model_filepath, contrib=True)
        return Predictor(graph, **settings)

    def get_session_options(self):
        return self._sess_options

    def get_inputs(self):
        return list(self._inputs)

    def get_outputs(self):
        return list(self._outputs)

    def get_overridable_initializers(self):
        return [NodeArg(info) for info in self._predictor.overridable()]

    def get_modelmeta(self):
        return ModelMetadata(self._predictor.metadata(), self._predictor._graph_name)

    def get_providers(self):
        return ["CPUExecutionProvider"]

    def get_provider_options(self):
        return {"CPUExecutionProvider": {}}

    def set_providers(self, providers=None, provider_options=None):
        check_providers(providers)

    def enable_fallback(self):
        """Does nothing: there is only one provider."""

    def disable_fallback(self):
        """Does nothing: there is only one provider."""

    def run(self, output_names, input_feed, run_options=None):
        """Returns the values of the named outputs, or of all if output_names is None or empty."""
        for value in input_feed.values():
            if type(value) is OrtValue:
                input_feed = {name: value.numpy() if type(value) is OrtValue else value for name, value in input_feed.items()}
                break
        if self._strings:
            input_feed = {name: to_strings(value) if name in self._strings else value for name, value in input_feed.items()}
        names = output_names or None
        results = self._run(input_feed, names, run_options)
        return list(results.values()) if names is None else [results[name] for name in names]

    def _run(self, feed, names, run_options=None, out=None):
        if self._events is not None or run_options is not None or out is not None:
            return self._run_with_options(feed, names, run_options, out)
        try:
            return self._predictor.run(feed, names)
        except Error as error:
            self._check_names(feed)
            raise running_error(error) from None

    def _run_with_options(self, feed, names, run_options, out):
        started = time.perf_counter_ns()
        cancel = run_options._cancel if run_options is not None else None
        tag = run_options.logid if run_options is not None else ""
        try:
            results = self._predictor.run(feed, names, out=out, cancel=cancel, tag=tag)
        except Error as error:
            self._check_names(feed)
            raise running_error(error) from None
        if self._events is not None:
            self._record("model_run", "Session", started, time.perf_counter_ns() - started)
            self._last_feed = dict(feed)
        return results

    def _check_names(self, feed):
        missing = [name for name in self._names if name not in feed]
        optional = {arg.name for arg in self._inputs if arg.type.startswith("optional")}
        if [name for name in missing if name not in optional]:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).") from None

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        return [OrtValue(value) for value in self.run(output_names, input_dict_ort_values, run_options)]

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """Runs in another thread, then calls callback(results, user_data, error). `error` is "" after a success."""
        if self._executor is None:
            self._executor = concurrent.futures.ThreadPoolExecutor(2, "tern")

        def work():
            try:
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as failure:  # noqa: BLE001  the callback reports it
                results, error = [], str(failure)
            callback(results, user_data, error)

        self._executor.submit(work)

    def io_binding(self):
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        iobinding._run(run_options)

    def run_with_ortvaluevector(self, *args, **kwargs):
        raise NotImplemented("run_with_ortvaluevector: use run_with_ort_values or io_binding")

    def get_profiling_start_time_ns(self):
        return self._started_ns

    def _record(self, name, category, started, duration, args=None):
        self._events.append({"name": name, "cat": category, "ph": "X", "pid": os.getpid(), "tid": 0, "args": args or {},
                             "ts": (started - self._started_ns) // 1000, "dur": duration // 1000})

    def end_profiling(self):
        """Writes the profile in Chrome's trace format and returns its path. The times of nodes are those of one more run."""
        if self._events is None:
            return ""
        if self._last_feed is not None:
            rows, _ = _profile(self._predictor, self._last_feed, 1, 1)
            at = time.perf_counter_ns()
            for name, op, kernel, output, _, _, ms, _, _ in rows:
                self._record(name, "Node", at, int(ms * 1e6), {"op_name": op, "kernel": kernel, "output": output})
                at += int(ms * 1e6)
        path = f"{self._sess_options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._events, file)
        self._events = None
        return path
