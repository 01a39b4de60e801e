// Fuses sums into QConv and QMatMul, and activations into those with an f32 result.
#include <algorithm>
#include <cmath>

#include "ops/quant/quantized.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

constexpr int kYScale = 6, kBias = 8, kResidual = 9;

// Returns the QConv or QMatMul that makes v, if its result is f32, has no activation and no other reader.
const Node* RealProduct(const Value* v) {
  const Node* node = MadeBy(v, "QConv");
  if (!node) node = MadeBy(v, "QMatMul");
  const bool fits = node && OnlyUse(v) && !node->input(kYScale) && node->attrs.Text("activation") == "none";
  return fits ? node : nullptr;
}

// If `term` is one number per output channel of `product`, returns it as a vector. Otherwise returns null.
Value* AsBias(Rewrite& r, const Node& product, Value* term) {
  const Shape &s = term->type.shape, &y = product.output(0)->type.shape;
  const bool conv = IsOp(product, "QConv");
  const int channel_axis = conv ? 1 : y.rank() - 1;
  if (!y.ranked || y.rank() < 2 || !s.ranked || s.rank() > y.rank() || !term->is_constant()) return nullptr;
  if (product.input(3)->type.shape.rank() < 2) return nullptr;  // the result has no columns
  const int axis = channel_axis - (y.rank() - s.rank());
  if (axis < 0 || !y[channel_axis].known() || !s[axis].Is(y[channel_axis].value())) return nullptr;
  if (term->constant.size() != y[channel_axis].value()) return nullptr;
  return s.rank() == 1 ? term : r.Op("Reshape", {term, r.Ints({-1})});
}

std::vector<Value*> WithInput(const Node& product, int at, Value* v) {
  std::vector<Value*> inputs = product.inputs();
  inputs.resize(std::max(inputs.size(), static_cast<size_t>(at) + 1));
  inputs[static_cast<size_t>(at)] = v;
  return inputs;
}

bool FuseSum(Rewrite& r) {
  const Node& sum = r.root();
  if (sum.output(0)->type.dtype != DType::kF32) return r.Skip("the type is not f32");
  for (int i : {0, 1}) {
    const Node* product = RealProduct(sum.input(i));
    Value* term = sum.input(1 - i);
    if (!product || product->input(kResidual) || product->graph != sum.graph) continue;
    if (Value* bias = product->input(kBias) ? nullptr : AsBias(r, *product, term))
      return r.Replace(r.Op(*product->op, product->attrs, WithInput(*product, kBias, bias)));
    if (SameShape(term, sum.input(i)))
      return r.Replace(r.Op(*product->op, product->attrs, WithInput(*product, kResidual, term)));
  }
  return r.Skip("no operand is made by QConv or QMatMul that can add the other operand");
}

constexpr int kYZero = 7, kInnerZero = 13;

bool IsByte(const Value* v) { return v->type.dtype == DType::kU8 || v->type.dtype == DType::kI8; }

// Returns the QConv or QMatMul that makes v, if its operands and v have 8 bits, its weights are constant, it
// has no residual, and v has no other reader.
const Node* ByteProduct(const Value* v) {
  const Node* node = MadeBy(v, "QConv");
  if (!node) node = MadeBy(v, "QMatMul");
  const bool fits = node && OnlyUse(v) && node->input(kYScale) && !node->input(kResidual) &&
                    IsByte(node->input(0)) && IsByte(node->input(3)) && node->input(3)->is_constant() &&
                    IsByte(v);
  return fits ? node : nullptr;
}

bool FuseQuantizedSum(Rewrite& r) {
  const Node& sum = r.root();
  for (int i : {0, 1}) {
    const Node* product = ByteProduct(sum.input(3 * i));
    const int other = 3 * (1 - i);
    if (!product || product->graph != sum.graph || !SameShape(sum.input(other), sum.input(3 * i)) ||
        !SameShape(sum.output(0), sum.input(3 * i)) || !IsByte(sum.input(other)) || !IsByte(sum.output(0)))
      continue;
    const Value* inner = sum.input(3 * i);
    if (!inner->type.shape.ranked || !product->input(kYScale)->type.shape.fully_known()) continue;
    std::vector<Value*> inputs = product->inputs();
    inputs.resize(kInnerZero + 1);
    const auto set = [&](int at, Value* v) { inputs[static_cast<size_t>(at)] = v; };
    set(kInnerZero - 1, product->input(kYScale));
    set(kInnerZero, product->input(kYZero));
    if (!product->input(kYZero))
      set(kInnerZero, r.Const(Tensor(inner->type.dtype, product->input(kYScale)->type.shape.Concrete())));
    const DType to = sum.output(0)->type.dtype;
    Value* zero = sum.input(7);
    if (!zero && to != inputs[0]->type.dtype) {
      if (!sum.input(6)->type.shape.fully_known()) continue;
      zero = r.Const(Tensor(to, sum.input(6)->type.shape.Concrete()));
    }
    set(kYScale, sum.input(6)), set(kYZero, zero);
    for (int k : {0, 1, 2}) set(kResidual + k, sum.input(other + k));
    Attrs attrs = product->attrs;
    TERN_CHECK(attrs.Set("residual_first", i == 1).ok());
    return r.Replace(r.Op(*product->op, attrs, inputs));
  }
  return r.Skip("no operand is made by an 8-bit QConv or QMatMul with the shape of the other operand");
}

bool FuseBounds(Rewrite& r) {
  const Node& bounds = r.root();
  const Node* product = RealProduct(bounds.input(0));
  if (!product || product->graph != bounds.graph)
    return r.Skip("its input is not made by QConv or QMatMul with an f32 result");
  Attrs attrs = product->attrs;
  double limits[] = {0, INFINITY};
  if (IsOp(bounds, "Clip")) {
    limits[0] = -INFINITY;
    for (int i : {0, 1}) {
      if (!bounds.input(i + 1)) continue;
      const auto limit = ScalarOf(bounds.input(i + 1));
      if (!limit || std::isnan(*limit)) return r.Skip("a bound is not constant");
      limits[i] = *limit;
    }
  }
  if (!(limits[0] <= limits[1])) return r.Skip("the bounds are in the wrong order");
  TERN_CHECK(attrs.Set("activation", IsOp(bounds, "Clip") ? "clip" : "relu").ok());
  if (IsOp(bounds, "Clip"))
    TERN_CHECK(attrs.Set("act_alpha", limits[0]).ok() && attrs.Set("act_beta", limits[1]).ok());
  return r.Replace(r.Op(*product->op, attrs, product->inputs()));
}

}  // namespace

TERN_RULE(FuseSumIntoQuantizedProduct) {
  return Rule{.summary = "a term added to a QConv or QMatMul with an f32 result becomes its bias or residual",
              .level = Level::kExtended,
              .roots = {"Binary:add"},
              .apply = FuseSum,
              .example = R"(graph @g(%x: u8[N,4], %r: f32[N,2]) -> (%y) {
  #w: i8[4,2] = (1, 2, 3, 4, 5, 6, 7, 8)  #s: f32[] = (0.1)
  %y = QMatMul(%x, #s, _, #w, #s) + %r
})"};
}

TERN_RULE(FuseQuantizedSumIntoProduct) {
  return Rule{
      .summary =
          "a QConv or QMatMul also computes the sum of its 8-bit result and an 8-bit tensor; it rounds twice",
      .level = Level::kExtended,
      .roots = {"QBinary:add"},
      .apply = FuseQuantizedSum,
      .example = R"(graph @g(%x: u8[N,4], %r: u8[N,2]) -> (%y) {
  #w: i8[4,2] = (1, 2, 3, 4, 5, 6, 7, 8)  #s: f32[] = (0.1)  #z: u8[] = (3)
  %y = QBinary(QMatMul(%x, #s, _, #w, #s, _, #s), #s, _, %r, #s, #z, #s, #z) {kind="add"}
})"};
}

TERN_RULE(FuseBoundsIntoQuantizedProduct) {
  return Rule{.summary = "a Relu or Clip after a QConv or QMatMul with an f32 result becomes its activation",
              .level = Level::kExtended,
              .roots = {"Unary:relu", "Clip"},
              .apply = FuseBounds,
              .example = R"(graph @g(%x: u8[N,4]) -> (%y) {
  #w: i8[4,2] = (1, 2, 3, 4, 5, 6, 7, 8)  #s: f32[] = (0.1)
  %y = Relu(QMatMul(%x, #s, _, #w, #s))
})"};
}

}  // namespace tern
