// Converts a Status to a Python exception. The exception classes are in python/tern/errors.py.
#pragma once
#include <nanobind/nanobind.h>

#include "base/status.h"

namespace tern::python {

namespace nb = nanobind;

// Throws the exception class of the status's code. The caller must hold the GIL.
[[noreturn]] void Raise(const Status& status);
// As Raise, but `kind` selects the class: the name of a code, or "model not found".
[[noreturn]] void RaiseAs(const char* kind, const Status& status);
inline void Check(const Status& status) {
  if (!status.ok()) Raise(status);
}
template <class T> T Unwrap(Result<T> result) {
  if (!result.ok()) Raise(result.status());
  return std::move(*result);
}

// Returns an attribute of a module of the package, such as ("tern.outputs", "Outputs"). Imports the module.
nb::object Attribute(const char* module, const char* name);

}  // namespace tern::python
