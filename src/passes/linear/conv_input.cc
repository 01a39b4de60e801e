// Folds a constant factor or term per channel of a Conv's input into its weights and bias. Models that
// normalise their input image have both before the first Conv.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// The Binary that makes the Conv's input.
struct InputBinary {
  Node* node = nullptr;
  int constant = 0;  // the index of the constant operand
};

std::optional<InputBinary> BinaryBefore(Rewrite& r) {
  const Node& conv = r.root();
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  Value* x = conv.input(0);
  InputBinary out{MadeBy(x, "Binary"), 1};
  if (!out.node) return no("'", x->name, "' is not made by Binary");
  if (!OnlyUse(x)) return no("'", x->name, "' is also read by another node");
  if (out.node->input(0)->is_constant()) out.constant = 0;
  if (!out.node->input(out.constant)->is_constant()) return no("no operand is a constant");
  if (ChannelsLast(conv)) return no("the Conv is channels-last");
  const Value* w = conv.input(1);
  if (!w->is_constant()) return no("the weights '", w->name, "' are not constant");
  if (!IsFloatValue(w) || w->type.dtype != x->type.dtype) return no("the weights have another type");
  if (CountOf(w->constant.dims()) == 0) return no("the weights are empty");
  if (!SameShape(x, out.node->input(1 - out.constant))) return no("the constant broadcasts the input");
  return out;
}

// Returns the constant as [group, 1, channels per group, 1], or with 1 in place of all sizes for a scalar.
Value* PerInputChannel(Rewrite& r, const Value& x, Value* constant) {
  const Dims& w = r.root().input(1)->constant.dims();
  const int64_t group = r.root().attrs.Int("group"), channels = w[1] * group;
  Dims dims = constant->constant.dims();
  if (constant->constant.size() == 1) return Reshape(r, constant, {1, 1, 1, 1});
  dims.insert(dims.begin(), static_cast<size_t>(x.type.shape.rank()) - dims.size(), 1);
  if (dims[1] != channels || constant->constant.size() != channels) {
    r.Skip("the constant differs along an axis that is not the channels");
    return nullptr;
  }
  return Reshape(r, constant, {group, 1, w[1], 1});
}

Value* Grouped(Rewrite& r) {
  Value* w = r.root().input(1);
  const Dims& dims = w->constant.dims();
  const int64_t group = r.root().attrs.Int("group");
  return Reshape(r, w, {group, dims[0] / group, dims[1], -1});
}

// Conv(x * k, w) = Conv(x, w * k). Padding with zeros does not matter.
bool FoldFactor(Rewrite& r) {
  const auto binary = BinaryBefore(r);
  if (!binary) return false;
  const bool divides = IsOp(*binary->node, "Binary", "div");
  if (!divides && !IsOp(*binary->node, "Binary", "mul")) return r.Skip("the Binary is neither mul nor div");
  if (divides && binary->constant == 0) return r.Skip("the constant is the dividend");
  Value* constant = binary->node->input(binary->constant);
  if (!AllFiniteAndNotZero(constant)) return r.Skip("a factor is zero or not finite");
  Node& conv = r.root();
  Value* factor = PerInputChannel(r, *conv.input(0), constant);
  if (!factor) return false;
  Value* grouped = Grouped(r);
  Value* weights =
      Reshape(r, divides ? Div(r, grouped, factor) : Mul(r, grouped, factor), conv.input(1)->constant.dims());
  if (!AllFinite(weights)) return r.Skip("the weights would not be finite");
  return r.Replace(r.Op(*conv.op, conv.attrs,
                        {binary->node->input(1 - binary->constant), weights, conv.input(2), conv.input(3)}));
}

// Conv(x + t, w) = Conv(x, w) + sum(w * t) if the Conv has no pads, because the term is not added to padding.
bool FoldTerm(Rewrite& r) {
  const auto binary = BinaryBefore(r);
  if (!binary) return false;
  const bool subtracts = IsOp(*binary->node, "Binary", "sub");
  if (!subtracts && !IsOp(*binary->node, "Binary", "add")) return r.Skip("the Binary is neither add nor sub");
  if (subtracts && binary->constant == 0) return r.Skip("the constant is the minuend");
  Node& conv = r.root();
  if (!Unpadded(conv.attrs)) return r.Skip("the Conv has pads, to which the term is not added");
  if (conv.input(2) && !conv.input(2)->is_constant()) return r.Skip("the bias is not constant");
  Value* constant = binary->node->input(binary->constant);
  if (!AllFinite(constant)) return r.Skip("a term is not finite");
  Value* term = PerInputChannel(r, *conv.input(0), constant);
  if (!term) return false;
  Value* bias = Reshape(r, SumOver(r, Mul(r, Grouped(r), term), {2, 3}), {conv.input(1)->constant.dims()[0]});
  if (subtracts) bias = Neg(r, bias);
  if (conv.input(2)) bias = Add(r, conv.input(2), bias);
  if (!AllFinite(bias)) return r.Skip("the bias would not be finite");
  return r.Replace(r.Op(*conv.op, conv.attrs,
                        {binary->node->input(1 - binary->constant), conv.input(1), bias, conv.input(3)}));
}

}  // namespace

TERN_RULE(FoldFactorBeforeConv) {
  return Rule{
      .summary = "a constant factor (or divisor) per channel of a Conv's input is folded into its weights",
      .roots = {"Conv"},
      .apply = FoldFactor,
      .example = R"(graph @g(%x: f32[N,2,H,W]) -> (%y) {
  #w: f32[1,2,1,1] = (1, 2)  #c: f32[2,1,1] = (3, 4)
  %y = Conv(%x * #c, #w)
})"};
}

TERN_RULE(FoldTermBeforeConv) {
  return Rule{
      .summary =
          "a constant per channel added to the input of a Conv without padding is folded into its bias",
      .level = Level::kExtended,  // because the sum rounds differently
      .roots = {"Conv"},
      .apply = FoldTerm,
      .example = R"(graph @g(%x: f32[N,2,H,W]) -> (%y) {
  #w: f32[1,2,1,1] = (1, 2)  #c: f32[2,1,1] = (3, 4)
  %y = Conv(%x - #c, #w)
})"};
}

}  // namespace tern
