#include "passes/rewrite/rewrite.h"

#include <algorithm>
#include <exception>

#include "passes/rewrite/constants.h"
#include "passes/rewrite/names.h"
#include "passes/widen/half_node.h"

namespace tern {
namespace {

// Copies the rank and symbolic dims of the old type to the new type, where the new type does not know them.
void KeepKnown(const Type& old, Type& now) {
  if (!now.tensor() || !old.tensor() || !old.shape.ranked) return;
  if (!now.shape.ranked) {
    now.shape = old.shape;
    return;
  }
  for (size_t i = 0; i < now.shape.dims.size(); ++i)
    if (!now.shape.dims[i].known() && !old.shape.dims[i].unknown()) now.shape.dims[i] = old.shape.dims[i];
}

// True if `old` is Identity(value) or Cast(value). The shapes are then equal, even if they are unknown.
bool KeepsShape(const Value& old, const Value& value) {
  const Node* maker = old.producer;
  return maker && (IsOp(*maker, "Identity") || IsOp(*maker, "Cast")) && maker->input(0) == &value;
}

// True for an output of the outermost graph, which callers find by its name. Outputs of nested graphs are
// found by position.
bool HasPublicName(const Value& v) {
  const auto& outputs = v.graph->outputs();
  return !v.graph->parent && std::find(outputs.begin(), outputs.end(), &v) != outputs.end();
}

// True if a result is not finite although all inputs are finite.
bool Overflows(const Node& node, const std::vector<Tensor>& made) {
  const auto finite = [](const Tensor& t) { return !IsFloat(t.dtype()) || AllFinite(t); };
  return !std::all_of(made.begin(), made.end(), finite) &&
         std::all_of(node.inputs().begin(), node.inputs().end(),
                     [&](const Value* v) { return !v || finite(v->constant); });
}

}  // namespace

Rewrite::~Rewrite() {
  if (!done_) Rollback();
}

void Rewrite::Rollback() {
  // If memory ran out while Inline copied a graph, copies that are not in emitted_ may read emitted nodes.
  const bool unwinding = std::uncaught_exceptions() > 0;
  while (!emitted_.empty()) {
    if (!unwinding || emitted_.back()->unused()) graph().RemoveNode(emitted_.back());
    emitted_.pop_back();
  }
}

Value* Rewrite::Const(Tensor tensor) {
  constant_bytes_ += tensor.bytes();
  fresh_.push_back(graph().AddConstant(std::move(tensor)));
  return fresh_.back();
}

Value* Rewrite::Ints(const std::vector<int64_t>& values) { return Const(Tensor::Ints(values)); }
Value* Rewrite::Scalar(DType dtype, double v) { return Const(Tensor::Scalar(dtype, v)); }

Value* Rewrite::Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs) {
  const OpDef* def = FindOp(op);
  TERN_CHECK(def, "no op ", op);
  Attrs set = def->defaults;
  for (const auto& [name, value] : attrs) {
    const Status status = set.Set(name, value);
    TERN_CHECK(status.ok(), "rule '", rule_, "': ", status.message());
  }
  return Op(*def, set, inputs);
}

Value* Rewrite::Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs) {
  return Op(op, std::vector<Value*>(inputs), attrs);
}

Value* Rewrite::Op(const OpDef& op, const Attrs& attrs, const std::vector<Value*>& inputs) {
  return Ops(op, attrs, inputs, 1)[0];
}

Value* Rewrite::Op(const OpDef& op, const Attrs& attrs, std::initializer_list<Value*> inputs) {
  return Op(op, attrs, std::vector<Value*>(inputs));
}

bool Rewrite::Replace(Value* value) { return Replace(std::vector<Value*>{value}); }

std::vector<Value*> Rewrite::Ops(const OpDef& op, Attrs attrs, const std::vector<Value*>& given,
                                 int outputs) {
  std::vector<Value*> inputs = given;
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  emitted_.reserve(emitted_.size() + 1);  // if memory runs out later, Rollback knows the node
  Node* node = graph().AddNode(op, std::move(attrs), inputs, outputs, &root_);
  emitted_.push_back(node);
  node->name = root_.name;
  node->origin = root_.origin;
  node->rule = rule_;
  Status status = InferNode(*node);
  const bool ahead = status.ok() && IsConstantNode(*node);
  if (ahead && WorkOf(*node) > kMaxConstantWork) {
    refusal_ = "its constants are too costly to fold";
  } else if (ahead) {
    auto made = EvaluateConstantNode(*node);
    if (made.ok() && *made) {
      if (Overflows(*node, **made)) refusal_ = "a folded constant is not finite";
      graph().RemoveNode(node);
      emitted_.pop_back();
      std::vector<Value*> constants;
      for (Tensor& tensor : **made) constants.push_back(Const(std::move(tensor)));
      return constants;
    }
    status = made.TakeStatus();
  }
  if (!status.ok() && status_.ok())
    status_ = Status(Code::kInternal, StrCat("rule '", rule_, "' emits an invalid node at ", root_.Describe(),
                                             ": ", status.message()));
  for (Value* v : node->outputs()) fresh_.push_back(v);
  return node->outputs();
}

std::vector<Value*> Rewrite::Inline(const Graph& body, const std::vector<Value*>& inputs) {
  const InlinedGraph made = InlineGraph(body, inputs, &root_);
  emitted_.insert(emitted_.end(), made.nodes.begin(), made.nodes.end());
  fresh_.insert(fresh_.end(), made.constants.begin(), made.constants.end());
  for (Node* node : made.nodes) {
    node->rule = rule_;
    Status status = InferNode(*node);
    if (!status.ok() && status_.ok())
      status_ = std::move(status).While(StrCat("rule '", rule_, "' inlines a graph"));
    fresh_.insert(fresh_.end(), node->outputs().begin(), node->outputs().end());
  }
  return made.outputs;
}

bool Rewrite::Fits(const Value& old, Value& value) {
  const Type &before = old.type, &after = value.type;
  const auto changed = [&] {
    return Skip("the type of '", old.name, "' would change from ", before.ToString(), " to ",
                after.ToString());
  };
  const bool fresh = std::find(fresh_.begin(), fresh_.end(), &value) != fresh_.end();
  if (before.kind != Type::Kind::kUnknown && before.kind != after.kind) return changed();
  if (before.tensor()) {
    if (before.dtype != after.dtype) return changed();
    if (before.shape.ranked && after.shape.ranked && before.shape.rank() != after.shape.rank())
      return changed();
    if (!fresh && !SameShape(&old, &value) && !KeepsShape(old, value)) return changed();
    for (size_t i = 0; before.shape.ranked && after.shape.ranked && i < before.shape.dims.size(); ++i) {
      const Dim &a = before.shape.dims[i], &b = after.shape.dims[i];
      if (a.known() && b.known() && a.value() != b.value()) return changed();
    }
  }
  if (fresh || !HasPublicName(old)) return true;
  if (value.graph != old.graph || value.is_input || value.output_uses)
    return Skip("'", old.name, "' is an output of the graph and '", value.name, "' cannot take its name");
  return true;
}

void Rewrite::Rename(const Value& old, Value& value) {
  const bool fresh = std::find(fresh_.begin(), fresh_.end(), &value) != fresh_.end();
  if (HasPublicName(old) || (fresh && value.name.empty())) value.name = old.name;
  KeepKnown(old.type, value.type);
  if (!value.content && !value.is_constant()) value.content = old.content;
}

bool Rewrite::ReplaceOutputs(Node& node, const std::vector<Value*>& values) {
  TERN_CHECK(values.size() <= node.outputs().size(), "rule '", rule_, "' gives too many outputs");
  std::vector<std::pair<Value*, Value*>> pairs;
  for (size_t i = 0; i < node.outputs().size(); ++i)
    pairs.emplace_back(node.outputs()[i], i < values.size() ? values[i] : nullptr);
  return ReplaceValues(pairs);
}

// Returns false if two outputs of the graph would become the same value. A value has only one name.
bool Rewrite::DistinctOutputs(const std::vector<std::pair<Value*, Value*>>& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (pairs[i].second && pairs[i].second == pairs[k].second && pairs[i].first->output_uses &&
          pairs[k].first->output_uses)
        return Skip("'", pairs[i].first->name, "' and '", pairs[k].first->name,
                    "' are outputs of the graph and would be one value");
  return true;
}

bool Rewrite::KeepsHalvesWide() {
  for (const Node* node : emitted_)
    if (refuse_half_ && ComputesInHalf(*node))
      return Skip("the new ", node->op->name, " would compute in f16 or bf16, and WidenHalf computes in f32");
  return true;
}

bool Rewrite::ReplaceValues(const std::vector<std::pair<Value*, Value*>>& pairs) {
  if (refusal_) Skip(refusal_);
  if (refusal_ || !DistinctOutputs(pairs) || !KeepsHalvesWide()) {
    Rollback();
    return false;
  }
  for (const auto& [old, now] : pairs) {
    if (!now && !old->unused() && status_.ok())
      status_ = Status(Code::kInternal, StrCat("rule '", rule_, "' does not replace output ", old->output,
                                               " of ", old->producer->Describe()));
    if (status_.ok() && (!now || old->unused() || Fits(*old, *now))) continue;
    Rollback();
    return false;
  }
  done_ = true;  // if memory runs out below, emitted nodes are read already and must stay
  for (const auto& [old, now] : pairs) {
    leaves_dead_ |= old->producer != &root_;
    if (!now || old->unused()) continue;
    Rename(*old, *now);
    graph().ReplaceUses(old, now);
  }
  return true;
}

void Rewrite::DropUnread() {
  for (size_t i = emitted_.size(); i-- > 0;) {
    if (!emitted_[i]->unused()) continue;
    graph().RemoveNode(emitted_[i]);
    emitted_.erase(emitted_.begin() + static_cast<long>(i));
  }
}

void RemoveUnread(Node& node) {
  std::vector<ReplacedNode> removed;
  RemoveUnread(node, removed);
}

void RemoveUnread(Node& node, std::vector<ReplacedNode>& removed) {
  std::vector<Node*> doomed = {&node};
  while (!doomed.empty()) {
    Node* next = doomed.back();
    doomed.pop_back();
    std::vector<Node*> makers;
    for (const Value* v : next->inputs())
      if (v && v->producer && v->producer != next && v->graph == next->graph &&
          std::find(makers.begin(), makers.end(), v->producer) == makers.end())
        makers.push_back(v->producer);
    removed.emplace_back(*next);
    next->graph->RemoveNode(next);
    for (Node* maker : makers)
      if (maker->unused() && std::find(doomed.begin(), doomed.end(), maker) == doomed.end())
        doomed.push_back(maker);
  }
}

}  // namespace tern
