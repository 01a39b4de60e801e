// QBinary: elementwise sums and products of quantized tensors.
#include "ir/axis_map.h"
#include "ir/op_cost.h"
#include "ops/quant/quantized.h"

namespace tern {
namespace {

enum class QBinaryKind : uint8_t { kAdd, kMul };

struct QBinary {
  QBinaryKind kind = QBinaryKind::kAdd;
  template <class V> void Visit(V& v) { v.Enum("kind", kind, {"add", "mul"}, "the function"); }
};

}  // namespace

TERN_OP(QBinary) {
  return OpDef::Of<QBinary>(
             "y = quantize(dequantize(a) + dequantize(b)), or * instead of +, with broadcasting as in numpy")
      .In("a", kQuantized)
      .In("a_scale", kScale)
      .OptIn("a_zero_point", kQuantized)
      .In("b", kQuantized)
      .In("b_scale", kScale)
      .OptIn("b_zero_point", kQuantized)
      .In("y_scale", kScale)
      .OptIn("y_zero_point", kQuantized)
      .Out("y", kQuantized)
      .Flops(QuantizedFlops(PerOutput(1)))
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(BroadcastAxes)
      .Infer(InferQuantizedOp<QBinary>)
      .Reference(EvaluateQuantizedOp<QBinary>);
}

}  // namespace tern
