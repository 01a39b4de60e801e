"""OrtValue and IOBinding: values in the memory of the CPU."""

import ctypes

import numpy as np

from ._pybind_state import ELEMENTS, OrtDevice
from .errors import InvalidArgument

# ONNX's numbers of element types.
ONNX_NUMBERS = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "object", 9: "bool", 10: "float16",
                11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16"}
NUMBER_OF = {name: number for number, name in ONNX_NUMBERS.items()}


def to_dtype(element_type):
    """Returns the dtype for a numpy type, a dtype or ONNX's number of an element type."""
    if isinstance(element_type, int):
        if element_type not in ONNX_NUMBERS:
            raise InvalidArgument(f"{element_type} is not an element type of ONNX that numpy has")
        element_type = ONNX_NUMBERS[element_type]
    return np.dtype(_bfloat16() if element_type == "bfloat16" else element_type)


def _bfloat16():
    """Returns the dtype of ml_dtypes, or integers with the same bits if that package is missing."""
    try:
        import ml_dtypes
    except ImportError:
        return "uint16"
    return ml_dtypes.bfloat16


class OrtValue:
    """A tensor or a sequence in the memory of the CPU.

    >>> OrtValue.ortvalue_from_numpy(np.ones((2, 3), np.float32)).data_type()
    'tensor(float)'
    """

    def __init__(self, value):
        self._value = value._value if isinstance(value, OrtValue) else value

    @staticmethod
    def ortvalue_from_numpy(numpy_obj, device_type="cpu", device_id=0, vendor_id=-1):
        OrtDevice.make(device_type, device_id)
        return OrtValue(np.ascontiguousarray(numpy_obj).reshape(np.shape(numpy_obj)))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data, onnx_element_type):
        return OrtValue(np.ascontiguousarray(data).view(to_dtype(onnx_element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0, vendor_id=-1):
        OrtDevice.make(device_type, device_id)
        return OrtValue(np.empty(tuple(shape), to_dtype(element_type)))

    @staticmethod
    def from_dlpack(data, is_bool_tensor=False):
        array = np.from_dlpack(data)
        return OrtValue(array.view(bool) if is_bool_tensor else array)

    def __dlpack__(self, **kwargs):
        return self._value.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._value.__dlpack_device__()

    def numpy(self):
        return self._value

    def shape(self):
        return list(np.shape(self._value))

    def data_type(self):
        if not self.is_tensor():
            return f"seq({OrtValue(self._value[0]).data_type()})" if self._value else "seq()"
        dtype = self._value.dtype
        return f"tensor({ELEMENTS['str' if dtype.kind in 'OUS' else dtype.name]})"

    def element_type(self):
        """Returns ONNX's number of the element type."""
        return NUMBER_OF.get("object" if self._value.dtype.kind in "OUS" else self._value.dtype.name, 0)

    def device_name(self):
        return "cpu"

    def data_ptr(self):
        return self._value.ctypes.data

    def tensor_size_in_bytes(self):
        return self._value.nbytes

    def is_tensor(self):
        return isinstance(self._value, np.ndarray)

    def is_sparse_tensor(self):
        return False

    def is_tensor_sequence(self):
        return isinstance(self._value, list)

    def has_value(self):
        return self._value is not None

    def update_inplace(self, np_arr):
        """Copies the elements of an array of the same shape and dtype."""
        array = np.asarray(np_arr)
        if array.shape != self._value.shape or array.dtype != self._value.dtype:
            raise InvalidArgument(f"the value is {self._value.dtype}{self._value.shape}, got {array.dtype}{array.shape}")
        self._value[...] = array


def _array_at(pointer, dtype, shape):
    """Returns an array over memory of the caller. The caller must keep the memory valid."""
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    return np.frombuffer((ctypes.c_byte * size).from_address(pointer), dtype).reshape(shape) if size else np.empty(shape, dtype)


class IOBinding:
    """Binds inputs and outputs of a session to memory, so that a run copies nothing."""

    def __init__(self, session):
        self._session = session
        self._inputs = {}
        self._outputs = {}  # name -> array, or None if the run allocates the output
        self._results = {}

    def bind_cpu_input(self, name, arr_on_cpu):
        self._known(name, self._session.get_inputs() + self._session.get_overridable_initializers())
        self._inputs[name] = arr_on_cpu

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        OrtDevice.make(device_type, device_id)
        self.bind_cpu_input(name, _array_at(buffer_ptr, to_dtype(element_type), tuple(shape)))

    def bind_ortvalue_input(self, name, ortvalue):
        self.bind_cpu_input(name, ortvalue.numpy())

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        OrtDevice.make(device_type, device_id)
        self._known(name, self._session.get_outputs())
        bound = None
        if buffer_ptr is not None:
            if element_type is None or shape is None:
                raise ValueError("`element_type` and `shape` are to be provided if pre-allocated memory is provided")
            bound = _array_at(buffer_ptr, to_dtype(element_type), tuple(shape))
        self._outputs[name] = bound

    def bind_ortvalue_output(self, name, ortvalue):
        self._known(name, self._session.get_outputs())
        self._outputs[name] = ortvalue.numpy()

    @staticmethod
    def _known(name, arguments):
        if name not in [argument.name for argument in arguments]:
            raise InvalidArgument(f"Invalid name: {name!r}; there are: {', '.join(argument.name for argument in arguments)}")

    def _run(self, run_options):
        bound = {name: array for name, array in self._outputs.items() if array is not None}
        self._results = self._session._run(self._inputs, list(self._outputs), run_options, bound)

    def get_outputs(self):
        return [OrtValue(self._results[name]) for name in self._outputs]

    def copy_outputs_to_cpu(self):
        return [np.array(value) if isinstance(value, np.ndarray) else value for value in (self._results[name] for name in self._outputs)]

    def synchronize_inputs(self):
        """Does nothing: the CPU is always synchronous."""

    def synchronize_outputs(self):
        """Does nothing: the CPU is always synchronous."""

    def clear_binding_inputs(self):
        self._inputs = {}

    def clear_binding_outputs(self):
        self._outputs, self._results = {}, {}
