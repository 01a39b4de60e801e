// Ties convolutions over channels-last images to their CPU kernels.
#include "runtime/bind/conv_nhwc.h"
#include "kernels/cpu/conv/depthwise_nhwc.h"
#include "kernels/cpu/conv/nhwc_conv.h"
#include "kernels/cpu/conv/nhwc_conv_transpose.h"
#include "runtime/bind/conv_cost.h"

namespace tern {
namespace {

class NhwcConv : public NhwcKernel<NhwcConv, cpu::NhwcConv> {
 public:
  static double Cost(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (!s.ok()) return 0;  // Resize will tell
    const auto maps = static_cast<double>(s->group_maps());
    return ConvCost(*s, 1.05 * maps / (static_cast<double>((s->group_maps() + 7) / 8 * 8)));
  }
};

// One map per channel, each from its own channel.
class NhwcDepthwise : public NhwcKernel<NhwcDepthwise, cpu::NhwcDepthwise> {
 public:
  static bool Legal(const KernelQuery& q) {
    const int64_t channels = q.InDims(0).back();
    return NhwcKernel::Legal(q) && q.attrs().Int("group") == channels && q.OutDims(0).back() == channels;
  }
  static double Cost(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() ? ConvCost(*s, 0.7) : 0;
  }
};

class NhwcConvTranspose : public NhwcKernel<NhwcConvTranspose, cpu::NhwcConvTranspose, true> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (!NhwcKernel::Legal(q)) return false;
    cpu::ConvShape s;
    s.stride = SpatialOf(q.attrs().Ints("strides")), s.dilation = SpatialOf(q.attrs().Ints("dilations"));
    return cpu::NhwcConvTranspose::Fits(s);
  }
  static double Cost(const KernelQuery&) { return 1; }
};

}  // namespace

TERN_KERNELS(ConvNhwc) {
  AddNhwc<NhwcConv>(table, "cpu.conv.nhwc.f32");
  AddNhwc<NhwcDepthwise>(table, "cpu.conv.nhwc.depthwise.f32");
  AddNhwc<NhwcConvTranspose>(table, "cpu.conv_transpose.nhwc.f32", "ConvTranspose");
}

}  // namespace tern
