// Fuses a chain of x * c, x + c, x - c, x / c with scalar constants into one Activation of kind affine.
#include <cmath>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

struct ScalarAffine {
  double alpha = 1, beta = 0;
  Value* x = nullptr;
};

std::optional<ScalarAffine> ReadBinary(const Node& node) {
  const std::string kind = KindName(node);
  const bool right = ScalarOf(node.input(1)).has_value();
  const auto c = ScalarOf(node.input(right ? 1 : 0));
  Value* x = node.input(right ? 0 : 1);
  if (!c || !SameShape(x, node.output(0))) return std::nullopt;
  if (kind == "add") return ScalarAffine{1, *c, x};
  if (kind == "mul") return ScalarAffine{*c, 0, x};
  if (kind == "sub") return right ? ScalarAffine{1, -*c, x} : ScalarAffine{-1, *c, x};
  if (kind == "div" && right && *c != 0) return ScalarAffine{1 / *c, 0, x};
  return std::nullopt;
}

std::optional<ScalarAffine> ReadAffine(const Node* node) {
  if (!node) return std::nullopt;
  if (IsOp(*node, "Binary")) return ReadBinary(*node);
  if (!IsOp(*node, "Activation", "affine")) return std::nullopt;
  return ScalarAffine{node->attrs.Float("alpha"), node->attrs.Float("beta"), node->input(0)};
}

bool FuseAffine(Rewrite& r) {
  const auto outer = ReadAffine(&r.root());
  if (!outer) return r.Skip("no operand is a constant number");
  const DType t = outer->x->type.dtype;
  if (t != DType::kF32 && t != DType::kF16 && t != DType::kBF16)
    return r.Skip("the type is not f32, f16 or bf16");
  const auto inner = ReadAffine(outer->x->producer);
  if (!inner) return r.Skip("the input is not an affine operation");
  if (!OnlyUse(outer->x)) return r.Skip("'", outer->x->name, "' is also read by another node");
  const double alpha = outer->alpha * inner->alpha, beta = outer->alpha * inner->beta + outer->beta;
  if (!std::isfinite(static_cast<float>(alpha)) || !std::isfinite(static_cast<float>(beta)))
    return r.Skip("the constants become infinite");
  if (outer->alpha != 0 && inner->alpha != 0 && !std::isnormal(static_cast<float>(alpha)))
    return r.Skip("the factor becomes too small");
  if (RoundsByCancelling(outer->alpha * inner->beta, outer->beta, beta, t))
    return r.Skip("with the sum of the constants, the result would round differently");
  return r.Replace(r.Op("Activation", {inner->x}, {{"kind", "affine"}, {"alpha", alpha}, {"beta", beta}}));
}

}  // namespace

TERN_RULE(FuseAffine) {
  return Rule{.summary = "consecutive x * c, x / c, x + c, x - c are one alpha * x + beta",
              .level = Level::kExtended,
              .roots = {"Binary:add", "Binary:sub", "Binary:mul", "Binary:div"},
              .apply = FuseAffine,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) {
  #a: f32[] = (0.5)  #b: f32[] = (3)
  %y = %x * #a + #b
})"};
}

}  // namespace tern
