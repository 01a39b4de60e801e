// Folds a constant factor per channel into the weights and the bias of a Conv, ConvTranspose or MatMul.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Folds y * k and y / k. k is a constant, and `op` computes y.
bool FoldMul(Rewrite& r, const char* op) {
  Node& root = r.root();
  const bool divides = IsOp(root, "Binary", "div");
  const int at = root.input(0)->is_constant() ? 0 : 1;  // the index of the constant operand
  if (divides && at == 0) return r.Skip("the constant is the dividend");
  if (!root.input(at)->is_constant()) return r.Skip("no operand is a constant");
  const auto c = ChannelsOf(r, root.input(1 - at), op);
  if (!c) return false;
  Value* factor = PerChannel(r, *c, root.input(at));
  if (!factor) return false;
  if (!AllFiniteAndNotZero(factor)) return r.Skip("a factor is zero or not finite");
  if (divides) factor = Div(r, r.Scalar(factor->type.dtype, 1), factor);
  if (!AllFiniteAndNotZero(factor)) return r.Skip("the inverse of a factor is zero or not finite");
  if (std::string_view(op) == "MatMul" && factor->constant.size() == 1 && c->count != 1)
    return r.Skip("a scalar becomes alpha of the MatMul instead");
  Value* bias = nullptr;
  if (c->bias && !(bias = BiasOf(r, *c))) return false;
  return r.Replace(WithWeights(r, *c, ScaledWeights(r, *c, factor), bias ? Mul(r, bias, factor) : nullptr));
}

}  // namespace

TERN_RULE(FoldMulIntoConv) {
  return Rule{
      .summary =
          "a constant factor (or divisor) per channel is folded into the weights of the Conv before it",
      .roots = {"Binary:mul", "Binary:div"},
      .apply = [](Rewrite& r) { return FoldMul(r, "Conv"); },
      .example = R"(graph @g(%x: f32[N,1,H,W]) -> (%y) {
  #w: f32[2,1,1,1] = (1, 2)  #c: f32[2,1,1] = (3, 4)
  %y = Conv(%x, #w) * #c
})"};
}

TERN_RULE(FoldMulIntoConvTranspose) {
  return Rule{
      .summary =
          "a constant factor (or divisor) per channel is folded into the weights of the ConvTranspose before it",
      .roots = {"Binary:mul", "Binary:div"},
      .apply = [](Rewrite& r) { return FoldMul(r, "ConvTranspose"); },
      .example = R"(graph @g(%x: f32[N,1,H,W]) -> (%y) {
  #w: f32[1,2,1,1] = (1, 2)  #c: f32[2,1,1] = (3, 4)
  %y = ConvTranspose(%x, #w) * #c
})"};
}

TERN_RULE(FoldMulIntoMatMul) {
  return Rule{
      .summary =
          "a constant factor (or divisor) per column is folded into the weights of the MatMul before it",
      .roots = {"Binary:mul", "Binary:div"},
      .apply = [](Rewrite& r) { return FoldMul(r, "MatMul"); },
      .example = R"(graph @g(%x: f32[N,1]) -> (%y) {
  #w: f32[1,2] = (1, 2)  #c: f32[2] = (3, 4)
  %y = MatMul(%x, #w) * #c
})"};
}

}  // namespace tern
