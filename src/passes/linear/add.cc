// Folds a constant that is added per channel into the bias of a Conv or ConvTranspose.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Folds y + k, y - k and k - y, where `op` computes y and k is a constant.
bool FoldAdd(Rewrite& r, const char* op) {
  Node& root = r.root();
  const int at = root.input(0)->is_constant() ? 0 : 1;  // the index of the constant operand
  if (!root.input(at)->is_constant()) return r.Skip("no operand is a constant");
  const auto c = ChannelsOf(r, root.input(1 - at), op);
  if (!c) return false;
  Value* term = PerChannel(r, *c, root.input(at));
  Value* bias = term ? BiasOf(r, *c) : nullptr;
  if (!bias) return false;
  if (c->bias && IsOp(root, "Binary", "add") && RoundsByCancelling(bias, term, Add(r, bias, term)))
    return r.Skip("with the sum of the constants, the result would round differently");
  if (c->bias && IsOp(root, "Binary", "sub") && RoundsByCancelling(bias, term, Sub(r, bias, term)))
    return r.Skip("with the sum of the constants, the result would round differently");
  if (IsOp(root, "Binary", "add")) return r.Replace(WithWeights(r, *c, c->weights, Add(r, bias, term)));
  if (at == 1) return r.Replace(WithWeights(r, *c, c->weights, Sub(r, bias, term)));
  return r.Replace(WithWeights(r, *c, Neg(r, c->weights), Sub(r, term, bias)));
}

}  // namespace

TERN_RULE(FoldAddIntoConv) {
  return Rule{.summary = "a constant per channel added to (or subtracted from) a Conv becomes its bias",
              .roots = {"Binary:add", "Binary:sub"},
              .apply = [](Rewrite& r) { return FoldAdd(r, "Conv"); },
              .example = R"(graph @g(%x: f32[N,1,H,W]) -> (%y) {
  #w: f32[2,1,1,1] = (1, 2)  #c: f32[2,1,1] = (3, 4)
  %y = Conv(%x, #w) + #c
})"};
}

TERN_RULE(FoldAddIntoConvTranspose) {
  return Rule{
      .summary = "a constant per channel added to (or subtracted from) a ConvTranspose becomes its bias",
      .roots = {"Binary:add", "Binary:sub"},
      .apply = [](Rewrite& r) { return FoldAdd(r, "ConvTranspose"); },
      .example = R"(graph @g(%x: f32[N,1,H,W]) -> (%y) {
  #w: f32[1,2,1,1] = (1, 2)  #c: f32[2,1,1] = (3, 4)
  %y = ConvTranspose(%x, #w) + #c
})"};
}

}  // namespace tern
