// QMatMul: products of quantized matrices.
#include "ops/matmul/product_macs.h"
#include "ops/quant/quantized.h"

namespace tern {
namespace {

struct QMatMul {
  bool transpose_a = false, transpose_b = false;
  BoundsAttrs bounds;
  ResidualAttrs sum;
  template <class V> void Visit(V& v) {
    v("transpose_a", transpose_a, "swap the last two axes of a before the product; a vector is unchanged");
    v("transpose_b", transpose_b, "swap the last two axes of b before the product; a vector is unchanged");
    bounds.Visit(v);
    sum.Visit(v);
  }
};

}  // namespace

TERN_OP(QMatMul) {
  return OpDef::Of<QMatMul>(
             "y = quantize(activation(dequantize(a) @ dequantize(b) + bias * a_scale * b_scale + dequantize(residual))), as in MatMul; b has one scale or one per column; without y_scale, y, residual and a bias in f32 are real numbers; with inner_scale, the sum is quantized before the residual is added")
      .In("a", kQuantized)
      .In("a_scale", kScale)
      .OptIn("a_zero_point", kQuantized)
      .Weight("b", kQuantized)
      .In("b_scale", kScale)
      .OptIn("b_zero_point", kQuantized)
      .OptIn("y_scale", kScale)
      .OptIn("y_zero_point", kQuantized)
      .OptWeight("bias", SetOf(DType::kI32) | SetOf(DType::kF32))
      .OptIn("residual", kQuantized | SetOf(DType::kF32))
      .OptIn("residual_scale", kScale)
      .OptIn("residual_zero_point", kQuantized)
      .OptIn("inner_scale", kScale)
      .OptIn("inner_zero_point", kQuantized)
      .Out("y", kQuantized | SetOf(DType::kF32))
      .Macs(ProductMacs)
      .Flops(QuantizedFlops({}))
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(No{"the matrices must be in the last two axes"})
      .TypicalDims(No{"the kernel is chosen for the dims of each plan"})
      .Infer(InferQuantizedOp<QMatMul>)
      .Reference(EvaluateQuantizedOp<QMatMul>);
}

}  // namespace tern
