#include "bindings/python/describe.h"

#include <nanobind/stl/string.h>

namespace tern::python {
namespace {

const char* KindName(Type::Kind kind) {
  switch (kind) {
    case Type::Kind::kTensor:
      return "tensor";
    case Type::Kind::kSequence:
      return "sequence";
    case Type::Kind::kOptional:
      return "optional";
    case Type::Kind::kMap:
      return "map";
    case Type::Kind::kUnknown:
      break;
  }
  return "unknown";
}

nb::object ShapeOf(const Type& type) {
  if (!type.tensor() || !type.shape.ranked) return nb::none();
  nb::list dims;
  for (const Dim& d : type.shape.dims) {
    if (d.known())
      dims.append(d.value());
    else if (d.symbolic())
      dims.append(d.ToString());
    else
      dims.append(nb::none());
  }
  return nb::tuple(dims);
}

}  // namespace

nb::object DescribeValue(const std::string& name, const Type& type) {
  return nb::make_tuple(name, KindName(type.kind), type.tensor() ? DtypeName(type.dtype) : "", ShapeOf(type),
                        type.ToString());
}

nb::dict DescribeMetadata(const Graph& graph) {
  nb::dict out;
  for (const auto& [key, text] : graph.metadata) out[key.c_str()] = nb::str(text.data(), text.size());
  return out;
}

}  // namespace tern::python
