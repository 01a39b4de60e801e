#include "passes/replace/permuted.h"

#include <algorithm>
#include <string_view>

namespace tern {
namespace {

bool IsOneOf(const Node& node, std::initializer_list<const char*> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const char* op) { return IsOp(node, op); });
}

bool Broadcasts(const Node& node) {
  return IsOneOf(node, {"Binary", "QBinary", "Where", "Eltwise", "Concat"});
}

bool AllOnes(const Value* v) {
  const Shape& s = v->type.shape;
  return s.ranked && std::all_of(s.dims.begin(), s.dims.end(), [](const Dim& d) { return d.Is(1); });
}

bool OneScale(const Node& node) {
  const auto one = [](const Value* v) { return !v || AllOnes(v); };
  return node.attrs.Int("block_size") == 0 && one(node.input(1)) && one(node.input(2));
}

// Ops with one operand to permute, whose other inputs and attributes can follow.
bool FollowsFirst(const Node& node) {
  if (IsOneOf(node, {"Unary", "QUnary", "Activation", "QActivation", "Gelu", "IsInf", "Cast", "Clip",
                     "Softmax", "Split"}))
    return true;
  if (IsOneOf(node, {"Quantize", "Dequantize"})) return OneScale(node);
  if (IsOp(node, "Reduce")) return node.attrs.Bool("keep_dims") && (!node.input(1) || IntsOf(node.input(1)));
  if (IsOp(node, "Slice")) return node.input(3) && IntsOf(node.input(3));
  if (IsOp(node, "Pad"))
    return IntsOf(node.input(1)).has_value() && (!node.input(3) || IntsOf(node.input(3)));
  return false;
}

int64_t NewAxis(int64_t axis, const Permutation& perm) {
  if (axis < 0) axis += static_cast<int64_t>(perm.size());
  return std::find(perm.begin(), perm.end(), axis) - perm.begin();
}

Value* NewAxes(Rewrite& r, const Value* axes, const Permutation& perm) {
  std::vector<int64_t> list = *IntsOf(axes);
  for (int64_t& axis : list) axis = NewAxis(axis, perm);
  return r.Ints(list);
}

// Pads for all dims, in their new order.
Value* NewPads(Rewrite& r, const Value* pads, const Permutation& perm) {
  const auto old = *IntsOf(pads);
  std::vector<int64_t> list(old.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    list[i] = old[static_cast<size_t>(perm[i])];
    list[perm.size() + i] = old[perm.size() + static_cast<size_t>(perm[i])];
  }
  return r.Ints(list);
}

// A constant of lower rank with ones in front, so that it has dims to permute.
Value* FullRank(Rewrite& r, Value* v, size_t rank) {
  const size_t own = v->constant.dims().size();
  if (own == rank) return v;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < rank - own; ++i) axes.push_back(static_cast<int64_t>(i));
  return r.Op("Unsqueeze", {v, r.Ints(axes)});
}

Value* Operand(Rewrite& r, Value* v, const Permutation& perm, const std::function<Value*(Value*)>& read) {
  if (!v || AllOnes(v)) return v;
  if (!v->is_constant()) return read(v);
  return r.Op("Transpose", {FullRank(r, v, perm.size())}, {{"perm", perm}});
}

}  // namespace

std::vector<Value*> PermutedOperands(const Node& node) {
  const Value* y = node.output(0);
  if (!y->type.tensor() || !y->type.shape.ranked || !node.subgraphs().empty()) return {};
  const int rank = y->type.shape.rank();
  std::vector<Value*> candidates;
  if (Broadcasts(node))
    candidates = node.inputs();
  else if (FollowsFirst(node))
    candidates = {node.input(0)};
  std::vector<Value*> operands;
  for (Value* v : candidates) {
    if (!v || (AllOnes(v) && v->type.shape.rank() <= rank && !IsOp(node, "Concat"))) continue;
    const bool fits = v->type.shape.rank() == rank ||
                      (v->is_constant() && v->type.shape.rank() < rank && !IsOp(node, "Concat"));
    if (!fits) return {};
    operands.push_back(v);
  }
  return operands;
}

std::vector<Value*> EmitPermuted(Rewrite& r, const Node& node, const Permutation& perm,
                                 const std::function<Value*(Value*)>& read) {
  std::vector<Value*> inputs = node.inputs();
  const bool all = Broadcasts(node);
  for (size_t i = 0; i < inputs.size() && (all || i == 0); ++i)
    inputs[i] = all && IsOp(node, "Concat") && !inputs[i]->is_constant() ? read(inputs[i])
                                                                         : Operand(r, inputs[i], perm, read);
  Attrs attrs = node.attrs;
  if (IsOneOf(node, {"Concat", "Softmax", "Split"})) {
    const Status status = attrs.Set("axis", NewAxis(attrs.Int("axis"), perm));
    TERN_CHECK(status.ok(), status.message());
  }
  if (IsOp(node, "Reduce") && inputs.size() > 1 && inputs[1]) inputs[1] = NewAxes(r, inputs[1], perm);
  if (IsOneOf(node, {"Slice", "Pad"}) && inputs.size() > 3 && inputs[3])
    inputs[3] = NewAxes(r, inputs[3], perm);
  else if (IsOp(node, "Pad"))
    inputs[1] = NewPads(r, inputs[1], perm);
  return r.Ops(*node.op, attrs, inputs, static_cast<int>(node.outputs().size()));
}

}  // namespace tern
