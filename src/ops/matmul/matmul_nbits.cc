// MatMulNBits: matrix products with weights of 4 or 8 bits that stay quantized in memory.
#include <algorithm>
#include <cmath>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/matmul/product_macs.h"
#include "ops/matmul/row_rounding.h"
#include "ops/quant/evaluate_part.h"
#include "ops/support/epilogue.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct MatMulNBits {
  bool transpose_b = false;
  int64_t block_size = 0;
  bool dynamic = false;
  EpilogueAttrs epilogue;
  template <class V> void Visit(V& v) {
    v("transpose_b", transpose_b, "b is [n, k] instead of [k, n]");
    v("block_size", block_size,
      "number of consecutive elements along k that share a scale; 0 means one scale for all, or one per column");
    v("dynamic", dynamic,
      "round each row of a to i8 before the product, with the scale max(|row|) / 127, so that the product can use integer instructions");
    epilogue.Visit(v);
  }
};

constexpr DTypeSet kWeights = SetOf(DType::kI4) | SetOf(DType::kU4) | SetOf(DType::kI8) | SetOf(DType::kU8);

// Input indices. Bias and residual have the positions that the trait kEpilogue requires.
enum : int { kA, kB, kBias, kResidual, kScale, kZero };

// Blocks lie along k. Scales per column lie along n.
int64_t ScaleAxis(const MatMulNBits& op) { return (op.block_size > 0) == op.transpose_b ? 1 : 0; }

Attrs DequantizeTo(const MatMulNBits& op, DType to) {
  Attrs attrs = DequantizeAttrs(ScaleAxis(op), to);
  TERN_CHECK(attrs.Set("block_size", op.block_size).ok());
  return attrs;
}

Attrs ProductAttrs(const MatMulNBits& op) {
  Attrs attrs = FindOp("MatMul")->defaults;
  for (const Attrs::Entry& entry : Attrs::Of(op).List())
    if (attrs.Has(entry.name)) TERN_CHECK(attrs.Set(entry.name, entry.value).ok());
  return attrs;
}

InferInput Typed(const InferContext& c, int i) {
  return c.Has(i) ? InferInput{true, c.In(i), {}, {}} : InferInput{};
}

Status Infer(const MatMulNBits& op, InferContext& c) {
  const Shape& b = c.In(kB).shape;
  if (b.ranked && b.rank() != 2) return InvalidModel("b must be a matrix, got ", b.ToString());
  if (op.dynamic && c.In(kA).dtype != DType::kF32 && c.In(kA).dtype != DType::kInvalid)
    return InvalidModel("dynamic quantization needs f32, but a is ", DTypeName(c.In(kA).dtype));
  TERN_ASSIGN(const Type w, InferPart(*FindOp("Dequantize"), DequantizeTo(op, c.In(kA).dtype),
                                      {Typed(c, kB), Typed(c, kScale), Typed(c, kZero)}));
  TERN_ASSIGN(Type y, InferPart(*FindOp("MatMul"), ProductAttrs(op),
                                {Typed(c, kA), {true, w, {}, {}}, Typed(c, kBias), Typed(c, kResidual)}));
  c.Out("y", y.dtype, std::move(y.shape));
  return {};
}

Tensor Given(const EvalContext& c, int i) { return c.Has(i) ? c.In(i) : Tensor(); }

// Returns `a` with each row rounded to i8 and dequantized again.
Tensor Rounded(const Tensor& a) {
  Tensor y = a.Clone();
  const int64_t k = a.dims().back(), rows = k ? a.size() / k : 0;
  for (int64_t r = 0; r < rows; ++r) {
    float* row = y.data<float>() + r * k;
    const RowScale scale = RowScaleOf(row, k);
    for (int64_t i = 0; i < k; ++i) row[i] = static_cast<float>(RoundedTo8Bits(row[i], scale)) * scale.scale;
  }
  return y;
}

Status Reference(const MatMulNBits& op, EvalContext& c) {
  const DType type = c.In(kA).dtype();
  TERN_ASSIGN(const Tensor w, EvaluatePart(*FindOp("Dequantize"), DequantizeTo(op, type),
                                           {c.In(kB), c.In(kScale), Given(c, kZero)}));
  const Tensor a = op.dynamic ? Rounded(c.In(kA)) : c.In(kA);
  TERN_ASSIGN(Tensor y, EvaluatePart(*FindOp("MatMul"), ProductAttrs(op),
                                     {a, w, Given(c, kBias), Given(c, kResidual)}));
  c.SetOut(0, Datum(std::move(y)));
  return {};
}

bool NBitsBatch(BatchItems& b) { return b.InDims(0).size() >= 2 && b.WithEpilogue(); }

constexpr int64_t kTypicalNBitsRows = 16;

int64_t TypicalNBitsDim(const StaticNode& n, size_t input, size_t axis) {
  const size_t rank = n.inputs[input].dims.size();
  return axis + 1 == rank ? kSizeOfWeights : axis + 2 == rank ? kTypicalNBitsRows : 1;
}

}  // namespace

TERN_OP(MatMulNBits) {
  return OpDef::Of<MatMulNBits>(
             "y = activation(a @ dequantize(b) + bias + residual), where b has 4 or 8 bits and one scale per block of k, per column or for all")
      .In("a", kRealFloats)
      .Weight("b", kWeights)
      .OptIn("bias", kRealFloats)
      .OptIn("residual", kRealFloats)
      .In("scale", kRealFloats)
      .OptIn("zero_point", kWeights)
      .Out("y", kRealFloats)
      .Traits(kPure | kEpilogue)
      .Macs(ProductMacs)
      .Flops(EpilogueFlops)
      .Batch(NBitsBatch)
      .Axes(No{"the matrices must be in the last two axes"})
      .TypicalDims(TypicalNBitsDim)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
