// Replaces a Conv by a MatMul, or a MatMul between Transposes by a Conv.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// True if the kernel covers the entire input, so that there is one output position.
bool CoversInput(const Node& conv) {
  const Shape& x = conv.input(0)->type.shape;
  const Shape& w = conv.input(1)->type.shape;
  if (!x.ranked || !w.ranked || !Unpadded(conv.attrs) || conv.attrs.Int("group") != 1) return false;
  const auto dilations = conv.attrs.Ints("dilations");
  for (int i = 2; i < x.rank(); ++i) {
    if (!w[i].known() || !(x[i] == w[i])) return false;
    if (!w[i].Is(1) && !dilations.empty() && dilations[static_cast<size_t>(i - 2)] != 1) return false;
  }
  return true;
}

// Rewrites flatten(conv(x)) as flatten(x) · wᵀ if the kernel covers all of x. An example is a 1x1 Conv
// after global pooling.
bool ToMatMul(Rewrite& r) {
  Value* y = r.root().input(0);
  Node* conv = MadeBy(y, "Conv");
  if (!conv) return r.Skip("'", y->name, "' is not made by Conv");
  if (!OnlyUse(y)) return r.Skip("'", y->name, "' is also read by another node");
  if (conv->graph != &r.graph()) return r.Skip("'", y->name, "' is made outside of this graph");
  const Shape& flat = r.root().output(0)->type.shape;
  if (flat.rank() != 2 || !(flat[0] == y->type.shape[0]) || !(flat[1] == y->type.shape[1]))
    return r.Skip("the result is not [batch, channels]");
  if (!CoversInput(*conv))
    return r.Skip("the kernel does not cover the input, or the Conv has groups or pads");
  Value* w = conv->input(1);
  if (!w->is_constant() || !IsFloatValue(w)) return r.Skip("the weights are not constant floats");
  if (conv->input(3)) return r.Skip("the Conv has a residual");
  const Dims dims = w->constant.dims();
  if (CountOf(dims) == 0) return r.Skip("the weights are empty");
  Value* rows = r.Op("Flatten", {conv->input(0)}, {{"axis", int64_t{1}}});
  Attrs attrs = FindOp("MatMul")->defaults;
  CopyEpilogue(conv->attrs, attrs);
  SetAttr(attrs, "transpose_b", true);
  Value* matrix = Reshape(r, w, {dims[0], CountOf(dims) / dims[0]});
  return r.Replace(r.Op(*FindOp("MatMul"), attrs, {rows, matrix, conv->input(2)}));
}

// Replaces a Transpose to channels last, a MatMul by a constant and a Transpose back by a 1x1 Conv.
bool FromMatMul(Rewrite& r) {
  Value* y = r.root().input(0);
  Node* product = MadeBy(y, "MatMul");
  if (!product) return r.Skip("'", y->name, "' is not made by MatMul");
  Value* in = product->input(0);
  Node* move = MadeBy(in, "Transpose");
  if (!move) return r.Skip("'", in->name, "' is not made by Transpose");
  if (!OnlyUse(y) || !OnlyUse(in)) return r.Skip("a value between the nodes is also read by another node");
  if (product->graph != &r.graph() || move->graph != &r.graph())
    return r.Skip("a node is made outside of this graph");
  const int rank = y->type.shape.rank();
  const auto first = PermutationOf(*move), last = PermutationOf(r.root());
  if (rank < 3 || !first || !last) return r.Skip("the rank is not known, or is below 3");
  Permutation to_end = {0};
  for (int i = 2; i < rank; ++i) to_end.push_back(i);
  to_end.push_back(1);
  if (*first != to_end || *last != Inverse(to_end))
    return r.Skip("the Transposes do not move the channels to the last axis and back");
  Value *w = product->input(1), *bias = product->input(2);
  if (!w->is_constant() || w->constant.rank() != 2 || !IsFloatValue(w))
    return r.Skip("the second operand is not a constant matrix");
  if (product->attrs.Bool("transpose_a") || product->input(3))
    return r.Skip("the MatMul transposes its first operand or has a residual");
  if (bias && (bias->type.shape.rank() != 1 || !(bias->type.shape[0] == y->type.shape[-1])))
    return r.Skip("the bias is not one number for each channel");
  if (!product->attrs.Bool("transpose_b")) w = Transpose(r, w, {1, 0});
  if (const float alpha = product->attrs.Float("alpha"); alpha != 1)
    w = Mul(r, w, r.Scalar(w->type.dtype, static_cast<double>(alpha)));
  Dims kernel(static_cast<size_t>(rank), 1);
  kernel[0] = w->constant.dim(0), kernel[1] = w->constant.dim(1);
  Attrs attrs = FindOp("Conv")->defaults;
  CopyEpilogue(product->attrs, attrs);
  return r.Replace(r.Op(*FindOp("Conv"), attrs, {move->input(0), Reshape(r, w, kernel), bias}));
}

}  // namespace

TERN_RULE(ReplaceConvByMatMul) {
  return Rule{
      .summary = "a flattened Conv whose kernel covers its input, as after global pooling, is a MatMul",
      .level = Level::kExtended,
      .roots = {"Reshape", "Squeeze", "Flatten"},
      .apply = ToMatMul,
      .example = R"(graph @g(%x: f32[N,2,H,W]) -> (%y) {
  #w: f32[1,2,1,1] = (1, 2)
  %y = Flatten(Conv(GlobalAverage(%x), #w))
})"};
}
TERN_RULE(ReplaceMatMulByConv) {
  return Rule{.summary = "Transpose to channels last, MatMul and Transpose back are a 1x1 Conv",
              .level = Level::kExtended,
              .roots = {"Transpose"},
              .apply = FromMatMul,
              .example = R"(graph @g(%x: f32[N,2,H,W]) -> (%y) {
  #w: f32[2,1] = (1, 2)
  %y = Transpose(MatMul(Transpose(%x) {perm=[0,2,3,1]}, #w)) {perm=[0,3,1,2]}
})"};
}

}  // namespace tern
