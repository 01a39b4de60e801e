// Fuses activations into the epilogue of the op that produces their input.
#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

struct Function {
  std::string name;  // value of the attribute `activation`
  double alpha = 1, beta = 0;
};

// Absent bounds become infinite.
std::optional<Function> ClipFunction(const Node& clip) {
  Function f{"clip", -INFINITY, INFINITY};
  for (int i : {1, 2}) {
    if (!clip.input(i)) continue;
    const auto bound = ScalarOf(clip.input(i));
    if (!bound || std::isnan(*bound)) return std::nullopt;
    // The attributes act_alpha and act_beta are f32.
    if (clip.input(i)->type.dtype == DType::kF64 && static_cast<double>(static_cast<float>(*bound)) != *bound)
      return std::nullopt;
    (i == 1 ? f.alpha : f.beta) = *bound;
  }
  return f;
}

std::optional<Function> FunctionOf(const Node& node) {
  if (IsOp(node, "Clip")) return ClipFunction(node);
  if (IsOp(node, "Gelu"))
    return Function{node.attrs.Text("approximate") == "tanh" ? "gelu_tanh" : "gelu", 1, 0};
  if (IsOp(node, "Unary")) return Function{KindName(node), 1, 0};
  return Function{KindName(node), static_cast<double>(node.attrs.Float("alpha")),
                  static_cast<double>(node.attrs.Float("beta"))};
}

bool FuseInto(Rewrite& r, const char* op) {
  Value* x = r.root().input(0);
  Node* maker = x->producer;
  if (!maker || !IsOp(*maker, op)) return r.Skip("'", x->name, "' is not made by ", op);
  if (!OnlyUse(x)) return r.Skip("'", x->name, "' is also read by another node");
  if (maker->graph != &r.graph()) return r.Skip("'", x->name, "' is made outside of this graph");
  if (!maker->attrs.Has("activation")) return r.Skip(op, " does not support an activation");
  if (maker->attrs.Text("activation") != "none") return r.Skip(op, " has an activation");
  if (!IsFloatValue(x)) return r.Skip("the type is not a float");
  const auto function = FunctionOf(r.root());
  if (!function) return r.Skip("the bounds are not constant, or are not exact in f32");
  Attrs attrs = maker->attrs;
  if (!attrs.Set("activation", function->name).ok())
    return r.Skip(op, " does not support the activation ", function->name);
  SetAttr(attrs, "act_alpha", function->alpha);
  SetAttr(attrs, "act_beta", function->beta);
  return r.Replace(r.Op(*maker->op, attrs, maker->inputs()));
}

}  // namespace

TERN_RULE(FuseActivationIntoMatMul) {
  return Rule{.summary = "an activation after a MatMul is fused into the MatMul",
              .level = Level::kExtended,
              .roots = {"Unary", "Activation", "Gelu", "Clip"},
              .apply = [](Rewrite& r) { return FuseInto(r, "MatMul"); },
              .example = R"(graph @g(%x: f32[N,K], %w: f32[K,M]) -> (%y) { %y = Relu(MatMul(%x, %w)) })"};
}
TERN_RULE(FuseActivationIntoConv) {
  return Rule{
      .summary = "an activation after a Conv is fused into the Conv",
      .level = Level::kExtended,
      .roots = {"Unary", "Activation", "Gelu", "Clip"},
      .apply = [](Rewrite& r) { return FuseInto(r, "Conv"); },
      .example = R"(graph @g(%x: f32[N,3,H,W], %w: f32[8,3,3,3]) -> (%y) { %y = Relu(Conv(%x, %w)) })"};
}
TERN_RULE(FuseActivationIntoConvTranspose) {
  return Rule{
      .summary = "an activation after a ConvTranspose is fused into the ConvTranspose",
      .level = Level::kExtended,
      .roots = {"Unary", "Activation", "Gelu", "Clip"},
      .apply = [](Rewrite& r) { return FuseInto(r, "ConvTranspose"); },
      .example =
          R"(graph @g(%x: f32[N,3,H,W], %w: f32[3,8,3,3]) -> (%y) { %y = Relu(ConvTranspose(%x, %w)) })"};
}

}  // namespace tern
