#include "passes/replace/permuted.h"

#include "passes/rewrite/dim_order.h"

namespace tern {
namespace {

// True if the operands are concatenated along an axis. Each operand then has the rank of the result.
bool Joined(const AxisMap& map) { return map.operands == AxisMap::Operands::kJoined; }

// Returns the constant with leading dims of 1 added up to `rank`.
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
  const auto map = AxisMapOf(node);
  if (!map || !map->any_order) return {};
  const std::vector<Value*> candidates =
      JoinsOperands(*map) ? node.inputs() : std::vector<Value*>{node.input(0)};
  std::vector<Value*> operands;
  for (Value* v : candidates) {
    if (!v || (AllOnes(v) && v->type.shape.rank() <= rank && !Joined(*map))) continue;
    const bool fits =
        v->type.shape.rank() == rank || (v->is_constant() && v->type.shape.rank() < rank && !Joined(*map));
    if (!fits) return {};
    operands.push_back(v);
  }
  return operands;
}

std::vector<Value*> EmitPermuted(Rewrite& r, const Node& node, const Permutation& perm,
                                 const std::function<Value*(Value*)>& read) {
  std::vector<Value*> inputs = node.inputs();
  const AxisMap map = *AxisMapOf(node);
  const bool all = JoinsOperands(map);
  for (size_t i = 0; i < inputs.size() && (all || i == 0); ++i)
    inputs[i] =
        Joined(map) && !inputs[i]->is_constant() ? read(inputs[i]) : Operand(r, inputs[i], perm, read);
  Attrs attrs = node.attrs;
  MoveAxes(
      node, perm, [&](const auto& list) { return r.Ints(list); }, attrs, inputs);
  return r.Ops(*node.op, attrs, inputs, static_cast<int>(node.outputs().size()));
}

}  // namespace tern
