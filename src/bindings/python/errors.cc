#include "bindings/python/errors.h"

namespace tern::python {

nb::object Attribute(const char* module, const char* name) { return nb::module_::import_(module).attr(name); }

void Raise(const Status& status) { RaiseAs(CodeName(status.code()), status); }

void RaiseAs(const char* kind, const Status& status) {
  const std::string text = status.ToString();
  // A message may quote bytes of a damaged file, which need not be UTF-8.
  const nb::object message =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  const nb::object error = Attribute("tern.errors", "make")(kind, message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace tern::python
