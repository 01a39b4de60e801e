// Attributes of nodes as Python objects.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/feed.h"
#include "bindings/python/graph.h"
#include "bindings/python/numpy.h"

namespace tern::python {
namespace {

nb::object ToPython(const AttrValue& value) {
  if (const auto* dtype = std::get_if<DType>(&value)) return nb::str(DTypeName(*dtype));
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return tensor->defined() ? CopyToArray(*tensor) : nb::object(nb::none());
  return std::visit(
      [](const auto& v) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, DType> ||
                      std::is_same_v<std::decay_t<decltype(v)>, Tensor>)
          return nb::none();
        else
          return nb::cast(v);
      },
      value);
}

// Returns a list of ints, floats or strings, according to its items. A list of ints and floats is floats.
AttrValue ListToAttr(nb::handle list, const std::string& what) {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> texts;
  if (nb::try_cast(list, ints)) return ints;
  if (nb::try_cast(list, floats)) return floats;
  if (nb::try_cast(list, texts)) return texts;
  Raise(InvalidArgument(what, ": a list must contain ints, floats or strings"));
}

AttrValue ToAttr(nb::handle value, const std::string& what) {
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return nb::cast<int64_t>(value);
  if (PyFloat_Check(object)) return nb::cast<double>(value);
  if (PyUnicode_Check(object)) return nb::cast<std::string>(value);
  if (PyList_Check(object) || PyTuple_Check(object)) return ListToAttr(value, what);
  Loans loans;
  return ToDatum(value, Type::TensorOf(DType::kInvalid), what, loans).tensor.Clone();
}

// Sets one attribute. An empty list has no element type, so each kind of list is tried.
Status SetOne(Attrs& attrs, const std::string& name, const AttrValue& value) {
  Status status = attrs.Set(name, value);
  const auto* ints = std::get_if<std::vector<int64_t>>(&value);
  if (status.ok() || !ints || !ints->empty()) return status;
  if (attrs.Set(name, AttrValue(std::vector<double>())).ok()) return {};
  if (attrs.Set(name, AttrValue(std::vector<std::string>())).ok()) return {};
  return status;
}

void SetAll(Attrs& attrs, const OpDef& op, const nb::dict& attributes) {
  for (auto [key, value] : attributes) {
    const auto name = nb::cast<std::string>(key);
    if (!attrs.Has(name)) {
      std::vector<std::string> names;
      for (const Attrs::Entry& entry : attrs.List()) names.push_back(entry.name);
      Raise(InvalidArgument("the op ", op.name, " has no attribute '", name,
                            "'; it has: ", names.empty() ? "none" : Join(names, ", ")));
    }
    Check(SetOne(attrs, name, ToAttr(value, StrCat("attribute '", name, "'")))
              .While(StrCat("setting the attribute '", name, "' of ", op.name)));
  }
}

}  // namespace

nb::dict AttributesOf(const Node& node) {
  nb::dict out;
  for (const Attrs::Entry& entry : node.attrs.List()) out[entry.name.c_str()] = ToPython(entry.value);
  return out;
}

Attrs ParseAttributes(const OpDef& op, const nb::dict& attributes) {
  Attrs attrs = op.defaults;
  SetAll(attrs, op, attributes);
  return attrs;
}

void SetAttributes(const NodeRef& node, const nb::dict& attributes) {
  const Attrs before = node->attrs;
  Attrs attrs = before;
  SetAll(attrs, *node->op, attributes);
  node->attrs = std::move(attrs);
  Status inferred = Guard([&] { return InferGraph(node.shared()->graph()); });
  if (inferred.ok()) return;
  node->attrs = before;
  (void)Guard([&] { return InferGraph(node.shared()->graph()); });
  Raise(inferred);
}

}  // namespace tern::python
