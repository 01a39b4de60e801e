// QConv: convolution of quantized tensors.
#include "ir/op_cost.h"
#include "ops/conv/conv_shapes.h"
#include "ops/quant/quantized.h"

namespace tern {
namespace {

struct QConv : ConvAttrs {
  BoundsAttrs bounds;
  template <class V> void Visit(V& v) {
    VisitWindow(
        v,
        "pads at the start of each spatial axis, then at the end of each; a negative pad crops; empty means 0");
    VisitGroup(v);
    bounds.Visit(v);
  }
};

}  // namespace

TERN_OP(QConv) {
  return OpDef::Of<QConv>(
             "y = quantize(activation(dequantize(x) ⋆ dequantize(w) + bias * x_scale * w_scale)), as in Conv; w has one scale or one per output channel")
      .In("x", kQuantized)
      .In("x_scale", kScale)
      .OptIn("x_zero_point", kQuantized)
      .Weight("w", kQuantized)
      .In("w_scale", kScale)
      .OptIn("w_zero_point", kQuantized)
      .In("y_scale", kScale)
      .OptIn("y_zero_point", kQuantized)
      .OptWeight("bias", SetOf(DType::kI32))
      .Out("y", kQuantized)
      .Macs(ConvMacs(3))
      .Flops(QuantizedFlops({}))
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(No{"channels must be axis 1"})
      .TypicalDims(No{"the kernel is chosen for the dims of each plan"})
      .Infer(InferQuantizedOp<QConv>)
      .Reference(EvaluateQuantizedOp<QConv>);
}

}  // namespace tern
