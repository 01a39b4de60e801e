// Calls that depend on a condition become If.
#include "import/mindir/graph_importer.h"

namespace tern::mindir {
namespace {

bool HoldsItems(const Item& item) {
  return item.is(Item::Kind::kTuple) || item.is(Item::Kind::kCallAgain) || item.is(Item::Kind::kFunction);
}

}  // namespace

Status Flatten(const Item& item, Builder& b, std::vector<Value*>& values) {
  if (item.is(Item::Kind::kValue)) values.push_back(item.value);
  if (item.is(Item::Kind::kConstant)) values.push_back(b.Const(item.constant));
  if (item.is(Item::Kind::kSwitch)) return Unsupported("a function that depends on a condition is stored in a value");
  for (size_t i = 0; HoldsItems(item) && i < item.size(); ++i) TERN_TRY(Flatten(item[i], b, values));
  return b.status();
}

Item Unflatten(const Item& item, const std::vector<Value*>& values, size_t& next) {
  if (item.is(Item::Kind::kValue) || item.is(Item::Kind::kConstant)) {
    Item out = Item::Of(values[next++]);
    out.number = item.number;
    return out;
  }
  if (!HoldsItems(item)) return item;
  std::vector<Item> items;
  for (size_t i = 0; i < item.size(); ++i) items.push_back(Unflatten(item[i], values, next));
  Item out = item;
  out.items = std::make_shared<const std::vector<Item>>(std::move(items));
  return out;
}

bool SameStructure(const Item& a, const Item& b) {
  const auto tensor = [](const Item& item) { return item.is(Item::Kind::kValue) || item.is(Item::Kind::kConstant); };
  if (tensor(a) && tensor(b)) return true;
  if (a.kind != b.kind || a.size() != b.size() || a.text != b.text || a.dtype != b.dtype || a.graph != b.graph ||
      a.primitive != b.primitive)
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!SameStructure(a[i], b[i])) return false;
  return true;
}

Value* ConditionOf(Builder& b, const Item& condition, bool negate) {
  Value* v = condition.is(Item::Kind::kValue) ? condition.value : b.Const(condition.constant);
  if (v->type.dtype != DType::kBool) v = b.Op("Cast", {v}, {{"to", DType::kBool}});
  if (v->type.shape.rank() != 0) v = b.Op("Reshape", {v, b.Ints({})});
  return negate ? b.Op("Unary", {v}, {{"kind", "not"}}) : v;
}

Result<Item> GraphImporter::ImportBranch(Graph& branch, const Item& function, const std::vector<Item>& arguments,
                                         const pb::NodeProto& call, int index) {
  GraphImporter inner(context_, branch, this);
  TERN_ASSIGN(Item result, inner.CallItem(function, arguments, call, index));
  Builder b(branch);
  std::vector<Value*> outputs;
  TERN_TRY(Flatten(result, b, outputs));
  branch.SetOutputs(std::move(outputs));
  return result;
}

Result<Node*> GraphImporter::AddIf(const Item& callee, const std::vector<Item>& arguments,
                                   const pb::NodeProto& call, int index, int outputs, Item& result, int& count) {
  Builder b(graph_);
  b.At(ShortName(call.name()), StrCat("Switch, mindir node #", index));
  Value* condition = ConditionOf(b, callee[0], false);
  TERN_TRY(Status(b.status()));
  Node* node = b.Open("If", {condition}, {}, outputs);
  Graph* then_graph = graph_.AddSubgraph(node, "then");
  TERN_ASSIGN(result, ImportBranch(*then_graph, callee[1], arguments, call, index));
  Graph* else_graph = graph_.AddSubgraph(node, "else");
  TERN_ASSIGN(const Item other, ImportBranch(*else_graph, callee[2], arguments, call, index));
  if (!SameStructure(result, other))
    return Unsupported("the branches of node '", ShortName(call.name()), "' (Switch) return ", result.Describe(),
                       " and ", other.Describe());
  count = static_cast<int>(then_graph->outputs().size());
  if (outputs != count) return node;
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  return node;
}

// The number of outputs of an If must be known when it is added. For the first call, the If is therefore built
// twice: the first one has no outputs, and is removed.
Result<Item> GraphImporter::CallSwitch(const Item& callee, const std::vector<Item>& arguments,
                                       const pb::NodeProto& call, int index) {
  if (const Tensor* constant = ConstantOf(callee[0]); constant && constant->size() == 1)
    return CallItem(callee[LoadDouble(*constant, 0) != 0 ? 1 : 2], arguments, call, index);
  if (depth_ > kMaxDepth) return Unsupported("function calls nest deeper than ", kMaxDepth);
  std::string key = StrCat(call.name(), "|", context_.loops.size());
  for (const size_t branch : {1, 2}) key += StrCat("|", callee[branch].graph ? callee[branch].graph->name() : "");
  Item result;
  int count = 0;
  const auto known = context_.output_counts.find(key);
  if (known == context_.output_counts.end()) {
    TERN_ASSIGN(Node * trial, AddIf(callee, arguments, call, index, 0, result, count));
    graph_.RemoveNode(trial);
    context_.output_counts[key] = count;
    if (count == 0) return Unsupported("node '", ShortName(call.name()), "' (Switch) returns no tensors");
  } else {
    count = known->second;
  }
  const int wanted = count;
  TERN_ASSIGN(Node * node, AddIf(callee, arguments, call, index, wanted, result, count));
  if (count != wanted)
    return Unsupported("node '", ShortName(call.name()), "' (Switch) returns ", wanted, " tensors, then ", count);
  size_t next = 0;
  return Unflatten(result, node->outputs(), next);
}

}  // namespace tern::mindir
