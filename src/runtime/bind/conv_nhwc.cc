// Ties convolutions over channels-last images to their CPU kernels.
#include "runtime/bind/conv_nhwc.h"
#include "kernels/cpu/conv/depthwise_nhwc.h"
#include "kernels/cpu/conv/nhwc_conv.h"
#include "kernels/cpu/conv/nhwc_conv_transpose.h"
#include "runtime/bind/conv_cost.h"

namespace tern {
namespace {

// The part of a vector's lanes that maps fill.
double Filled(const cpu::ConvShape& s) {
  return static_cast<double>(s.group_maps()) / static_cast<double>((s.group_maps() + 7) / 8 * 8);
}

class NhwcConv : public NhwcKernel<NhwcConv, cpu::NhwcConv> {
 public:
  static double Cost(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (!s.ok()) return 0;  // Resize will tell
    return ConvCost(*s, 1.05 * Filled(*s));
  }
};

// The same with operands rounded to bf16. Its cost is that of processors that multiply bf16 pairs; others
// round where they do, to give the same results.
class Bf16Work : public cpu::NhwcConv {
 public:
  Bf16Work() = default;
  explicit Bf16Work(const cpu::ConvShape& s) : cpu::NhwcConv(s, cpu::Operands::kBf16) {}
  static int64_t PackedSize(const cpu::ConvShape& s) {
    return cpu::NhwcConv::PackedSize(s, cpu::Operands::kBf16);
  }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    cpu::NhwcConv::Pack(s, w, to, workers, cpu::Operands::kBf16);
  }
};

class NhwcConvBf16 : public NhwcKernel<NhwcConvBf16, Bf16Work> {
 public:
  static bool Legal(const KernelQuery& q) { return q.bf16 && !q.whole && NhwcKernel::Legal(q); }
  static double Cost(const KernelQuery& q) {
    constexpr double kRounded = 4000;  // elements of the image in a microsecond
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (!s.ok()) return 0;
    const int64_t channels = s->group_channels();
    const double paired = static_cast<double>(channels) / static_cast<double>(channels + channels % 2);
    const double read = ProductOf(s->taps() == 1 ? s->output : s->input);  // strides leave pixels out
    return ConvCost(*s, 2 * Filled(*s) * paired) + ProductOf({s->batch, s->channels}) * read / kRounded;
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
    if (!s.ok()) return 0;
    return ConvCost(*s, s->kernel[2] <= 7 ? 0.7 : 0.3);  // larger windows are read tap by tap
  }
};

class NhwcConvTranspose : public NhwcKernel<NhwcConvTranspose, cpu::NhwcConvTranspose, true> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (!NhwcKernel::Legal(q)) return false;
    return cpu::NhwcConvTranspose::Fits(WeightShape(q.InDims(1), q.attrs(), true));
  }
  static double Cost(const KernelQuery&) { return 1; }
};

}  // namespace

TERN_KERNELS(ConvNhwc) {
  AddNhwc<NhwcConv>(table, "cpu.conv.nhwc.f32");
  AddNhwc<NhwcConvBf16>(table, "cpu.conv.nhwc.bf16");
  AddNhwc<NhwcDepthwise>(table, "cpu.conv.nhwc.depthwise.f32");
  AddNhwc<NhwcConvTranspose>(table, "cpu.conv_transpose.nhwc.f32", "ConvTranspose");
}

}  // namespace tern
