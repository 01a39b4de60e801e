// Descriptions of types for Python.
#pragma once
#include <nanobind/nanobind.h>

#include "ir/graph.h"

namespace tern::python {

namespace nb = nanobind;

// Returns (name, kind, dtype, shape, type). kind is "tensor", "sequence", "map", "optional" or "unknown".
// dtype is the name of a numpy or ml_dtypes type, or "str". shape is a tuple of ints, names and None, or None
// if the rank is unknown. type is the text form, such as "f32[N,3]".
nb::object DescribeValue(const std::string& name, const Type& type);

// Returns the metadata of a model as a dict of texts.
nb::dict DescribeMetadata(const Graph& graph);

// Returns the name of the dtype in Python, such as "float32".
const char* DtypeName(DType dtype);

}  // namespace tern::python
