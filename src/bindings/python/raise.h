// Converts a status of the C++ API to a Python exception, for extension modules that use only this API.
#pragma once
#include <nanobind/nanobind.h>

#include "tern/tern.hpp"

namespace tern::python {

// The names by which python/tern/errors.py knows the codes.
inline const char* NameOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kInvalidModel:
      return "invalid model";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kNotFound:
      return "not found";
    case Code::kIo:
      return "i/o error";
    case Code::kResourceExhausted:
      return "resource exhausted";
    case Code::kCancelled:
      return "cancelled";
    default:
      return "internal error";
  }
}

// Raises the exception of python/tern/errors.py for this status.
[[noreturn]] inline void Raise(const Status& status) {
  const std::string& text = status.message();
  const nanobind::object message = nanobind::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  const nanobind::object error =
      nanobind::module_::import_("tern.errors").attr("make")(NameOf(status.code()), message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nanobind::python_error();
}

}  // namespace tern::python
