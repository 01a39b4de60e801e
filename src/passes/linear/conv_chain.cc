// Merges consecutive linear ops (Conv, 1x1 Conv, MatMul) into one Conv, if it needs fewer multiplications.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

std::vector<int64_t> Or(std::vector<int64_t> list, size_t size, int64_t otherwise) {
  return list.empty() ? std::vector<int64_t>(size, otherwise) : list;
}

// True for a 1x1 kernel with one group and no pads.
bool Pointwise(const Node& conv) {
  const Dims& w = conv.input(1)->constant.dims();
  return AllAre({w.begin() + 2, w.end()}, 1) && conv.attrs.Int("group") == 1 && Unpadded(conv.attrs);
}

// Describes the Conv that produces the input of the root, which is also a Conv. The weights and biases of
// both must be constant, and both must have one group. The first Conv must have no epilogue and no other
// reader. Otherwise calls Skip with the reason and returns nullopt.
std::optional<Channels> FirstOf(Rewrite& r) {
  Node& second = r.root();
  auto first = ChannelsOf(r, second.input(0), "Conv");
  if (!first) return std::nullopt;
  for (int i : {1, 2})
    if (second.input(i) && !second.input(i)->is_constant()) {
      r.Skip("'", second.input(i)->name, "' is not constant");
      return std::nullopt;
    }
  if (first->bias && !first->bias->is_constant()) {
    r.Skip("the bias '", first->bias->name, "' is not constant");
    return std::nullopt;
  }
  if (first->node->attrs.Int("group") != 1 || second.attrs.Int("group") != 1) {
    r.Skip("a Conv has groups");
    return std::nullopt;
  }
  return first;
}

// Merges a 1x1 Conv after a Conv. The new weight matrix is the second weight matrix times the first. The new
// strides are the products of the strides.
bool MergeAfter(Rewrite& r) {
  Node& second = r.root();
  const auto first = FirstOf(r);
  if (!first) return false;
  if (!Pointwise(second)) return r.Skip("the second Conv has pads or is not 1x1");
  const Dims d1 = first->weights->constant.dims(), d2 = second.input(1)->constant.dims();
  const int64_t taps = CountOf(d1) / d1[0];  // weights per output channel
  if (d2[0] * taps >= d1[0] * taps + d2[0] * d1[0]) return r.Skip("one Conv would be more work than two");
  Attrs attrs = first->node->attrs;
  const auto second_strides = Or(second.attrs.Ints("strides"), d1.size() - 2, 1);
  auto strides = Or(attrs.Ints("strides"), d1.size() - 2, 1);
  const std::string automatic = attrs.Text("auto_pad");
  if (!AllAre(second_strides, 1) && automatic != "none" && automatic != "valid")
    return r.Skip("auto_pad would compute other pads for the merged strides");
  for (size_t i = 0; i < strides.size(); ++i) strides[i] *= second_strides[i];
  if (!AllAre(second_strides, 1)) SetAttr(attrs, "strides", strides);
  CopyEpilogue(second.attrs, attrs);
  Value* matrix = Reshape(r, second.input(1), {d2[0], d2[1]});
  Dims dims = d1;
  dims[0] = d2[0];
  Value* weights = Reshape(r, r.Op("MatMul", {matrix, Reshape(r, first->weights, {d1[0], taps})}), dims);
  Value* bias = second.input(2);
  if (first->bias) {
    Value* moved = r.Op("MatMul", {matrix, first->bias});
    bias = bias ? Add(r, bias, moved) : moved;
  }
  return r.Replace(r.Op(*second.op, attrs, {first->x, weights, bias, second.input(3)}));
}

// Merges a 1x1 Conv before a Conv. The first Conv may have a bias only if the second Conv has no pads,
// because the bias is not added to the padding.
bool MergeBefore(Rewrite& r) {
  Node& second = r.root();
  const auto first = FirstOf(r);
  if (!first) return false;
  if (!Pointwise(*first->node) || !AllAre(first->node->attrs.Ints("strides"), 1))
    return r.Skip("the first Conv has pads or strides, or is not 1x1");
  if (first->bias && !Unpadded(second.attrs))
    return r.Skip("the second Conv has pads and the first one has a bias");
  const Dims d1 = first->weights->constant.dims(), d2 = second.input(1)->constant.dims();
  if (CountOf(d2) == 0) return r.Skip("the weights are empty");
  const int64_t kernel = CountOf(d2) / (d2[0] * d2[1]);
  if (kernel == 1) return r.Skip("both Convs are 1x1");
  if (d2[0] * d1[1] * kernel >= d1[0] * d1[1] + d2[0] * d2[1] * kernel)
    return r.Skip("one Conv would be more work than two");
  Value* taps = Transpose(r, Reshape(r, second.input(1), {d2[0], d2[1], kernel}), {0, 2, 1});
  Value* product = r.Op("MatMul", {taps, Reshape(r, first->weights, {d1[0], d1[1]})});
  Dims dims = d2;
  dims[1] = d1[1];
  Value* weights = Reshape(r, Transpose(r, product, {0, 2, 1}), dims);
  Value* bias = second.input(2);
  if (first->bias) {
    Value* moved = SumOver(r, Mul(r, taps, first->bias), {1, 2});
    bias = bias ? Add(r, bias, moved) : moved;
  }
  return r.Replace(r.Op(*second.op, second.attrs, {first->x, weights, bias, second.input(3)}));
}

// Folds a MatMul over the channels into the weights of a Conv. Between the Conv and the MatMul is a Transpose
// to channels last.
bool MergeMatMul(Rewrite& r) {
  Node& product = r.root();
  Node* move = MadeBy(product.input(0), "Transpose");
  if (!move || !OnlyUse(product.input(0)))
    return r.Skip("the input is not a Transpose that is read only here");
  auto c = ChannelsOf(r, move->input(0), "Conv");
  if (!c) return false;
  std::vector<int64_t> last = {0};
  for (int i = 2; i < c->rank; ++i) last.push_back(i);
  last.push_back(1);
  if (move->attrs.Ints("perm") != last) return r.Skip("the Transpose does not move the channels to the end");
  Value *w = product.input(1), *bias = product.input(2);
  if (!w->is_constant() || w->constant.rank() != 2)
    return r.Skip("the second operand of the MatMul is not a constant matrix");
  if (product.attrs.Bool("transpose_a") || !NoEpilogue(product))
    return r.Skip("the MatMul transposes its first operand or has an epilogue");
  if (bias && (!bias->is_constant() || bias->constant.rank() != 1))
    return r.Skip("the bias is not a constant vector");
  if (c->node->attrs.Int("group") != 1) return r.Skip("the Conv has groups");
  if (!product.attrs.Bool("transpose_b")) w = Transpose(r, w, {1, 0});
  const Dims d1 = c->weights->constant.dims();
  const int64_t taps = CountOf(d1) / d1[0], channels = w->constant.dim(0);
  if (channels * taps >= d1[0] * taps + channels * d1[0])
    return r.Skip("one Conv would be more work than the Conv and the MatMul");
  w = Mul(r, w, r.Scalar(w->type.dtype, static_cast<double>(product.attrs.Float("alpha"))));
  Value* moved = c->bias ? BiasOf(r, *c) : nullptr;
  if (c->bias && !moved) return false;
  Value* shift = r.Const(Tensor(w->type.dtype, {channels}));
  if (bias) shift = Add(r, shift, bias);
  if (moved) shift = Add(r, shift, r.Op("MatMul", {w, moved}));
  Dims dims = d1;
  dims[0] = channels;
  Value* weights = Reshape(r, r.Op("MatMul", {w, Reshape(r, c->weights, {d1[0], taps})}), dims);
  return r.Replace(Transpose(r, WithWeights(r, *c, weights, shift), last));
}

}  // namespace

TERN_RULE(MergePointwiseConvAfterConv) {
  return Rule{.summary = "Conv then 1x1 Conv is one Conv, where that is less work",
              .level = Level::kExtended,  // because results may differ if inf - inf occurs
              .roots = {"Conv"},
              .apply = MergeAfter,
              .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #w: f32[2,1,3] = (1, 2, 3, 4, 5, 6)  #v: f32[1,2,1] = (1, 2)
  %y = Conv(Conv(%x, #w), #v)
})"};
}

TERN_RULE(MergePointwiseConvBeforeConv) {
  return Rule{.summary = "1x1 Conv then Conv is one Conv, where that is less work",
              .level = Level::kExtended,  // because results may differ if inf - inf occurs
              .roots = {"Conv"},
              .apply = MergeBefore,
              .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #w: f32[2,1,1] = (1, 2)  #v: f32[1,2,2] = (1, 2, 3, 4)
  %y = Conv(Conv(%x, #w), #v)
})"};
}

TERN_RULE(MergeMatMulIntoConv) {
  return Rule{
      .summary = "a MatMul after a Conv and a Transpose to channels last is folded into the Conv's weights",
      .level = Level::kExtended,  // because results may differ if inf - inf occurs
      .roots = {"MatMul"},
      .apply = MergeMatMul,
      .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #w: f32[2,1,3] = (1, 2, 3, 4, 5, 6)  #v: f32[2,1] = (1, 2)
  %y = MatMul(Transpose(Conv(%x, #w)) {perm=[0,2,1]}, #v)
})"};
}

}  // namespace tern
