// Keeps quantized weights of matrix products quantized, by a MatMulNBits in place of Dequantize and MatMul.
#include <cmath>
#include <cstring>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

constexpr DTypeSet kWeights = SetOf(DType::kI4) | SetOf(DType::kU4) | SetOf(DType::kI8) | SetOf(DType::kU8);

// Returns the value that the attribute `axis` of the Dequantize must have, as an axis of the weights of the
// MatMul. With blocks, this is the axis that the MatMul sums over. Otherwise it is the axis of the columns of
// the result.
int ScaleAxis(bool blocked, bool transposed) { return blocked == transposed ? 1 : 0; }

// Returns the reason why the weights that `d` dequantizes cannot stay quantized, or null if they can.
const char* WhyNot(const Node& product, const Node& d) {
  for (int i : {0, 1, 2})
    if (d.input(i) && !d.input(i)->is_constant()) return "the weights are not constant";
  const Tensor &w = d.input(0)->constant, &scale = d.input(1)->constant;
  if (!(kWeights & SetOf(w.dtype())) || w.rank() != 2) return "the weights are not a matrix of 4 or 8 bits";
  if (scale.dtype() != DType::kF32 && scale.dtype() != DType::kF16 && scale.dtype() != DType::kBF16)
    return "the scales are not f32, f16 or bf16";
  if (product.attrs.Bool("transpose_a")) return "the left operand is transposed";
  if (product.attrs.Float("alpha") != 1) return "alpha is not 1";
  const bool blocked = d.attrs.Int("block_size") > 0;
  const auto axis = AxisOf(d.attrs.Int("axis"), d.input(0));
  if ((blocked || scale.size() > 1) && axis != ScaleAxis(blocked, product.attrs.Bool("transpose_b")))
    return "the scales vary along the wrong axis";
  if (scale.size() == 1 && scale.rank() > 1 && !blocked) return "the scale is not a scalar or a vector";
  return nullptr;
}

// Returns the scales as f16 if this changes none of them. Scales of f16 take half of the memory.
Tensor Compact(const Tensor& scale) {
  if (scale.dtype() != DType::kF32) return scale;
  Tensor halves(DType::kF16, scale.dims());
  const Tensor all = scale.Contiguous();
  for (int64_t i = 0; i < all.size(); ++i) {
    StoreDouble(halves, i, LoadDouble(all, i));
    if (LoadDouble(halves, i) != LoadDouble(all, i)) return scale;
  }
  return halves;
}

// Subtracts half of the range from unsigned weights, which makes them signed.
Tensor Signed(const Tensor& w) {
  const bool nibbles = BitWidth(w.dtype()) == 4;
  Tensor out(nibbles ? DType::kI4 : DType::kI8, w.dims());
  const Tensor from = w.Contiguous();
  for (size_t i = 0; i < out.bytes(); ++i)
    out.data<uint8_t>()[i] = from.data<uint8_t>()[i] ^ (nibbles ? 0x88 : 0x80);
  return out;
}

struct Weights {
  Value *q = nullptr, *scale = nullptr, *zero = nullptr;
};

// Returns weights, scales and zero points of the Dequantize. Omits the zero points if all are 0, or if all
// are the middle of the type's range: the weights then become signed. Converts scales to f16 if possible.
Weights Simplified(Rewrite& r, const Node& d) {
  Weights w{d.input(0), d.input(1), d.input(2)};
  const Tensor scale = Compact(w.scale->constant);
  if (scale.dtype() != w.scale->constant.dtype()) w.scale = r.Const(scale);
  if (!w.zero) return w;
  const auto zero = UniformOf(w.zero);
  const DType type = w.q->constant.dtype();
  if (zero && !IsSignedInt(type) && *zero == std::ldexp(1, BitWidth(type) - 1))
    return {r.Const(Signed(w.q->constant)), w.scale, nullptr};
  if (zero && *zero == 0) w.zero = nullptr;
  return w;
}

bool Fuse(Rewrite& r) {
  const Node& root = r.root();
  // Ignores a Cast to f32 after the Dequantize, which the pass WidenHalf adds to f16 weights. The MatMulNBits
  // then uses weights that are not rounded to f16.
  const Node* cast = MadeBy(root.input(1), "Cast");
  const Node* d =
      MadeBy(cast && root.input(1)->type.dtype == DType::kF32 ? cast->input(0) : root.input(1), "Dequantize");
  if (!d) return r.Skip("the right operand is not made by Dequantize");
  if (const char* why = WhyNot(root, *d)) return r.Skip(why);
  const OpDef& op = *FindOp("MatMulNBits");
  Attrs attrs = op.defaults;
  for (const Attrs::Entry& entry : root.attrs.List())
    if (attrs.Has(entry.name)) SetAttr(attrs, entry.name, entry.value);
  SetAttr(attrs, "block_size", d->attrs.Int("block_size"));
  const Weights w = Simplified(r, *d);
  return r.Replace(r.Op(op, attrs, {root.input(0), w.q, root.input(2), root.input(3), w.scale, w.zero}));
}

}  // namespace

TERN_RULE(KeepMatMulWeightsQuantized) {
  return Rule{
      .summary =
          "a MatMul by dequantized weights of 4 or 8 bits is a MatMulNBits, whose weights stay quantized",
      .level = Level::kExtended,
      .roots = {"MatMul"},
      .apply = Fuse,
      .example = R"(graph @g(%x: f32[N,32]) -> (%y) {
  #w: i8[32,1] = (1, -2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2)
  #s: f32[1,1] = (0.5)
  %y = MatMul(%x, Dequantize(#w, #s) {axis=0, block_size=32})
})"};
}

}  // namespace tern
