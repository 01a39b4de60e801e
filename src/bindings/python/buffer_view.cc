#include "bindings/python/buffer_view.h"

#include <nanobind/ndarray.h>

#include "bindings/python/numpy.h"

namespace tern::python {
namespace {

// Returns the element type of a format of Python's struct module in native byte order.
DType TypeOfFormat(const char* format, Py_ssize_t bytes) {
  if (!format) return DType::kU8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  const bool complex = *format == 'Z';
  if (complex) ++format;
  if (!*format || format[1]) return DType::kInvalid;
  if (complex) return *format == 'f' ? DType::kC64 : *format == 'd' ? DType::kC128 : DType::kInvalid;
  switch (*format) {
    case 'f':
      return DType::kF32;
    case 'd':
      return DType::kF64;
    case 'e':
      return DType::kF16;
    case '?':
      return DType::kBool;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return bytes == 1 ? DType::kI8 : bytes == 2 ? DType::kI16 : bytes == 4 ? DType::kI32 : DType::kI64;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return bytes == 1 ? DType::kU8 : bytes == 2 ? DType::kU16 : bytes == 4 ? DType::kU32 : DType::kU64;
    default:
      return DType::kInvalid;
  }
}

// Returns the element type of a DLPack type. The numbers are those of DLDataTypeCode.
DType TypeOfDlpack(const nb::dlpack::dtype& t) {
  if (t.lanes != 1) return DType::kInvalid;
  constexpr DType kInts[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
  constexpr DType kUints[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  const int log = t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : t.bits == 64 ? 3 : -1;
  switch (t.code) {
    case 0:
      return log < 0 ? DType::kInvalid : kInts[log];
    case 1:
      return log < 0 ? DType::kInvalid : kUints[log];
    case 2:
      return log == 1 ? DType::kF16 : log == 2 ? DType::kF32 : log == 3 ? DType::kF64 : DType::kInvalid;
    case 4:
      return log == 1 ? DType::kBF16 : DType::kInvalid;
    case 5:
      return t.bits == 64 ? DType::kC64 : t.bits == 128 ? DType::kC128 : DType::kInvalid;
    case 6:
      return log == 0 ? DType::kBool : DType::kInvalid;
    case 10:
      return DType::kF8E4M3FN;
    case 11:
      return DType::kF8E4M3FNUZ;
    case 12:
      return DType::kF8E5M2;
    case 13:
      return DType::kF8E5M2FNUZ;
    case 14:
      return DType::kF8E8M0;
    default:
      return DType::kInvalid;
  }
}

bool Aligned(const void* data, size_t bytes) {
  return bytes == 0 || reinterpret_cast<uintptr_t>(data) % (bytes > 8 ? 8 : bytes) == 0;
}

Tensor View(void* data, DType dtype, Dims dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return Tensor::View(Buffer::Borrow(data, BytesOf(dtype, static_cast<size_t>(count)), nullptr), dtype,
                      std::move(dims));
}

std::optional<Tensor> ViewOfBuffer(nb::handle object, bool writable, Loans& loans) {
  Py_buffer view;
  const int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &view, flags) != 0) {
    PyErr_Clear();  // not contiguous, not writable, or an element type without a format
    return std::nullopt;
  }
  const DType dtype = TypeOfFormat(view.format, view.itemsize);
  if (dtype == DType::kInvalid || !Aligned(view.buf, static_cast<size_t>(view.itemsize))) {
    PyBuffer_Release(&view);
    return std::nullopt;
  }
  loans.Keep(view);
  return View(view.buf, dtype, Dims(view.shape, view.shape + view.ndim));
}

std::optional<Tensor> ViewOfDlpack(nb::handle object, bool writable, Loans& loans) {
  nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array;
  nb::ndarray<nb::c_contig, nb::device::cpu> written;
  if (writable ? !nb::try_cast(object, written, false) : !nb::try_cast(object, array, false))
    return std::nullopt;
  const nb::dlpack::dtype type = writable ? written.dtype() : array.dtype();
  void* data = writable ? written.data() : const_cast<void*>(array.data());
  const DType dtype = TypeOfDlpack(type);
  if (dtype == DType::kInvalid || !Aligned(data, BytesOf(dtype, 1))) return std::nullopt;
  Dims dims;
  for (size_t i = 0; i < (writable ? written.ndim() : array.ndim()); ++i)
    dims.push_back(static_cast<int64_t>(writable ? written.shape(i) : array.shape(i)));
  loans.Keep(writable ? nb::cast(written) : nb::cast(array));
  return View(data, dtype, std::move(dims));
}

}  // namespace

std::optional<Tensor> ViewOf(nb::handle object, bool writable, Loans& loans) {
  if (PyObject_CheckBuffer(object.ptr())) return ViewOfBuffer(object, writable, loans);
  if (!PyObject_HasAttrString(object.ptr(), "__dlpack__")) return std::nullopt;
  return ViewOfDlpack(object, writable, loans);
}

}  // namespace tern::python
