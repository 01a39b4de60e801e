// Merges a sum of Convs, scales and identities of one input into one Conv. Networks such as RepVGG and
// MobileOne are trained with such parallel branches.
#include <algorithm>
#include <numeric>

#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// The maximum number of terms into which the rule splits a sum.
constexpr size_t kMaxTerms = 32;

// The taps of a kernel along one axis. At output position o, tap t reads input element
// o * stride + first + t * dilation.
struct Taps {
  int64_t stride = 1, first = 0, dilation = 1, count = 1;
  int64_t after = 0;  // pad at the end

  int64_t last() const { return first + (count - 1) * dilation; }
};

// A linear term of a sum, as a Conv. A scale or identity is a depthwise 1x1 Conv.
struct Branch {
  size_t term = 0;                  // index of the term in the sum
  Value* weights = nullptr;         // constant [M, C/group, kernel…]
  Value* bias = nullptr;            // constant, or null
  int64_t group = 1, channels = 0;  // channels of the input
  std::vector<Taps> axes;
  // The number of multiplications for one output position; 0 for a scale or identity. A double, because
  // extreme pads can make the number for merged taps exceed int64_t.
  double work = 0;
};

std::optional<std::vector<Taps>> TapsOf(Rewrite& r, const Node& conv) {
  const Dims& w = conv.input(1)->constant.dims();
  const std::string automatic = conv.attrs.Text("auto_pad");
  if (automatic != "none" && automatic != "valid") {
    r.Skip("the pads of '", conv.output(0)->name, "' depend on the size of the input (auto_pad)");
    return std::nullopt;
  }
  const auto strides = conv.attrs.Ints("strides"), dilations = conv.attrs.Ints("dilations");
  const auto pads = automatic == "valid" ? std::vector<int64_t>() : conv.attrs.Ints("pads");
  std::vector<Taps> axes(w.size() - 2);
  for (size_t i = 0; i < axes.size(); ++i) {
    Taps& axis = axes[i];
    axis.count = w[i + 2];
    if (!strides.empty()) axis.stride = strides[i];
    if (!dilations.empty() && axis.count > 1) axis.dilation = dilations[i];
    if (!pads.empty()) axis.first = -pads[i], axis.after = pads[i + axes.size()];
  }
  return axes;
}

std::optional<Branch> ConvBranch(Rewrite& r, Value* y) {
  const auto c = ChannelsOf(r, y, "Conv");
  if (!c) return std::nullopt;
  Branch out;
  out.weights = c->weights;
  out.bias = c->bias;
  if (out.bias && !BiasOf(r, *c)) return std::nullopt;
  if (c->x->type.dtype != out.weights->type.dtype) {
    r.Skip("the weights have another type than '", c->x->name, "'");
    return std::nullopt;
  }
  out.group = c->node->attrs.Int("group");
  out.channels = out.weights->constant.dim(1) * out.group;
  out.work = static_cast<double>(out.weights->constant.size());
  const auto axes = TapsOf(r, *c->node);
  if (!axes) return std::nullopt;
  out.axes = *axes;
  return out;
}

// Returns the constant as one factor per channel of x, or null if it differs along another axis.
Value* FactorOf(Rewrite& r, Value* constant, int64_t channels, size_t rank) {
  if (!constant->is_constant()) return nullptr;
  Dims dims = constant->constant.dims();
  if (dims.size() > rank) return nullptr;
  dims.insert(dims.begin(), rank - dims.size(), 1);
  const int64_t count = constant->constant.size();
  if (count != dims[1] || (count != 1 && count != channels)) return nullptr;
  Value* ones = r.Const(
      Tensor::Of(constant->type.dtype, {channels}, std::vector<double>(static_cast<size_t>(channels), 1)));
  return Mul(r, Reshape(r, constant, {count}), ones);
}

// Describes y as x * factor + shift, where y is x, a product of x with a constant, or a BatchNorm of x.
bool ScaleOf(Rewrite& r, Value* y, Value* x, int64_t channels, Affine& out) {
  const DType dtype = x->type.dtype;
  const size_t rank = static_cast<size_t>(y->type.shape.rank());
  if (y == x) {
    out.factor = FactorOf(r, r.Scalar(dtype, 1), channels, rank);
    return true;
  }
  const std::string other =
      StrCat("'", y->name, "' is not a Conv, a scale or an identity of '", x->name, "'");
  if (!y->producer || !OnlyUse(y) || y->producer->graph != &r.graph()) return r.Skip(other);
  if (const Node* norm = MadeBy(y, "BatchNorm"); norm && norm->input(0) == x)
    return AffineOf(r, *norm, dtype, out);
  const Node* mul = MadeBy(y, "Binary", "mul");
  if (!mul || (mul->input(0) != x && mul->input(1) != x)) return r.Skip(other);
  out.factor = FactorOf(r, mul->input(mul->input(0) == x ? 1 : 0), channels, rank);
  return out.factor || r.Skip(other);
}

// Describes y as a depthwise 1x1 Conv of x.
std::optional<Branch> ScaleBranch(Rewrite& r, Value* y, Value* x, int64_t channels) {
  Affine affine;
  if (!ScaleOf(r, y, x, channels, affine)) return std::nullopt;
  Branch out;
  Dims dims(static_cast<size_t>(y->type.shape.rank()), 1);
  dims[0] = channels;
  out.weights = Reshape(r, affine.factor, dims);
  out.bias = affine.shift;
  out.group = out.channels = channels;
  out.axes.resize(dims.size() - 2);
  return out;
}

// Extends `to` so that it covers the taps of `from` as well.
bool Cover(Rewrite& r, const Taps& from, Taps& to) {
  if (from.stride != to.stride) return r.Skip("the strides differ: ", from.stride, " and ", to.stride);
  if (to.count == 1) to.dilation = from.dilation;
  if (from.count > 1 && from.dilation != to.dilation)
    return r.Skip("the dilations differ: ", from.dilation, " and ", to.dilation);
  if ((from.first - to.first) % to.dilation != 0)
    return r.Skip("the taps of the kernels lie between each other");
  const int64_t first = std::min(from.first, to.first), last = std::max(from.last(), to.last());
  // The number of output positions depends on after - last(), which must not change.
  to.after += last - to.last();
  to.first = first;
  to.count = (last - first) / to.dilation + 1;
  if (to.first > 0 || to.after < 0) return r.Skip("the pads crop");
  return true;
}

// Extends the geometry of `to` so that it covers `from` too. Both have the same input and the same output
// shape, and so the same channels. Fails if the result is more work than `to` and `from` together.
bool Join(Rewrite& r, const Branch& from, Branch& to) {
  Branch both = to;
  both.group = std::gcd(from.group, to.group);
  both.work = static_cast<double>(to.weights->constant.dim(0) * (to.channels / both.group));
  for (size_t i = 0; i < both.axes.size(); ++i) {
    if (!Cover(r, from.axes[i], both.axes[i])) return false;
    both.work *= static_cast<double>(both.axes[i].count);
  }
  if (both.work > from.work + to.work)
    return r.Skip("one Conv would be more work: ", both.work,
                  " multiplications for an output position instead of ", from.work + to.work);
  to.group = both.group, to.axes = both.axes, to.work = both.work;
  return true;
}

// Returns the offset in a filter of `merged` of each tap of `branch`, without the offset of the channel.
std::vector<int64_t> TapOffsets(const Branch& branch, const Branch& merged) {
  std::vector<int64_t> offsets = {0};
  for (size_t i = 0; i < branch.axes.size(); ++i) {
    const Taps &from = branch.axes[i], &to = merged.axes[i];
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t t = 0; t < from.count; ++t)
        next.push_back(offset * to.count + (from.first + t * from.dilation - to.first) / to.dilation);
    offsets = std::move(next);
  }
  return offsets;
}

// Adds the weights of `branch` to `sum`, which has the groups and taps of `merged`.
void AddWeights(const Branch& branch, const Branch& merged, Tensor& sum) {
  const Tensor w = branch.weights->constant.Contiguous();
  const auto taps = TapOffsets(branch, merged);
  const int64_t plane = sum.size() / (sum.dim(0) * sum.dim(1));
  const int64_t outputs = w.dim(0) / branch.group;  // output channels of a group
  int64_t from = 0;
  for (int64_t m = 0; m < w.dim(0); ++m)
    for (int64_t c = 0; c < w.dim(1); ++c) {
      const int64_t channel = m / outputs * w.dim(1) + c;  // of the input
      const int64_t to = (m * sum.dim(1) + channel % sum.dim(1)) * plane;
      for (int64_t tap : taps) StoreDouble(sum, to + tap, LoadDouble(sum, to + tap) + LoadDouble(w, from++));
    }
}

// Emits the Conv that computes the sum of all branches.
Value* MergedConv(Rewrite& r, Value* x, const Branch& merged, const std::vector<Branch>& branches) {
  Dims dims = {merged.weights->constant.dim(0), merged.channels / merged.group};
  std::vector<int64_t> strides, dilations, pads;
  for (const Taps& axis : merged.axes) {
    dims.push_back(axis.count);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads.push_back(-axis.first);
  }
  for (const Taps& axis : merged.axes) pads.push_back(axis.after);
  Tensor weights(x->type.dtype, dims);
  Value* bias = nullptr;
  for (const Branch& branch : branches) {
    if (!AllFinite(branch.weights)) {
      r.Skip("the weights '", branch.weights->name, "' are not finite");
      return nullptr;
    }
    AddWeights(branch, merged, weights);
    if (branch.bias) bias = bias ? Add(r, bias, branch.bias) : branch.bias;
  }
  if (!AllFinite(weights)) {
    r.Skip("the sums of the weights are not finite");
    return nullptr;
  }
  const Attrs attrs =
      WithAttrs(FindOp("Conv")->defaults,
                {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", merged.group}});
  return r.Op(*FindOp("Conv"), attrs, {x, r.Const(std::move(weights)), bias});
}

// Collects the terms of the sum y. Splits an operand that is itself a sum only if it has no other reader.
void CollectTerms(Value* y, const Node& root, std::vector<Value*>& terms) {
  Node* sum = y == root.output(0) ? y->producer : OnlyUse(y) ? MadeBy(y, "Binary", "add") : nullptr;
  if (!sum || sum->graph != root.graph || terms.size() >= kMaxTerms) {
    terms.push_back(y);
    return;
  }
  for (int i : {0, 1}) CollectTerms(sum->input(i), root, terms);
}

// Returns the Convs among the terms, the one with the most work first, because it is likely to cover the
// taps of the others.
std::vector<Branch> ConvBranches(Rewrite& r, const std::vector<Value*>& terms) {
  std::vector<Branch> convs;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!MadeBy(terms[i], "Conv")) continue;
    auto conv = ConvBranch(r, terms[i]);
    if (!conv) continue;
    conv->term = i;
    convs.push_back(std::move(*conv));
  }
  std::stable_sort(convs.begin(), convs.end(),
                   [](const Branch& a, const Branch& b) { return a.work > b.work; });
  return convs;
}

// Returns `base` and the other terms that can be merged with it. Extends the geometry of `merged`.
std::vector<Branch> BranchesWith(Rewrite& r, const std::vector<Value*>& terms,
                                 const std::vector<Branch>& convs, const Branch& base, Branch& merged) {
  Value* y = terms[base.term];
  Value* x = y->producer->input(0);
  std::vector<Branch> branches = {base};
  for (const Branch& conv : convs)
    if (conv.term != base.term && terms[conv.term]->producer->input(0) == x &&
        SameShape(terms[conv.term], y) && Join(r, conv, merged))
      branches.push_back(conv);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (MadeBy(terms[i], "Conv") && terms[i] != x) continue;
    if (!SameShape(terms[i], y)) continue;
    auto scale = ScaleBranch(r, terms[i], x, base.channels);
    if (!scale || !Join(r, *scale, merged)) continue;
    scale->term = i;
    branches.push_back(std::move(*scale));
  }
  return branches;
}

bool Merge(Rewrite& r) {
  std::vector<Value*> terms;
  CollectTerms(r.root().output(0), r.root(), terms);
  const auto convs = ConvBranches(r, terms);
  if (convs.empty()) return r.why().empty() ? r.Skip("no term is made by Conv") : false;
  if (r.why().empty())
    r.Skip("no other term is a Conv, a scale or an identity of '",
           terms[convs[0].term]->producer->input(0)->name, "'");
  for (const Branch& base : convs) {
    Branch merged = base;
    const auto branches = BranchesWith(r, terms, convs, base, merged);
    if (branches.size() < 2) continue;
    Value* sum = MergedConv(r, terms[base.term]->producer->input(0), merged, branches);
    if (!sum) return false;
    std::vector<bool> done(terms.size());
    for (const Branch& branch : branches) done[branch.term] = true;
    for (size_t i = 0; i < terms.size(); ++i)
      if (!done[i]) sum = Add(r, sum, terms[i]);
    return r.Replace(sum);
  }
  return false;
}

}  // namespace

TERN_RULE(MergeParallelConvs) {
  return Rule{
      .summary =
          "a sum of Convs, scales and identities of one input is one Conv, where that is not more work",
      .level = Level::kExtended,  // because results may differ if inf - inf occurs
      .roots = {"Binary:add"},
      .apply = Merge,
      .example = R"(graph @g(%x: f32[N,1,H]) -> (%y) {
  #w: f32[1,1,3] = (1, 2, 3)  #v: f32[1,1,1] = (4)
  %y = Conv(%x, #w) {pads=[1,1]} + Conv(%x, #v) + %x
})"};
}

}  // namespace tern
