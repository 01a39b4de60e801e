"""Options and descriptions: the classes that onnxruntime's extension module defines."""

import enum
import warnings

from ..._tern import Cancel
from .errors import InvalidArgument, NotImplemented

COMPATIBLE_VERSION = "1.31.1"  # the version of onnxruntime whose API this package follows

# The C++ name of each element type in onnxruntime's type strings, by the name of the dtype.
ELEMENTS = {"float32": "float", "float64": "double", "float16": "float16", "bfloat16": "bfloat16", "int8": "int8", "int16": "int16",
            "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
            "bool": "bool", "str": "string", "complex64": "complex64", "complex128": "complex128", "int4": "int4", "uint4": "uint4",
            "float8_e4m3fn": "float8e4m3fn", "float8_e4m3fnuz": "float8e4m3fnuz", "float8_e5m2": "float8e5m2",
            "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e8m0fnu": "float8e8m0", "float4_e2m1fn": "float4e2m1", "int2": "int2",
            "uint2": "uint2"}
# The C++ name of each element type, by its name in Tern's text form of types.
SHORT = {"f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i16": "int16", "i32": "int32",
         "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool", "string": "string",
         "c64": "complex64", "c128": "complex128"}


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtAllocatorType(enum.IntEnum):
    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    CPU_INPUT = -2
    CPU_OUTPUT = -1
    DEFAULT = 0


class SessionOptions:
    """Options of a session. Only those about intra-op threads, optimization, profiling, dims and initializers have an effect."""

    # As in onnxruntime, an attribute that does not exist cannot be set.
    __slots__ = ("enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "enable_profiling", "execution_mode", "execution_order",
                 "graph_optimization_level", "inter_op_num_threads", "intra_op_num_threads", "log_severity_level", "log_verbosity_level",
                 "logid", "optimized_model_filepath", "profile_file_prefix", "use_deterministic_compute", "use_per_session_threads",
                 "_config", "_dims", "_initializers")

    def __init__(self):
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.inter_op_num_threads = 0
        self.intra_op_num_threads = 0
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "onnxruntime_profile_"
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        self._config = {}
        self._dims = {}
        self._initializers = {}

    def add_session_config_entry(self, key, value):
        self._config[str(key)] = str(value)

    def get_session_config_entry(self, key):
        if key not in self._config:
            raise InvalidArgument(f"SessionOptions does not have configuration with key: {key}")
        return self._config[key]

    def add_free_dimension_override_by_name(self, name, size):
        """Sets the size of a symbolic dim of the inputs."""
        self._dims[name] = int(size)

    def add_free_dimension_override_by_denotation(self, denotation, size):
        raise NotImplemented("dims can be overridden by name, not by denotation")

    def add_initializer(self, name, ort_value):
        """Replaces a constant of the model."""
        self._initializers[name] = ort_value

    def add_external_initializers(self, names, ort_values):
        self._initializers.update(zip(names, ort_values))

    def register_custom_ops_library(self, path):
        raise NotImplemented(f"'{path}': custom op libraries of onnxruntime cannot be loaded")

    def add_provider(self, name, options=None):
        if name != "CPUExecutionProvider":
            warnings.warn(f"the provider {name} is not available; Tern runs on the CPU", stacklevel=2)

    def has_providers(self):
        return False


class RunOptions:
    """Options of one run. Setting `terminate` to True from another thread ends the run."""

    # As in onnxruntime, an attribute that does not exist cannot be set.
    __slots__ = ("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "training_mode", "_cancel",
                 "_config")

    def __init__(self):
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.training_mode = False
        self._cancel = Cancel()
        self._config = {}

    @property
    def terminate(self):
        return self._cancel.is_set()

    @terminate.setter
    def terminate(self, on):
        if on:
            self._cancel.set()
        else:
            self._cancel.clear()

    def add_run_config_entry(self, key, value):
        self._config[str(key)] = str(value)

    def get_run_config_entry(self, key):
        if key not in self._config:
            raise InvalidArgument(f"RunOptions does not have configuration with key: {key}")
        return self._config[key]


class NodeArg:
    """An input or output: its name, its type ("tensor(float)") and its shape, a list of ints, names and None."""

    def __init__(self, info):
        self.name = info.name
        self.type = f"tensor({ELEMENTS[info.dtype]})" if info.kind == "tensor" and info.dtype else type_string(info.type)
        self.shape = list(info.shape or ())

    def __repr__(self):
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


def type_string(text):
    """Returns onnxruntime's name of a type.

    >>> type_string("seq(map(i64,f32[]))")
    'seq(map(int64,tensor(float)))'
    """
    if text.startswith("map("):
        key, _, element = text[4:-1].partition(",")
        return f"map({SHORT.get(key, key)},{type_string(element)})"
    for container in ("seq", "optional"):
        if text.startswith(container + "("):
            return f"{container}({type_string(text[len(container) + 1:-1])})"
    element = text.partition("[")[0]
    return f"tensor({SHORT.get(element, element)})"


class ModelMetadata:
    """The metadata that the file of the model has."""

    def __init__(self, metadata, graph_name):
        def own(key):
            return metadata.get("onnx:" + key, "")
        self.producer_name = own("producer_name")
        self.graph_name = graph_name
        self.domain = own("domain")
        self.description = own("doc_string")
        self.graph_description = ""
        self.version = int(own("model_version") or 0)
        self.custom_metadata_map = {key: value for key, value in metadata.items() if not key.startswith("onnx:")}


class OrtDevice:
    """A device. Tern runs only on the CPU."""

    def __init__(self, name="cpu", device_id=0):
        if name.lower() != "cpu":
            raise NotImplemented(f"the device '{name}' is not available; Tern runs on the CPU")
        self._id = device_id

    @staticmethod
    def make(ort_device_name, device_id=0, vendor_id=-1):
        return OrtDevice(ort_device_name, device_id)

    @staticmethod
    def cpu():
        return 0

    def device_id(self):
        return self._id

    def device_type(self):
        return 0


class OrtMemoryInfo:
    """A place of memory. Tern has only the memory of the CPU."""

    def __init__(self, name="Cpu", allocator_type=OrtAllocatorType.ORT_ARENA_ALLOCATOR, device_id=0, mem_type=OrtMemType.DEFAULT):
        self.name, self.allocator_type, self.device_id, self.mem_type = name, allocator_type, device_id, mem_type


class OrtArenaCfg:
    """Options of an arena. They have no effect."""

    def __init__(self, *args):
        self.args = args


def create_and_register_allocator(memory_info, arena_cfg=None):
    """Does nothing: Tern plans memory itself."""


def get_all_providers():
    return ["CPUExecutionProvider"]


def get_available_providers():
    return ["CPUExecutionProvider"]


def get_device():
    return "CPU"


def get_build_info():
    from ..._tern import __version__
    return f"Tern {__version__}"


def get_version_string():
    """Returns the version of onnxruntime whose API this package follows."""
    return COMPATIBLE_VERSION


def has_collective_ops():
    return False


def set_default_logger_severity(level):
    """Does nothing: Tern has no log. tern.Predictor.warnings() returns the warnings of a model."""


def set_default_logger_verbosity(level):
    """Does nothing: Tern has no log."""


def set_seed(seed):
    """Does nothing: random ops take their seed from the model."""


def enable_telemetry_events():
    """Does nothing: Tern has no telemetry."""


def disable_telemetry_events():
    """Does nothing: Tern has no telemetry."""
