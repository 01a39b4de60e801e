// Folds BatchNorm into the ConvTranspose or MatMul before it, or into the Conv after it.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool FoldInto(Rewrite& r, const char* op) {
  const auto c = ChannelsOf(r, r.root().input(0), op);
  if (!c) return false;
  if (c->axis != 1) return r.Skip("the channels of ", op, " are not axis 1, the channel axis of BatchNorm");
  Affine affine;
  if (!AffineOf(r, r.root(), c->weights->type.dtype, affine)) return false;
  Value* bias = BiasOf(r, *c);
  if (!bias) return false;
  return r.Replace(WithWeights(r, *c, ScaledWeights(r, *c, affine.factor),
                               Add(r, Mul(r, bias, affine.factor), affine.shift)));
}

bool IsZero(const Value* v) {
  const auto all = UniformOf(v);
  return all && *all == 0;
}

// Applies w·(k x + t) = (w k)·x + Σ w t, where k is affine.factor and t is affine.shift. This does not hold
// for a padded Conv unless t is 0, because t is not added to the padding.
bool FoldBefore(Rewrite& r) {
  Node& conv = r.root();
  Node* norm = MadeBy(conv.input(0), "BatchNorm");
  if (!norm) return r.Skip("'", conv.input(0)->name, "' is not made by BatchNorm");
  if (!OnlyUse(conv.input(0))) return r.Skip("'", conv.input(0)->name, "' is also read by another node");
  Value* w = conv.input(1);
  if (!w->is_constant()) return r.Skip("the weights '", w->name, "' are not constant");
  if (!IsFloatValue(w)) return r.Skip("the weights are quantized");
  if (conv.input(2) && !conv.input(2)->is_constant()) return r.Skip("the bias is not constant");
  const Dims dims = w->constant.dims();
  if (CountOf(dims) == 0) return r.Skip("the weights are empty");
  Affine affine;
  if (!AffineOf(r, *norm, w->type.dtype, affine)) return false;
  if (!Unpadded(conv.attrs) && !IsZero(affine.shift))
    return r.Skip("the Conv has pads, to which BatchNorm does not apply");
  const int64_t group = conv.attrs.Int("group");
  Value* grouped = Reshape(r, w, {group, dims[0] / group, dims[1], -1});
  const Dims row = {group, 1, dims[1], 1};
  Value* weights = Reshape(r, Mul(r, grouped, Reshape(r, affine.factor, row)), dims);
  Value* bias = Reshape(r, SumOver(r, Mul(r, grouped, Reshape(r, affine.shift, row)), {2, 3}), {dims[0]});
  if (conv.input(2)) bias = Add(r, bias, conv.input(2));
  return r.Replace(r.Op(*conv.op, conv.attrs, {norm->input(0), weights, bias, conv.input(3)}));
}

}  // namespace

TERN_RULE(FoldBatchNormIntoConvTranspose) {
  return Rule{.summary = "ConvTranspose then inference BatchNorm is one ConvTranspose",
              .roots = {"BatchNorm"},
              .apply = [](Rewrite& r) { return FoldInto(r, "ConvTranspose"); },
              .example = R"(graph @g(%x: f32[N,1,H,W]) -> (%y) {
  #w: f32[1,2,1,1] = (1, 2)  #s: f32[2] = (1, 2)  #b: f32[2] = (0, 1)  #m: f32[2] = (0, 1)  #v: f32[2] = (1, 2)
  %y = BatchNorm(ConvTranspose(%x, #w), #s, #b, #m, #v)
})"};
}

TERN_RULE(FoldBatchNormIntoMatMul) {
  return Rule{.summary = "MatMul of matrices then inference BatchNorm is one MatMul",
              .roots = {"BatchNorm"},
              .apply = [](Rewrite& r) { return FoldInto(r, "MatMul"); },
              .example = R"(graph @g(%x: f32[N,1]) -> (%y) {
  #w: f32[1,2] = (1, 2)  #s: f32[2] = (1, 2)  #b: f32[2] = (0, 1)  #m: f32[2] = (0, 1)  #v: f32[2] = (1, 2)
  %y = BatchNorm(MatMul(%x, #w), #s, #b, #m, #v)
})"};
}

TERN_RULE(FoldBatchNormBeforeConv) {
  return Rule{.summary = "inference BatchNorm then a Conv without padding is one Conv",
              .roots = {"Conv"},
              .apply = FoldBefore,
              .example = R"(graph @g(%x: f32[N,1,H,W]) -> (%y) {
  #w: f32[2,1,1,1] = (1, 2)  #s: f32[1] = (1)  #b: f32[1] = (2)  #m: f32[1] = (3)  #v: f32[1] = (4)
  %y = Conv(BatchNorm(%x, #s, #b, #m, #v), #w)
})"};
}

}  // namespace tern
