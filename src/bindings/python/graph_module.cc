// Defines the Python classes Graph, Node and Value.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/python/describe.h"
#include "bindings/python/graph.h"
#include "bindings/python/numpy.h"
#include "bindings/python/options.h"
#include "generate/generate.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tern::python {
namespace {

GraphRef Load(nb::handle model) {
  LoadedGraph loaded = LoadGraph(model, {});
  GraphRef graph = MakeGraph(std::move(loaded.graph));
  graph.shared()->warnings = std::move(loaded.warnings);
  return graph;
}

GraphRef Parse(const std::string& text) {
  InitGenerate();
  return MakeGraph(Unwrap(Guard([&] { return ParseGraph(text); })));
}

std::string Text(const GraphRef& graph, int64_t max_elements, bool types, bool names) {
  return PrintGraph(*graph, {max_elements, types, names});
}

nb::list ConstantsOf(const GraphRef& graph) {
  std::vector<Value*> constants;
  for (const auto& value : graph->values())
    if (value->is_constant()) constants.push_back(value.get());
  return ValuesOf(graph.shared(), constants);
}

nb::list AllValues(const GraphRef& graph) {
  std::vector<Value*> values;
  for (const auto& value : graph->values()) values.push_back(value.get());
  return ValuesOf(graph.shared(), values);
}

nb::list UsersOf(const ValueRef& value) {
  nb::list list;
  for (const auto& [node, index] : value->uses) list.append(nb::cast(NodeRef(value.shared(), node)));
  return list;
}

nb::object ConstantOf(const ValueRef& value) {
  if (!value->is_constant()) Raise(InvalidArgument("the value '", value->name, "' is not a constant"));
  if (!value->constant.raw() && value->constant.bytes())
    Raise(InvalidArgument("the data of the constant '", value->name, "' is not in memory"));
  return CopyToArray(value->constant);
}

nb::dict MetadataOf(const GraphRef& graph) { return DescribeMetadata(*graph); }

nb::list OpNames() {
  InitGenerate();
  nb::list list;
  for (const OpDef* op : AllOps()) list.append(nb::make_tuple(op->name, op->family, op->summary));
  return list;
}

template <class T> void AddIdentity(nb::class_<T>& type) {
  type.def("__eq__", [](const T& a, nb::handle other) {
    T* b = nullptr;
    return nb::try_cast(other, b) && b && a == *b;
  });
  type.def("__hash__", &T::hash);
}

void AddValue(nb::module_& m) {
  nb::class_<ValueRef> type(m, "Value", "A value of a graph: an input, a constant, or an output of a node.");
  AddIdentity(type);
  type.def_prop_rw(
          "name", [](const ValueRef& v) { return v->name; }, &RenameValue, "The name. Assign to rename.")
      .def_prop_ro(
          "type", [](const ValueRef& v) { return v->type.ToString(); }, "The type as text: f32[N,3]")
      .def_prop_ro(
          "info", [](const ValueRef& v) { return DescribeValue(v->name, v->type); },
          "A tuple with the fields of tern.ValueInfo.")
      .def_prop_ro("is_input", [](const ValueRef& v) { return v->is_input; })
      .def_prop_ro("is_constant", [](const ValueRef& v) { return v->is_constant(); })
      .def_prop_ro(
          "producer",
          [](const ValueRef& v) -> std::optional<NodeRef> {
            if (!v->producer) return std::nullopt;
            return NodeRef(v.shared(), v->producer);
          },
          "The node that computes the value, or None.")
      .def_prop_ro("users", &UsersOf, "The nodes that read the value.")
      .def("numpy", &ConstantOf, "Returns a copy of a constant's elements as an array.")
      .def("set", &SetConstant, nb::arg("array"), "Replaces a constant's elements; its shape may change.")
      .def("__repr__", [](const ValueRef& v) {
        return StrCat(v->is_constant() ? "#" : "%", v->name, ": ", v->type.ToString());
      });
}

void AddNodeClass(nb::module_& m) {
  nb::class_<NodeRef> type(m, "Node", "A node of a graph: an op, its attributes, inputs and outputs.");
  AddIdentity(type);
  type.def_prop_ro(
          "op", [](const NodeRef& n) { return n->op->name; }, "The name of the op.")
      .def_prop_rw(
          "name", [](const NodeRef& n) { return n->name; },
          [](const NodeRef& n, const std::string& name) { n->name = name; })
      .def_prop_ro(
          "origin", [](const NodeRef& n) { return n->origin; },
          "The node's source, such as 'MatMul, onnx node #3'.")
      .def_prop_ro(
          "attributes", [](const NodeRef& n) { return AttributesOf(*n); },
          "A dict of all attributes. Change them with set().")
      .def(
          "set", [](const NodeRef& n, const nb::kwargs& kwargs) { SetAttributes(n, kwargs); },
          "Sets attributes: node.set(axis=1).")
      .def_prop_ro(
          "inputs", [](const NodeRef& n) { return ValuesOf(n.shared(), n->inputs()); },
          "The values that the node reads; None for an absent input.")
      .def_prop_ro("outputs", [](const NodeRef& n) { return ValuesOf(n.shared(), n->outputs()); })
      .def("set_input", &SetInput, nb::arg("index"), nb::arg("value").none(),
           "Makes the node read another value.")
      .def_prop_ro(
          "subgraphs",
          [](const NodeRef& n) {
            nb::list list;
            for (const auto& g : n->subgraphs()) list.append(nb::cast(GraphRef(n.shared(), g.get())));
            return list;
          },
          "The subgraphs of If, Loop and Scan.")
      .def("__repr__", [](const NodeRef& n) { return n->Describe(); });
}

void AddGraphInspection(nb::class_<GraphRef>& type) {
  type.def_prop_rw(
          "name", [](const GraphRef& g) { return g->name; },
          [](const GraphRef& g, const std::string& name) { g->name = name; })
      .def_prop_ro("inputs", [](const GraphRef& g) { return ValuesOf(g.shared(), g->inputs()); })
      .def_prop_rw(
          "outputs", [](const GraphRef& g) { return ValuesOf(g.shared(), g->outputs()); }, &SetOutputs,
          "The outputs. Assign a list of values to change them.")
      .def_prop_ro("nodes", &NodesOf, "The nodes in topological order.")
      .def_prop_ro("values", &AllValues, "All values: inputs, constants and outputs of nodes.")
      .def_prop_ro("constants", &ConstantsOf)
      .def_prop_ro("metadata", &MetadataOf)
      .def_prop_ro(
          "warnings", [](const GraphRef& g) { return g.shared()->warnings; },
          "Warnings of the import, one sentence each.")
      .def("node", &FindNode, nb::arg("name"), "Returns the node of this name.")
      .def("value", &FindValue, nb::arg("name"), "Returns the value of this name.")
      .def("__getitem__", &FindValue, nb::arg("name"))
      .def(
          "__len__", [](const GraphRef& g) { return g->NodeCount(); },
          "The number of nodes, including those of subgraphs.")
      .def("__bool__", [](const GraphRef&) { return true; })
      .def("text", &Text, nb::arg("max_elements") = 64, nb::arg("types") = true, nb::arg("names") = true,
           "Returns the text form. A constant of more than max_elements elements is printed as (...).")
      .def(
          "exact_text", [](const GraphRef& g) { return PrintGraphExactly(*g); },
          "Returns the text form with all elements of all constants, for Graph.parse.")
      .def("__str__",
           [](const GraphRef& g) {
             return PrintGraph(*g, {8, true, false});
           })
      .def("__repr__", [](nb::handle self) { return Attribute("tern.graph", "summary")(self); })
      .def("_repr_html_", [](nb::handle self) { return Attribute("tern.graph", "html")(self); });
}

void AddGraphEdits(nb::class_<GraphRef>& type) {
  type.def(
          "add",
          [](const GraphRef& g, const std::string& op, nb::handle inputs, const std::string& name,
             int outputs, const NodeRef* before, const nb::kwargs& attributes) {
            return AddNode(g, op, inputs, name, outputs, before, attributes);
          },
          nb::arg("op"), nb::arg("inputs"), nb::arg("name") = "", nb::arg("outputs") = 1,
          nb::arg("before").none() = nb::none(), nb::arg("attributes"),
          "Adds a node and returns its output, or a tuple of outputs. Inputs are values, names of values, arrays "
          "or None. Keyword arguments are attributes.")
      .def("add_input", &AddInput, nb::arg("name"), nb::arg("type"),
           "Adds an input: g.add_input('x', 'f32[N,3]')")
      .def("add_constant", &AddConstant, nb::arg("array"), nb::arg("name") = "")
      .def(
          "set_dims", [](const GraphRef& g, const nb::kwargs& dims) { SetDims(g, dims); },
          "Sets the sizes of symbolic dims of the inputs: g.set_dims(N=8)")
      .def("remove", &RemoveNode, nb::arg("node"), "Removes a node whose outputs nobody reads.")
      .def("replace", &ReplaceValue, nb::arg("old"), nb::arg("new"),
           "Makes all readers of `old` read `new`. The node that computes `new` may still read `old`.")
      .def("clean", &RemoveUnused, "Removes unused nodes and constants. Returns the number of removed nodes.")
      .def(
          "run_passes", &RunPasses, nb::arg("level") = "extended", nb::kw_only(),
          nb::arg("only") = std::vector<std::string>(), nb::arg("disable") = std::vector<std::string>(),
          nb::arg("enable") = std::vector<std::string>(), nb::arg("stop_after") = "",
          "Optimizes the graph in place. Returns (changes per rule, stages, warnings, milliseconds). Node and Value "
          "objects become invalid.")
      .def(
          "verify", [](const GraphRef& g) { Check(Guard([&] { return VerifyGraph(*g); })); },
          "Raises an error if the graph is not valid.")
      .def("clone", [](const GraphRef& g) { return MakeGraph(g->Clone()); })
      .def("_write", &WriteGraph)
      .def(
          "save",
          [](nb::handle self, nb::handle path, bool external_data, bool contrib) {
            Attribute("tern.graph", "save")(self, path, external_data, contrib);
          },
          nb::arg("path"), nb::kw_only(), nb::arg("external_data") = false, nb::arg("contrib") = false,
          "Writes a .tern or .onnx file. If writing fails, no file is left or changed.")
      .def("to_bytes", &GraphToBytes, nb::arg("format") = "tern", nb::kw_only(), nb::arg("contrib") = false,
           "Returns the contents of a .tern or .onnx file.");
}

}  // namespace

void AddGraphClasses(nb::module_& m) {
  AddValue(m);
  AddNodeClass(m);
  nb::class_<GraphRef> type(
      m, "Graph",
      "The graph of a model: Graph(path) or Graph(bytes) loads it, Graph.parse(text) reads "
      "the text form. An edit leaves the graph valid, or raises an error and changes nothing.");
  type.def(
          "__init__", [](GraphRef* self, nb::handle model) { new (self) GraphRef(Load(model)); },
          nb::arg("model"))
      .def_static("load", &Load, nb::arg("model"), "Loads a graph from a path or a bytes-like object.")
      .def_static("parse", &Parse, nb::arg("text"), "Parses the text form of a graph.")
      .def_static(
          "empty",
          [](const std::string& name) {
            InitGenerate();
            return MakeGraph(std::make_unique<Graph>(name));
          },
          nb::arg("name") = "main", "Returns a graph without nodes.");
  AddIdentity(type);
  AddGraphInspection(type);
  AddGraphEdits(type);
  m.def("_ops", &OpNames);
}

}  // namespace tern::python
