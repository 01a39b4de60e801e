// QConv: convolution of quantized tensors.
#include "ir/op_cost.h"
#include "ops/conv/conv_shapes.h"
#include "ops/quant/quantized.h"
#include "ops/support/channels_last.h"

namespace tern {
namespace {

struct QConv : ConvAttrs, ChannelOrder {
  BoundsAttrs bounds;
  ResidualAttrs sum;
  template <class V> void Visit(V& v) {
    VisitWindow(
        v,
        "pads at the start of each spatial axis, then at the end of each; a negative pad crops; empty means 0");
    VisitGroup(v);
    VisitChannels(v);
    bounds.Visit(v);
    sum.Visit(v);
  }
};

}  // namespace

TERN_OP(QConv) {
  return OpDef::Of<QConv>(
             "y = quantize(activation(dequantize(x) ⋆ dequantize(w) + bias * x_scale * w_scale + dequantize(residual))), as in Conv; w has one scale or one per output channel; without y_scale, y, residual and a bias in f32 are real numbers; with inner_scale, the sum is quantized before the residual is added")
      .In("x", kQuantized)
      .In("x_scale", kScale)
      .OptIn("x_zero_point", kQuantized)
      .Weight("w", kQuantized)
      .In("w_scale", kScale)
      .OptIn("w_zero_point", kQuantized)
      .OptIn("y_scale", kScale)
      .OptIn("y_zero_point", kQuantized)
      .OptWeight("bias", SetOf(DType::kI32) | SetOf(DType::kF32))
      .OptIn("residual", kQuantized | SetOf(DType::kF32))
      .OptIn("residual_scale", kScale)
      .OptIn("residual_zero_point", kQuantized)
      .OptIn("inner_scale", kScale)
      .OptIn("inner_zero_point", kQuantized)
      .Out("y", kQuantized | SetOf(DType::kF32))
      .Macs(ConvMacs(3))
      .Flops(QuantizedFlops({}))
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(No{"the attribute channels_last determines the channel axis"})
      .TypicalDims(No{"the kernel is chosen for the dims of each plan"})
      .Infer(InferQuantizedOp<QConv>)
      .Reference(EvaluateQuantizedOp<QConv>);
}

}  // namespace tern
