// Recognises integer products that are scaled afterwards, as dynamic quantization writes them.
#include <algorithm>

#include "ops/quant/quantized.h"
#include "passes/quant/parameters.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool IsByte(DType t) { return t == DType::kU8 || t == DType::kI8; }

// A tensor of 8 bits minus a zero point, which may be null.
struct Shifted {
  Value *x = nullptr, *zero = nullptr;
};

// Returns the zero point in 8 bits, or null. `zero` is i32.
Value* ByteZero(Rewrite& r, Value* zero, DType type) {
  if (const Node* cast = MadeBy(zero, "Cast"); cast && cast->input(0)->type.dtype == type)
    return IsSingle(cast->input(0)->type.shape) ? cast->input(0) : nullptr;
  const auto value = ScalarOf(zero);
  const double low = type == DType::kI8 ? -128 : 0;
  if (!value || *value < low || *value > low + 255 || !IsSingle(zero->type.shape)) return nullptr;
  return r.Scalar(type, *value);
}

// Returns the operand of an integer product. `x` is null if the operand is not of 8 bits.
Shifted Operand(Rewrite& r, Value* v) {
  if (IsByte(v->type.dtype)) return {v, nullptr};
  const Node* sub = MadeBy(v, "Binary", "sub");
  const Node* cast = sub ? MadeBy(sub->input(0), "Cast") : nullptr;
  if (!cast || v->type.dtype != DType::kI32 || !IsByte(cast->input(0)->type.dtype)) return {};
  Value* zero = ByteZero(r, sub->input(1), cast->input(0)->type.dtype);
  return zero ? Shifted{cast->input(0), zero} : Shifted();
}

// Returns constant weights in 8 bits, or null. Weights minus their zero point are i32.
Value* ByteWeights(Rewrite& r, Value* w) {
  if (!w->is_constant()) return nullptr;
  if (IsByte(w->type.dtype)) return w;
  if (w->type.dtype != DType::kI32) return nullptr;
  const int32_t* data = w->constant.data<const int32_t>();
  const bool fits =
      std::all_of(data, data + w->constant.size(), [](int32_t v) { return v >= -128 && v <= 127; });
  if (!fits) return nullptr;
  Tensor bytes(DType::kI8, w->constant.dims());
  std::copy(data, data + w->constant.size(), bytes.data<int8_t>());
  return r.Const(bytes);
}

// Returns the scale of the weights: one number, or a vector with one number per output channel of `product`.
// Returns null if `scale` has another shape.
Value* WeightScale(Rewrite& r, const Node& product, Value* scale) {
  if (IsSingle(scale->type.shape)) return scale;
  const Shape &s = scale->type.shape, &y = product.output(0)->type.shape;
  if (!s.ranked || !y.ranked || y.rank() < 2 || s.rank() > y.rank()) return nullptr;
  if (product.input(1)->type.shape.rank() < 2) return nullptr;
  const int channel_axis = IsOp(product, "Conv") ? 1 : y.rank() - 1;
  const int axis = channel_axis - (y.rank() - s.rank());
  if (axis < 0 || !y[channel_axis].known() || !s[axis].Is(y[channel_axis].value())) return nullptr;
  for (int i = 0; i < s.rank(); ++i)
    if (i != axis && !s[i].Is(1)) return nullptr;
  return s.rank() == 1 ? scale : r.Op("Reshape", {scale, r.Ints({-1})});
}

struct Scales {
  Value *x = nullptr, *w = nullptr;
};
Scales SplitScale(Rewrite& r, const Node& product, Value* scale) {
  if (const Node* mul = MadeBy(scale, "Binary", "mul"))
    for (int i : {0, 1}) {
      if (!IsSingle(mul->input(i)->type.shape)) continue;
      if (Value* w = WeightScale(r, product, mul->input(1 - i))) return {mul->input(i), w};
    }
  return {r.Scalar(DType::kF32, 1), WeightScale(r, product, scale)};
}

bool Fuse(Rewrite& r, const Node& product, Value* scale) {
  const char* name = IsOp(product, "Conv") ? "QConv" : "QMatMul";
  if (product.input(2) || !NoEpilogue(product)) return r.Skip("the product has a bias or an epilogue");
  const Shifted x = Operand(r, product.input(0));
  if (!x.x) return r.Skip("the left operand does not have 8 bits and one zero point");
  Value* w = ByteWeights(r, product.input(1));
  if (!w) return r.Skip("the right operand is not constant, or does not fit into 8 bits");
  const Scales scales = SplitScale(r, product, scale);
  if (!scales.w) return r.Skip("the scale is neither one number nor one number per channel");
  const OpDef& op = *FindOp(name);
  Attrs attrs = op.defaults;
  for (const Attrs::Entry& entry : product.attrs.List())
    if (!attrs.Has(entry.name) ? !entry.is_default : !attrs.Set(entry.name, entry.value).ok())
      return r.Skip("an attribute has no counterpart");
  return r.Replace(r.Op(op, attrs, {x.x, scales.x, x.zero, w, scales.w}));
}

bool FuseScaledProduct(Rewrite& r) {
  const Node& mul = r.root();
  if (mul.output(0)->type.dtype != DType::kF32) return r.Skip("the type is not f32");
  for (int i : {0, 1}) {
    const Node* cast = MadeBy(mul.input(i), "Cast");
    if (!cast || !OnlyUse(mul.input(i)) || cast->input(0)->type.dtype != DType::kI32) continue;
    const Node* product = MadeBy(cast->input(0), "MatMul");
    if (!product) product = MadeBy(cast->input(0), "Conv");
    if (!product || !OnlyUse(cast->input(0))) continue;
    return Fuse(r, *product, mul.input(1 - i));
  }
  return r.Skip("no operand is an integer product cast to f32");
}

}  // namespace

TERN_RULE(FuseScaledIntegerProduct) {
  return Rule{.summary = "an integer product that is cast to f32 and scaled becomes a QConv or QMatMul",
              .level = Level::kExtended,
              .roots = {"Binary:mul"},
              .apply = FuseScaledProduct,
              .example = R"(graph @g(%x: u8[N,4], %s: f32[]) -> (%y) {
  #w: i8[4,2] = (1, 2, 3, 4, 5, 6, 7, 8)  #t: f32[] = (0.1)
  %y = Cast(MatMul(%x, #w)) {to=f32} * (%s * #t)
})"};
}

}  // namespace tern
