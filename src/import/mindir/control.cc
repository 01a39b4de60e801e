// Calls that depend on a condition become If.
#include "import/mindir/graph_importer.h"

namespace tern::mindir {
namespace {

bool HoldsItems(const Item& item) {
  return item.is(Item::Kind::kTuple) || item.is(Item::Kind::kCallAgain) || item.is(Item::Kind::kLeave) ||
         item.is(Item::Kind::kFunction);
}

}  // namespace

Status Flatten(const Item& item, Builder& b, std::vector<Value*>& values) {
  if (item.is(Item::Kind::kValue)) values.push_back(item.value);
  if (item.is(Item::Kind::kConstant)) values.push_back(b.Const(item.constant));
  if (item.is(Item::Kind::kSwitch))
    return Unsupported("a function that depends on a condition is stored in a value");
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
  const auto tensor = [](const Item& item) {
    return item.is(Item::Kind::kValue) || item.is(Item::Kind::kConstant);
  };
  if (tensor(a) && tensor(b)) return true;
  if (a.kind != b.kind || a.size() != b.size() || a.text != b.text || a.dtype != b.dtype ||
      a.graph != b.graph || a.primitive != b.primitive)
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

namespace {

Value* ZeroOf(Builder& b, const Type& type) {
  if (!IsNumeric(type.dtype) && type.dtype != DType::kBool) {
    b.Fail(Unsupported("a loop is left with a result of type ", type.ToString()));
    return b.Scalar(DType::kF32, 0);
  }
  std::vector<int64_t> dims;
  for (const Dim& dim : type.shape.dims) dims.push_back(dim.known() ? dim.value() : 1);
  return b.Op("Fill", {b.Ints(dims)}, {{"value", Tensor(type.dtype, {1})}});
}

Status FinishBranch(Graph& graph, const Item& result) {
  Builder b(graph);
  std::vector<Value*> outputs;
  TERN_TRY(Flatten(result, b, outputs));
  graph.SetOutputs(std::move(outputs));
  return {};
}

}  // namespace

Item Placeholder(Builder& b, const Item& item) {
  if (item.is(Item::Kind::kValue)) return Item::Of(ZeroOf(b, item.value->type));
  if (item.is(Item::Kind::kConstant))
    return Item::Of(ZeroOf(b, Type::TensorOf(item.constant.dtype(), Shape::Of(item.constant.dims()))));
  if (!HoldsItems(item)) return item;
  std::vector<Item> items;
  for (size_t i = 0; i < item.size(); ++i) items.push_back(Placeholder(b, item[i]));
  Item out = item;
  out.items = std::make_shared<const std::vector<Item>>(std::move(items));
  return out;
}

Status GraphImporter::Reconcile(Graph& first, Item& yes, Graph& second, Item& no) const {
  const pb::GraphProto* loop = context_.loops.empty() ? nullptr : context_.loops.back();
  const auto again = [&](const Item& item) { return item.is(Item::Kind::kCallAgain) && item.graph == loop; };
  const auto leave = [&](const Item& item) { return item.is(Item::Kind::kLeave) && item.graph == loop; };
  std::optional<Item> next, result;
  for (const Item* item : {&yes, &no}) {
    if (again(*item)) {
      next = Item::Tuple(*item->items);
    } else if (leave(*item)) {
      next = (*item)[1];
      result = (*item)[2];
    } else {
      result = *item;
    }
  }
  if (!loop || !next || !result)
    return Unsupported("the branches of a condition return ", yes.Describe(), " and ", no.Describe());
  const auto convert = [&](Graph& graph, Item& item) -> Status {
    if (leave(item)) return {};
    Builder b(graph);
    const bool goes_on = again(item);
    Item flag = Item::Of(b.Const(Tensor::Scalar(DType::kBool, goes_on)));
    Item out = Item::Tuple({std::move(flag), goes_on ? Item::Tuple(*item.items) : Placeholder(b, *next),
                            goes_on ? Placeholder(b, *result) : item},
                           Item::Kind::kLeave);
    out.graph = loop;
    item = std::move(out);
    return b.status();
  };
  TERN_TRY(convert(first, yes));
  TERN_TRY(convert(second, no));
  if (SameStructure(yes, no)) return {};
  return Unsupported("the branches of a condition in a loop return different structures");
}

Result<Node*> GraphImporter::AddIf(const Item& callee, const std::vector<Item>& arguments,
                                   const pb::NodeProto& call, int index, int outputs, Item& result,
                                   int& count) {
  Builder b(graph_);
  b.At(ShortName(call.name()), StrCat("Switch, mindir node #", index));
  Value* condition = ConditionOf(b, callee[0], false);
  TERN_TRY(Status(b.status()));
  Node* node = b.Open("If", {condition}, {}, outputs);
  Graph* then_graph = graph_.AddSubgraph(node, "then");
  TERN_ASSIGN(result, GraphImporter(context_, *then_graph, this).CallItem(callee[1], arguments, call, index));
  Graph* else_graph = graph_.AddSubgraph(node, "else");
  TERN_ASSIGN(Item other,
              GraphImporter(context_, *else_graph, this).CallItem(callee[2], arguments, call, index));
  if (!SameStructure(result, other))
    TERN_TRY(Reconcile(*then_graph, result, *else_graph, other)
                 .While(StrCat("importing node '", ShortName(call.name()), "'")));
  TERN_TRY(FinishBranch(*then_graph, result));
  TERN_TRY(FinishBranch(*else_graph, other));
  count = static_cast<int>(then_graph->outputs().size());
  if (outputs != count) return node;
  b.Finish(node);
  TERN_TRY(Status(b.status()));
  return node;
}

// The number of outputs of an If must be known when the If is added. If the number is not known yet, the If
// is built twice. The first If has no outputs. It gives the number and is removed.
Result<Item> GraphImporter::CallSwitch(const Item& callee, const std::vector<Item>& arguments,
                                       const pb::NodeProto& call, int index) {
  if (const Tensor* constant = ConstantOf(callee[0]); constant && constant->size() == 1)
    return CallItem(callee[LoadDouble(*constant, 0) != 0 ? 1 : 2], arguments, call, index);
  if (depth_ > kMaxDepth) return Unsupported("function calls nest deeper than ", kMaxDepth);
  std::string key = StrCat(call.name(), "|", context_.loops.size());
  for (const size_t branch : {1, 2})
    key += StrCat("|", callee[branch].graph ? callee[branch].graph->name() : "");
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
    return Unsupported("node '", ShortName(call.name()), "' (Switch) returns ", wanted,
                       " tensors in the first conversion, but ", count, " in the second");
  size_t next = 0;
  return Unflatten(result, node->outputs(), next);
}

}  // namespace tern::mindir
