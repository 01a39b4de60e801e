// QPool and QGlobalPool: compute means of quantized tensors. The op for maxima of quantized tensors is Pool,
// because maxima do not depend on scales.
#include "ir/op_cost.h"
#include "ops/quant/quantized.h"
#include "ops/support/channels_last.h"
#include "ops/support/window.h"

namespace tern {
namespace {

enum class QPoolKind : uint8_t { kAverage };

struct QPool : ChannelOrder {
  QPoolKind kind = QPoolKind::kAverage;
  std::vector<int64_t> kernel, strides, pads, dilations;
  AutoPad auto_pad = AutoPad::kNone;
  bool ceil_mode = false, count_include_pad = false;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"average"}, "the function of each window: mean");
    v("kernel", kernel, "window size, one per spatial axis");
    v("strides", strides, "one per spatial axis; empty means 1");
    v("pads", pads, "pads at the start of each spatial axis, then at the end of each; empty means 0");
    v("dilations", dilations, "one per spatial axis; empty means 1");
    v.Enum("auto_pad", auto_pad, kAutoPadNames,
           "how pads are computed from sizes; `none` means that the attribute pads is used");
    v("ceil_mode", ceil_mode, "the last window may extend beyond the end if it starts inside");
    v("count_include_pad", count_include_pad, "padding counts as zeros");
    VisitChannels(v);
  }
};

struct QGlobalPool : ChannelOrder {
  QPoolKind kind = QPoolKind::kAverage;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"average"}, "the function of each channel: mean");
    VisitChannels(v);
  }
};

}  // namespace

TERN_OP(QPool) {
  return QuantizedFunction<QPool>("y = quantize(mean of each window of dequantize(x)), as in Pool",
                                  WindowFlops, No{"the attribute channels_last determines the channel axis"});
}

TERN_OP(QGlobalPool) {
  return QuantizedFunction<QGlobalPool>(
      "y = quantize(mean of dequantize(x) over all spatial axes), as in GlobalPool", PerInput(1),
      No{"the attribute channels_last determines the channel axis"});
}

}  // namespace tern
