#include "bindings/python/numpy.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cstring>

#include "bindings/python/describe.h"
#include "bindings/python/errors.h"

namespace tern::python {
namespace {

struct Row {
  DType dtype;
  const char* numpy;      // null if numpy has no such type
  const char* ml_dtypes;  // null if numpy has the type
  const char* bits;       // the integer that stores one element, if there is no other dtype
};

constexpr Row kRows[] = {
    {DType::kF32, "float32", nullptr, "uint32"},
    {DType::kF64, "float64", nullptr, "uint64"},
    {DType::kF16, "float16", nullptr, "uint16"},
    {DType::kBF16, nullptr, "bfloat16", "uint16"},
    {DType::kF8E4M3FN, nullptr, "float8_e4m3fn", "uint8"},
    {DType::kF8E4M3FNUZ, nullptr, "float8_e4m3fnuz", "uint8"},
    {DType::kF8E5M2, nullptr, "float8_e5m2", "uint8"},
    {DType::kF8E5M2FNUZ, nullptr, "float8_e5m2fnuz", "uint8"},
    {DType::kF8E8M0, nullptr, "float8_e8m0fnu", "uint8"},
    {DType::kF4E2M1, nullptr, "float4_e2m1fn", "uint8"},
    {DType::kI8, "int8", nullptr, "uint8"},
    {DType::kI16, "int16", nullptr, "uint16"},
    {DType::kI32, "int32", nullptr, "uint32"},
    {DType::kI64, "int64", nullptr, "uint64"},
    {DType::kU8, "uint8", nullptr, "uint8"},
    {DType::kU16, "uint16", nullptr, "uint16"},
    {DType::kU32, "uint32", nullptr, "uint32"},
    {DType::kU64, "uint64", nullptr, "uint64"},
    {DType::kI4, nullptr, "int4", "int8"},
    {DType::kU4, nullptr, "uint4", "uint8"},
    {DType::kI2, nullptr, "int2", "int8"},
    {DType::kU2, nullptr, "uint2", "uint8"},
    {DType::kBool, "bool", nullptr, "uint8"},
    {DType::kString, "object", nullptr, nullptr},
    {DType::kC64, "complex64", nullptr, nullptr},
    {DType::kC128, "complex128", nullptr, nullptr},
};

const Row* RowOf(DType dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

nb::object Named(const char* name) { return Attribute("numpy", "dtype")(nb::str(name)); }

// Returns the dtype of the package ml_dtypes, or an invalid object if the package does not have it.
nb::object Extended(const char* name) {
  try {
    return Attribute("numpy", "dtype")(Attribute("ml_dtypes", name));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    return {};
  }
}

// These objects live until the process ends, so that no destructor runs after the interpreter's end.
PyObject* Forever(nb::object object) { return object.release().ptr(); }

// Sets `slot` to an attribute of numpy at the first call. A static object with an initializer would deadlock,
// because an import may switch to another Python thread.
nb::handle Once(PyObject*& slot, const char* name) {
  if (!slot) slot = Forever(Attribute("numpy", name));
  return slot;
}

nb::handle Empty() {
  static PyObject* function = nullptr;
  return Once(function, "empty");
}

nb::object ShapeTuple(const Dims& dims) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(dims.size()));
  if (!tuple) throw nb::python_error();
  for (size_t i = 0; i < dims.size(); ++i)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(dims[i]));
  return nb::steal(tuple);
}

NewArray AllocateAs(nb::handle dtype, const Dims& dims) {
  const nb::object shape = ShapeTuple(dims);
  PyObject* args[] = {shape.ptr(), dtype.ptr()};
  NewArray made{nb::steal(PyObject_Vectorcall(Empty().ptr(), args, 2, nullptr)), nullptr};
  if (!made.array.is_valid()) throw nb::python_error();
  Py_buffer view;
  if (PyObject_GetBuffer(made.array.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
  made.data = view.buf;
  PyBuffer_Release(&view);  // the array keeps its memory
  return made;
}

nb::object StringsToArray(const Tensor& tensor) {
  const std::vector<std::string> strings = ToStrings(tensor);
  const nb::object array = Empty()(static_cast<int64_t>(strings.size()), DtypeOf(DType::kString));
  for (size_t i = 0; i < strings.size(); ++i) {
    const nb::object text = nb::steal(PyUnicode_DecodeUTF8(
        strings[i].data(), static_cast<Py_ssize_t>(strings[i].size()), "surrogateescape"));
    if (!text.is_valid() || PySequence_SetItem(array.ptr(), static_cast<Py_ssize_t>(i), text.ptr()) != 0)
      throw nb::python_error();
  }
  return array.attr("reshape")(ShapeTuple(tensor.dims()));
}

// Writes one element per byte, signed ones with their sign.
void Unpack(const Tensor& tensor, uint8_t* out) {
  const int bits = BitWidth(tensor.dtype());
  const int per_byte = 8 / bits;
  const auto mask = static_cast<uint8_t>((1 << bits) - 1);
  const auto sign = static_cast<uint8_t>(IsSignedInt(tensor.dtype()) ? 1 << (bits - 1) : 0);
  const auto* from = tensor.data<uint8_t>();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto raw = static_cast<uint8_t>(from[i / per_byte] >> (i % per_byte * bits) & mask);
    out[i] = static_cast<uint8_t>((raw ^ sign) - sign);
  }
}

}  // namespace

bool IsNdarray(nb::handle object) {
  static PyObject* ndarray = nullptr;
  if (!ndarray) {
    PyObject* modules = PyImport_GetModuleDict();
    if (!PyDict_GetItemString(modules, "numpy")) return false;
  }
  return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == Once(ndarray, "ndarray").ptr();
}

nb::object DtypeOf(DType dtype) {
  static std::array<PyObject*, static_cast<size_t>(DType::kCount)> known{};
  PyObject*& slot = known[static_cast<size_t>(dtype)];
  if (!slot) {
    const Row* row = RowOf(dtype);
    if (!row) throw nb::value_error("the element type is not known");
    nb::object made = row->numpy ? Named(row->numpy) : Extended(row->ml_dtypes);
    slot = Forever(made.is_valid() ? std::move(made) : Named(row->bits));
  }
  return nb::borrow(slot);
}

const char* DtypeName(DType dtype) {
  const Row* row = RowOf(dtype);
  if (!row) return "";
  if (dtype == DType::kString) return "str";
  return row->numpy ? row->numpy : row->ml_dtypes;
}

DType TypeOfDtype(nb::handle dtype) {
  const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S" || kind == "T") return DType::kString;
  const std::string name = nb::cast<std::string>(dtype.attr("name"));
  for (const Row& row : kRows)
    if (name == (row.numpy ? row.numpy : row.ml_dtypes)) return row.dtype;
  return DType::kInvalid;
}

nb::object AsArray(nb::handle object, nb::handle dtype) {
  static PyObject* function = nullptr;
  return Once(function, "asarray")(object, dtype);
}

NewArray Allocate(DType dtype, const Dims& dims) {
  const Row& row = *RowOf(dtype);
  if (row.numpy) return AllocateAs(DtypeOf(dtype), dims);
  // An array with a dtype of another package does not give access to its memory.
  NewArray made = AllocateAs(Named(row.bits), dims);
  made.array = made.array.attr("view")(DtypeOf(dtype));
  return made;
}

nb::object CopyToArray(const Tensor& from) {
  const Tensor tensor = from.Contiguous();
  if (tensor.dtype() == DType::kString) return StringsToArray(tensor);
  const NewArray made = Allocate(tensor.dtype(), tensor.dims());
  if (BitWidth(tensor.dtype()) < 8)
    Unpack(tensor, static_cast<uint8_t*>(made.data));
  else if (tensor.size())
    std::memcpy(made.data, tensor.raw(), tensor.bytes());
  return made.array;
}

}  // namespace tern::python
