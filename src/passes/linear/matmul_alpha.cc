// Fuses scalar factors before and after a MatMul into the alpha of the MatMul.
#include <cmath>

#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// A node that computes factor * value, by a Mul or Div with a constant scalar.
struct Scaling {
  Value* value = nullptr;
  double factor = 1;
};
std::optional<Scaling> ScalingOf(const Node* node) {
  if (!node || !IsOp(*node, "Binary") || !IsFloatValue(node->output(0))) return std::nullopt;
  const bool divides = IsOp(*node, "Binary", "div");
  if (!divides && !IsOp(*node, "Binary", "mul")) return std::nullopt;
  for (int at : {1, 0}) {
    const auto scalar = ScalarOf(node->input(at));
    Value* value = node->input(1 - at);
    if (!scalar || value->is_constant() || (divides && at == 0)) continue;
    if (node->input(at)->constant.rank() > 0 && !BroadcastsInto(node->input(at), value)) continue;
    return Scaling{value, divides ? 1 / *scalar : *scalar};
  }
  return std::nullopt;
}

// Multiplies alpha by the factor. Skips if the product is not a normal f32, or if `dtype` is f64 and the
// product is not exact in f32.
bool Scale(Rewrite& r, Attrs& attrs, double factor, DType dtype) {
  const double alpha = static_cast<double>(attrs.Float("alpha")) * factor;
  const auto rounded = static_cast<float>(alpha);
  if (!std::isnormal(rounded)) return r.Skip("alpha would be ", alpha, ", which is not a normal f32");
  if (dtype == DType::kF64 && static_cast<double>(rounded) != alpha)
    return r.Skip("alpha would be ", alpha, ", which is not exact in f32");
  return attrs.Set("alpha", alpha).ok();
}

bool FuseAfter(Rewrite& r) {
  const auto scaling = ScalingOf(&r.root());
  if (!scaling) return r.Skip("the node is not a multiplication by a constant scalar");
  Value* y = scaling->value;
  Node* node = MadeBy(y, "MatMul");
  if (!node) return r.Skip("'", y->name, "' is not made by MatMul");
  if (!OnlyUse(y)) return r.Skip("'", y->name, "' is also read by another node");
  if (node->graph != &r.graph()) return r.Skip("'", y->name, "' is made outside of this graph");
  if (!NoEpilogue(*node)) return r.Skip("the node has an activation or a residual");
  Value* bias = node->input(2);
  if (bias && !bias->is_constant()) return r.Skip("the bias '", bias->name, "' is not constant");
  Attrs attrs = node->attrs;
  if (!Scale(r, attrs, scaling->factor, y->type.dtype)) return false;
  if (bias) bias = Mul(r, bias, r.Scalar(bias->type.dtype, scaling->factor));
  return r.Replace(r.Op(*node->op, attrs, {node->input(0), node->input(1), bias}));
}

// An operand of a MatMul that is factor * value, with views and Transposes of it in between.
struct ScaledOperand {
  Scaling scaling;
  std::vector<const Node*> moves;  // from the operand to the scaling
  bool shared = false;             // true if a value on the way has other readers
};

std::optional<ScaledOperand> ScaledOperandOf(const Value* v) {
  ScaledOperand found;
  for (int steps = 0; v->producer && steps < 8; ++steps) {
    found.shared |= !OnlyUse(v);
    if (const auto scaling = ScalingOf(v->producer)) {
      found.scaling = *scaling;
      return found;
    }
    if (!IsView(*v->producer) && !IsOp(*v->producer, "Transpose")) break;
    found.moves.push_back(v->producer);
    v = v->producer->input(0);
  }
  return std::nullopt;
}

// Emits the operand without its factor.
Value* Unscaled(Rewrite& r, const ScaledOperand& operand) {
  Value* v = operand.scaling.value;
  for (auto it = operand.moves.rbegin(); it != operand.moves.rend(); ++it) {
    std::vector<Value*> inputs = (*it)->inputs();
    inputs[0] = v;
    v = r.Op(*(*it)->op, (*it)->attrs, inputs);
  }
  return v;
}

bool FuseBefore(Rewrite& r) {
  Node& root = r.root();
  if (!IsFloatValue(root.output(0))) return r.Skip("the type is not a float");
  std::vector<Value*> inputs = root.inputs();
  Attrs attrs = root.attrs;
  bool found = false, has_scaling = false;
  for (size_t i : {0u, 1u}) {
    const auto operand = ScaledOperandOf(inputs[i]);
    if (!operand) continue;
    has_scaling = true;
    if (operand->shared) {
      r.Skip("'", inputs[i]->name, "' is also read by another node");
      continue;
    }
    if (!Scale(r, attrs, operand->scaling.factor, root.output(0)->type.dtype)) continue;
    inputs[i] = Unscaled(r, *operand);
    found = true;
  }
  if (!found) return has_scaling ? false : r.Skip("no operand is multiplied by a constant scalar");
  return r.Replace(r.Op(*root.op, attrs, inputs));
}

}  // namespace

TERN_RULE(FuseScalarMulIntoMatMul) {
  return Rule{.summary = "a MatMul multiplied or divided by a scalar constant is a MatMul with alpha",
              .roots = {"Binary:mul", "Binary:div"},
              .apply = FuseAfter,
              .example = R"(graph @g(%a: f32[N,4], %b: f32[4,M]) -> (%y) {
  #c: f32[] = (0.5)
  %y = MatMul(%a, %b) * #c
})"};
}

TERN_RULE(FuseScalarMulBeforeMatMul) {
  return Rule{
      .summary =
          "a scalar factor or divisor of a MatMul's operand becomes the alpha of the MatMul, also from before views and Transposes of the operand",
      .roots = {"MatMul"},
      .apply = FuseBefore,
      .example = R"(graph @g(%a: f32[N,4], %b: f32[4,M]) -> (%y) {
  #c: f32[] = (0.5)
  %y = MatMul(%a * #c, %b)
})"};
}

}  // namespace tern
