// The classes Graph, Node and Value of the extension module.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/python/errors.h"
#include "ir/graph.h"

namespace tern::python {

// A model's graph, which Python objects share. It knows which nodes, values and subgraphs exist, so that a
// Python object that outlives its node reports an error instead of reading freed memory.
class SharedGraph {
 public:
  explicit SharedGraph(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
  Graph& graph();  // fails while another thread optimizes the graph

  // Returns a number for the node, value or subgraph at this address. The number changes when the object is
  // removed and another one gets its address.
  uint64_t SerialOf(const void* object);
  bool Alive(const void* object, uint64_t serial) const;
  void ForgetParts();    // forgets all nodes, values and subgraphs
  void ForgetRemoved();  // forgets the objects that the graph no longer contains

  // Reserves the graph for one function that runs without the GIL.
  class Exclusive {
   public:
    explicit Exclusive(SharedGraph& shared);
    ~Exclusive() { shared_.busy_ = false; }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;
    Graph& operator*() { return *shared_.graph_; }

   private:
    SharedGraph& shared_;
  };

  std::vector<std::string> warnings;  // of the import
  std::string source;                 // the path that the graph was loaded from

 private:
  std::unique_ptr<Graph> graph_;
  std::unordered_map<const void*, uint64_t> serials_;
  uint64_t next_ = 1;
  bool busy_ = false;  // guarded by the GIL
};

// A Python object's reference to a part of a graph.
template <class T> class Ref {
 public:
  Ref(std::shared_ptr<SharedGraph> shared, T* object)
      : shared_(std::move(shared)), object_(object), serial_(shared_->SerialOf(object)) {}
  T& operator*() const {
    (void)shared_->graph();  // fails while the graph is in use
    if (!shared_->Alive(object_, serial_))
      Raise(InvalidArgument("this ", kWhat, " is no longer in the graph"));
    return *object_;
  }
  T* operator->() const { return &**this; }
  const std::shared_ptr<SharedGraph>& shared() const { return shared_; }
  bool operator==(const Ref& other) const { return object_ == other.object_ && serial_ == other.serial_; }
  size_t hash() const { return std::hash<const void*>()(object_) ^ serial_; }

 private:
  static constexpr const char* kWhat = std::is_same_v<T, Node>    ? "node"
                                       : std::is_same_v<T, Value> ? "value"
                                                                  : "subgraph";
  std::shared_ptr<SharedGraph> shared_;
  T* object_;
  uint64_t serial_;
};

using NodeRef = Ref<Node>;
using ValueRef = Ref<Value>;
using GraphRef = Ref<Graph>;

GraphRef MakeGraph(std::unique_ptr<Graph> graph);
nb::list ValuesOf(const std::shared_ptr<SharedGraph>& shared, const std::vector<Value*>& values);
nb::list NodesOf(const GraphRef& graph);
// Returns the graph's value or node of this name, or fails.
ValueRef FindValue(const GraphRef& graph, const std::string& name);
NodeRef FindNode(const GraphRef& graph, const std::string& name);

// Edits. Each one leaves the graph valid, or fails without a change.
nb::object AddNode(const GraphRef& graph, const std::string& op, nb::handle inputs, const std::string& name,
                   int outputs, const NodeRef* before, const nb::dict& attributes);
ValueRef AddInput(const GraphRef& graph, const std::string& name, const std::string& type);
ValueRef AddConstant(const GraphRef& graph, nb::handle array, const std::string& name);
void SetConstant(const ValueRef& value, nb::handle array);
void SetOutputs(const GraphRef& graph, nb::handle values);
void RemoveNode(const GraphRef& graph, const NodeRef& node);
void ReplaceValue(const GraphRef& graph, const ValueRef& from, const ValueRef& to);
void RenameValue(const ValueRef& value, const std::string& name);
void SetInput(const NodeRef& node, int index, const ValueRef* value);
void SetDims(const GraphRef& graph, const nb::dict& dims);
int RemoveUnused(const GraphRef& graph);

// Attributes as Python objects.
nb::dict AttributesOf(const Node& node);
void SetAttributes(const NodeRef& node, const nb::dict& attributes);
Attrs ParseAttributes(const OpDef& op, const nb::dict& attributes);

// The optimizer. Returns (hits, stages, warnings, milliseconds). All node and value objects become invalid.
nb::object RunPasses(const GraphRef& graph, const std::string& level, const std::vector<std::string>& only,
                     const std::vector<std::string>& disable, const std::vector<std::string>& enable,
                     const std::string& stop_after);
// Writes a file, .onnx or .tern. If writing an .onnx file fails, an incomplete file may be left.
void WriteGraph(const GraphRef& graph, nb::handle path, bool external_data, bool contrib);
nb::bytes GraphToBytes(const GraphRef& graph, const std::string& format, bool contrib);

void AddGraphClasses(nb::module_& m);

}  // namespace tern::python
