"""A drop-in replacement for the package onnxruntime: `import tern.onnxruntime as rt`.

It follows the Python API of onnxruntime for inference on CPUs. Models run on Tern. Options that have no meaning for Tern, such
as those of memory arenas, are accepted and have no effect. Whatever Tern cannot do, such as custom op libraries, raises
`NotImplemented`.

>>> import tern.onnxruntime as rt
>>> session = rt.InferenceSession(digits, providers=["CPUExecutionProvider"])
>>> session.get_inputs()[0]
NodeArg(name='image', type='tensor(float)', shape=['N', 1, 28, 28])
>>> session.run(["probabilities"], {"image": np.zeros((1, 1, 28, 28), np.float32)})[0].shape
(1, 10)
"""

from .capi._pybind_state import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, ModelMetadata, NodeArg, OrtAllocatorType,
                                 OrtArenaCfg, OrtDevice, OrtMemoryInfo, OrtMemType, RunOptions, SessionOptions,
                                 create_and_register_allocator, disable_telemetry_events, enable_telemetry_events,
                                 get_all_providers, get_available_providers, get_build_info, get_device, get_version_string,
                                 has_collective_ops, set_default_logger_severity, set_default_logger_verbosity, set_seed)
from .capi.onnxruntime_inference_collection import InferenceSession, IOBinding, OrtValue

__version__ = get_version_string()

__all__ = [
    "ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata", "NodeArg",
    "OrtAllocatorType", "OrtArenaCfg", "OrtDevice", "OrtMemType", "OrtMemoryInfo", "OrtValue", "RunOptions", "SessionOptions",
    "create_and_register_allocator", "disable_telemetry_events", "enable_telemetry_events", "get_all_providers",
    "get_available_providers", "get_build_info", "get_device", "get_version_string", "has_collective_ops", "preload_dlls",
    "set_default_logger_severity", "set_default_logger_verbosity", "set_seed",
]


def preload_dlls(cuda=True, cudnn=True, msvc=True, directory=None):
    """Does nothing: Tern loads no libraries of CUDA."""
