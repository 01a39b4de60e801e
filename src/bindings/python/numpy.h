// The parts of numpy that the extension uses. numpy is imported at the first use, not with the package.
#pragma once
#include <nanobind/nanobind.h>

#include "core/tensor.h"

namespace tern::python {

namespace nb = nanobind;

// The functions of this header need the GIL.

// Returns whether the object is exactly a numpy.ndarray. Does not import numpy.
bool IsNdarray(nb::handle object);

// Returns the numpy dtype of an element type. bf16, fp8 and types of less than 8 bits are dtypes of the
// package ml_dtypes if it is installed, else integers with the same bits, one element per integer (int8
// for i4 and i2, unsigned for the others).
nb::object DtypeOf(DType dtype);
// Returns the element type of a numpy dtype, or kInvalid. str, bytes and object dtypes are kString.
DType TypeOfDtype(nb::handle dtype);

// numpy.asarray(object, dtype). `dtype` may be None.
nb::object AsArray(nb::handle object, nb::handle dtype);

// A new array and the address of its elements.
struct NewArray {
  nb::object array;
  void* data = nullptr;
};
// Allocates an uninitialized array. `dtype` must not be kString or a type of less than 8 bits.
NewArray Allocate(DType dtype, const Dims& dims);
// Returns a copy of a tensor of any type as an array. Strings become an object array of str.
nb::object CopyToArray(const Tensor& tensor);

}  // namespace tern::python
