// Converts Python objects to the values that a model takes.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "core/datum.h"

namespace tern::python {

namespace nb = nanobind;

// Keeps the memory of Python objects valid while a session reads or writes it. The GIL is needed.
class Loans {
 public:
  Loans() = default;
  ~Loans();
  Loans(const Loans&) = delete;
  Loans& operator=(const Loans&) = delete;

  void Keep(nb::object object) { objects_.push_back(std::move(object)); }
  void Keep(const Py_buffer& view) { views_.push_back(view); }

 private:
  std::vector<Py_buffer> views_;
  std::vector<nb::object> objects_;
};

// Returns the value of `object` for a value of type `declared`. A contiguous array is used without a copy, so
// the datum is valid only while `loans` lives. An array is taken with its own element type; the session
// checks it. Lists, scalars and other objects are converted to the declared element type. `what` is part of
// error messages, such as "input 'x'".
Datum ToDatum(nb::handle object, const Type& declared, const std::string& what, Loans& loans);

// Fails if `datum`, which was made of `object`, is a tensor of another element type than declared. The error
// says how to convert the object.
Status CheckElementType(nb::handle object, const Type& declared, const Datum& datum, const std::string& what);

// Returns a view of a writable, contiguous array, for BindOutput.
Tensor ToBoundTensor(nb::handle array, DType declared, const std::string& what, Loans& loans);

// Returns a copy of the value: an array, a list, a dict or None.
nb::object FromDatum(const Datum& datum);

}  // namespace tern::python
