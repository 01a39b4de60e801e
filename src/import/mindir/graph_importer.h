// Converts the graph of a MindIR model into Tern nodes. Calls of functions are inlined. Calls that depend on
// a condition become If, and functions that call themselves become Loop.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "import/mindir/converter.h"
#include "import/mindir/proto_tensor.h"

namespace tern::mindir {

// The maximum number of nodes after inlining. Without a limit, a small file could need any amount of memory.
inline constexpr int64_t kMaxNodes = 1000000;
inline constexpr int kMaxDepth = 100;  // the deepest nesting of function calls

// The data that all graphs of a model share.
struct ModelContext {
  std::shared_ptr<pb::ModelProto> model;
  std::unique_ptr<import::ExternalFiles> files;           // null for a model in memory
  std::map<std::string, const pb::NodeProto*> constants;  // nodes Constant of all graphs, by name
  std::map<std::string, Item> items;                      // the constants that have been read
  std::map<std::string, const pb::GraphProto*> functions;
  std::map<std::string, const pb::PrimitiveProto*> primitives;
  std::map<const void*, Attributes> attributes;  // by primitive, or by node if it has its own attributes
  // The functions that each function uses.
  std::map<const pb::GraphProto*, std::set<const pb::GraphProto*>> references;
  std::vector<const pb::GraphProto*> loops;  // the functions whose Loop is being built, outermost first
  // Whether a function starts a loop, by the functions in `loops` and the function.
  std::map<std::pair<std::vector<const pb::GraphProto*>, const pb::GraphProto*>, bool> starts_loop;
  std::map<std::string, int> output_counts;       // number of outputs of an If, by its branches
  std::map<const pb::TensorProto*, Buffer> data;  // the raw_data of parameters whose message has none
  int64_t nodes_left = kMaxNodes;
};

// The primitive of a node. `name` is empty if the node calls a value, such as a function.
struct PrimitiveOf {
  std::string name;
  const pb::PrimitiveProto* proto = nullptr;  // null if the node contains its attributes
};
PrimitiveOf FindPrimitive(const ModelContext& context, const pb::NodeProto& node);

// Removes the name of the graph, which precedes the first colon: "12_net_construct:x" becomes "x".
std::string ShortName(const std::string& name);

class GraphImporter {
 public:
  // `caller` imports the calling function. Names that a function does not define are those of its callers.
  GraphImporter(ModelContext& context, Graph& graph, GraphImporter* caller)
      : context_(context), graph_(graph), caller_(caller), depth_(caller ? caller->depth_ + 1 : 0) {}

  // Imports the main graph with its inputs, parameters and outputs.
  Status ImportMain(const pb::GraphProto& proto);

 private:
  Status AddInputs(const pb::GraphProto& proto);
  Status AddParameters(const pb::GraphProto& proto);
  Status SetOutputs(const Item& result, const pb::GraphProto& proto);

  // Adds the nodes of a function to this graph. Returns its result.
  Result<Item> Call(const pb::GraphProto& function, const std::vector<Item>& arguments,
                    const pb::NodeProto& call, int index);
  // Calls a kFunction or kSwitch item.
  Result<Item> CallItem(const Item& callee, const std::vector<Item>& arguments, const pb::NodeProto& call,
                        int index);
  Result<Item> CallSwitch(const Item& callee, const std::vector<Item>& arguments, const pb::NodeProto& call,
                          int index);
  Status BindArguments(const pb::GraphProto& function, const std::vector<Item>& arguments);
  Result<Item> RunNodes(const pb::GraphProto& proto);
  Result<Item> ConvertNode(const pb::NodeProto& node, int index);
  Result<Item> RunPrimitive(const std::string& op, const Attributes& attributes, std::vector<Item> inputs,
                            const pb::NodeProto& node, int index);
  Result<const Attributes*> AttributesOf(const pb::NodeProto& node, const PrimitiveOf& primitive);
  Result<Item> Find(const std::string& name);
  Result<Item> FindConstant(const std::string& name);

  // If one of two branches ends with the next iteration of the loop that is being built, and the other branch
  // leaves the loop, gives their results the same structure.
  Status Reconcile(Graph& first, Item& yes, Graph& second, Item& no) const;
  // Adds an If with this number of outputs, or with none if the number is not known yet. `result` receives
  // the structure of the result, `count` the number of its tensors.
  Result<Node*> AddIf(const Item& callee, const std::vector<Item>& arguments, const pb::NodeProto& call,
                      int index, int outputs, Item& result, int& count);

  // Returns whether a call of the function starts a loop: the function calls itself, directly or through
  // functions that are not loops being built.
  bool StartsLoop(const pb::GraphProto& function);
  // Returns whether one of the functions is `target` or calls it, without calls through loops that are being
  // built.
  bool Reaches(std::vector<const pb::GraphProto*> functions, const pb::GraphProto& target) const;
  Result<Item> CallLoop(const pb::GraphProto& function, const std::vector<Item>& arguments,
                        const pb::NodeProto& call, int index);
  // Adds the nodes of a function whose result is a call of a kSwitch item. Returns this item instead of
  // calling it.
  Result<Item> CallUntilSwitch(const pb::GraphProto& function, const std::vector<Item>& arguments);
  struct Loop;
  Result<Node*> AddLoop(Loop& loop);
  Status FillLoopBody(Loop& loop, Graph& body);
  Result<std::vector<Value*>> AddStates(Loop& loop, Graph& body) const;
  Result<Item> CallRest(const Loop& loop, const Node& node, const pb::NodeProto& call, int index);
  Result<Item> BindSwitch(const Item& callee, const std::vector<Item>& arguments) const;

  ModelContext& context_;
  Graph& graph_;
  GraphImporter* caller_;
  int depth_;
  std::map<std::string, Item> names_;
  std::string stop_at_;  // the node at which CallUntilSwitch stops
};

// Returns the condition as a value of type bool[].
Value* ConditionOf(Builder& b, const Item& condition, bool negate);

// Returns the item with its tensors replaced by zeros. Unknown sizes become 1.
Item Placeholder(Builder& b, const Item& item);

// Appends the tensors of an item, also those in tuples, to `values`. Adds constants to the graph.
Status Flatten(const Item& item, Builder& b, std::vector<Value*>& values);
// Returns the item with its tensors replaced by values[next…], in the order of Flatten.
Item Unflatten(const Item& item, const std::vector<Value*>& values, size_t& next);
// Returns whether two items have the same structure, so that one set of values can replace the tensors of
// both.
bool SameStructure(const Item& a, const Item& b);

}  // namespace tern::mindir
