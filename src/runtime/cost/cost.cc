#include "runtime/cost/cost.h"

#include <algorithm>

#include "ir/op_cost.h"

namespace tern {
namespace {

std::optional<double> BytesOfValue(const Value* v) {
  if (v && v->type.tensor() && v->type.dtype == DType::kString) return 0;
  const auto count = ElementsOf(v);
  return v ? Times(count, BitWidth(v->type.dtype) / 8.0) : count;
}

// Returns whether the op reads only as many elements of its input as it returns.
bool Picks(const OpDef& op) {
  return op.movement && op.movement->FirstInputOnly() &&
         (op.movement->amount == Movement::Amount::kFewer || op.movement->amount == Movement::Amount::kAny);
}

std::optional<double> Bytes(const Node& n) {
  if (n.op->traits & (kView | kControlFlow | kReadsDims)) return 0;
  const bool picks = Picks(*n.op);
  double total = 0;
  for (const Value* v : n.outputs()) {
    const auto bytes = BytesOfValue(v);
    if (!bytes) return std::nullopt;
    total += picks ? 2 * *bytes : *bytes;
  }
  for (size_t i = picks ? 1 : 0; i < n.inputs().size(); ++i) {
    const auto bytes = BytesOfValue(n.inputs()[i]);
    if (!bytes) return std::nullopt;
    total += *bytes;
  }
  return total;
}

// Returns whether a type is floating-point, complex or quantized. Integers of at most 16 bits count as
// quantized. Wider integers are indices or shapes.
bool IsReal(DType t) { return IsFloat(t) || IsComplex(t) || (IsInt(t) && BitWidth(t) <= 16); }

// Returns whether the node reads this input as a parameter (see IsParameter).
bool ReadsParameter(const Node& node, int input) {
  if (node.op->HasRole(input, Port::Role::kWeight)) return true;
  return node.op->HasRole(input, Port::Role::kData) && !node.op->Is(kReadsDims) && !node.outputs().empty() &&
         IsReal(node.output(0)->type.dtype);
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  macs += other.macs;
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

std::optional<Cost> CostOf(const Node& node) {
  const auto macs = MacsOf(node), flops = node.op->flops ? node.op->flops(node) : 0, bytes = Bytes(node);
  if (!macs || !flops || !bytes) return std::nullopt;
  return Cost{*macs, 2 * *macs + *flops, *bytes};
}

std::optional<Cost> CostOfFused(const Node& first, const Node& next) {
  std::optional<Cost> cost = CostOf(first);
  const std::optional<Cost> next_cost = CostOf(next);
  const std::optional<double> intermediate = BytesOfValue(first.output(0));
  if (!cost || !next_cost || !intermediate) return std::nullopt;
  *cost += *next_cost;
  cost->bytes -= 2 * *intermediate;
  return cost;
}

std::string KindOf(const Node& node) {
  return node.attrs.Has("kind") ? StrCat(node.op->name, ".", node.attrs.Text("kind")) : node.op->name;
}

bool IsParameter(const Value& value) {
  if (!value.is_constant()) return false;
  if (value.uses.empty()) return IsReal(value.constant.dtype());
  return std::any_of(value.uses.begin(), value.uses.end(),
                     [](const auto& use) { return ReadsParameter(*use.first, use.second); });
}

}  // namespace tern
