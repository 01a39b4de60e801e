// Binds convolutions over channels-last images to their CPU kernels.
#include "runtime/bind/conv_nhwc.h"
#include "kernels/cpu/conv/depthwise_nhwc.h"
#include "kernels/cpu/conv/grouped_nhwc.h"
#include "kernels/cpu/conv/nhwc_conv.h"
#include "kernels/cpu/conv/nhwc_conv_transpose.h"
#include "kernels/cpu/conv/nhwc_taps.h"
#include "runtime/bind/conv_work.h"

namespace tern {
namespace {

using cpu::NhwcWindows;
using cpu::Operands;

// Returns whether the kernel is 1x1, the stride is 1 and there is no padding. Then the convolution is a
// matrix product whose left matrix is the image. The return value depends only on attributes and weights.
bool IsPointwise(const KernelQuery& q) {
  const auto ones = [](const Dims& list) {
    return std::all_of(list.begin(), list.end(), [](int64_t n) { return n == 1; });
  };
  const Dims& w = q.InDims(1);
  const Dims pads = q.attrs().Ints("pads");
  return ones(Dims(w.begin() + 2, w.end())) && ones(q.attrs().Ints("strides")) &&
         std::all_of(pads.begin(), pads.end(), [](int64_t n) { return n == 0; });
}

template <Operands kOperands, NhwcWindows kWindows> class Windows : public cpu::NhwcConv {
 public:
  Windows() = default;
  explicit Windows(const cpu::ConvShape& s) : NhwcConv(s, kOperands, kWindows) {}
  static int64_t PackedSize(const cpu::ConvShape& s) { return NhwcConv::PackedSize(s, kOperands); }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    NhwcConv::Pack(s, w, to, workers, kOperands);
  }
};

// NhwcWindows::kAny marks the kernel of pointwise convolutions. With Operands::kBf16, processors without bf16
// instructions round the operands to bf16 and multiply in f32. So the results are the same on all processors.
template <Operands kOperands, NhwcWindows kWindows>
class NhwcConv : public NhwcKernel<NhwcConv<kOperands, kWindows>, Windows<kOperands, kWindows>> {
 public:
  using Base = NhwcKernel<NhwcConv, Windows<kOperands, kWindows>>;
  static constexpr bool kPointwise = kWindows == NhwcWindows::kAny;
  static constexpr const char* kPack = kOperands == Operands::kBf16 ? "conv.panels.bf16" : "conv.panels.f32";
  static bool Legal(const KernelQuery& q) {
    return ((q.bf16 && !q.exact_integers) || kOperands == Operands::kF32) && Base::Legal(q) &&
           IsPointwise(q) == kPointwise && !FallsBackToIm2col(q);
  }
  static std::string WhyNot(const KernelQuery& q) {
    if (kOperands == Operands::kBf16 && !q.bf16) return "precision is fp32";
    if (kOperands == Operands::kBf16 && q.exact_integers) return "sums of integers must be exact";
    if (std::string why = Base::WhyNot(q); !why.empty()) return why;
    if (kPointwise) return "needs a 1x1 kernel, strides 1, no pads";
    return IsPointwise(q) ? "needs a kernel above 1x1, a stride above 1, or pads"
                          : "the dilation is too wide to read windows in place";
  }
  static bool Bf16Storage(const KernelQuery& q, int operand) {
    if (kOperands != Operands::kBf16) return false;
    if (operand == 0) return q.InDims(1)[1] % 2 == 0;  // the number of channels of a group must be even
    return Bf16Result(q, operand);
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (!s.ok()) return {};  // Resize returns the error
    if (kPointwise) return {PointwiseWork(*s, kOperands)};
    constexpr bool kBf16 = kOperands == Operands::kBf16;
    Work work = ConvOperands(*s);
    work.algorithm = kWindows == NhwcWindows::kInPlace ? (kBf16 ? "direct_bf16" : "direct")
                                                       : (kBf16 ? "im2col_bf16" : "im2col");
    const cpu::NhwcCounts counts = Windows<kOperands, kWindows>(*s).Counts();
    work.products = counts.products;
    work.transformed = counts.copied;
    if (kBf16) work.weights /= 2;
    return {work};
  }

 private:
  // Returns whether kWindows is kInPlace but cpu::NhwcConv would use im2col for this shape. Such a kernel is
  // not legal, because it would only repeat the im2col kernel.
  static bool FallsBackToIm2col(const KernelQuery& q) {
    if (kWindows != NhwcWindows::kInPlace) return false;
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() && Windows<kOperands, kWindows>(*s).uses_im2col();
  }
};

// Depthwise convolution with one output channel per input channel.
class NhwcDepthwise : public NhwcKernel<NhwcDepthwise, cpu::NhwcDepthwise> {
 public:
  static bool Legal(const KernelQuery& q) { return NhwcKernel::Legal(q) && IsDepthwise(q); }
  static std::string WhyNot(const KernelQuery& q) {
    const std::string why = NhwcKernel::WhyNot(q);
    return !why.empty() ? why : "needs as many groups and output channels as input channels";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() ? std::vector<Work>{DepthwiseWork("depthwise", *s)} : std::vector<Work>();
  }

 private:
  static bool IsDepthwise(const KernelQuery& q) {
    const int64_t channels = q.InDims(0).back();
    return q.attrs().Int("group") == channels && q.OutDims(0).back() == channels;
  }
};

// Convolution with groups of few channels.
class NhwcGrouped : public NhwcKernel<NhwcGrouped, cpu::NhwcGrouped> {
 public:
  static bool Legal(const KernelQuery& q) { return NhwcKernel::Legal(q) && FitsShape(q); }
  static std::string WhyNot(const KernelQuery& q) {
    const std::string why = NhwcKernel::WhyNot(q);
    return !why.empty()
               ? why
               : "needs groups of 4 or 8 input and output channels that fit into a vector, and a kernel with 3 "
                 "columns, dilation 1 and stride 1 or 2";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const cpu::ConvShape s = *NhwcShape(q);
    Work work = ConvOperands(s);
    work.algorithm = "grouped";
    work.products = ProductOf({s.batch, s.maps, s.group_channels(), s.taps()}) * ProductOf(s.output);
    work.transformed = cpu::NhwcGrouped(s).Copied();
    return {work};
  }

 private:
  static bool FitsShape(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() && cpu::NhwcGrouped::Fits(*s);
  }
};

// Convolution of which many taps read padding, because of a large dilation.
class NhwcTaps : public NhwcKernel<NhwcTaps, cpu::NhwcTaps> {
 public:
  static constexpr const char* kPack = "conv.panels.f32";
  static bool Legal(const KernelQuery& q) { return NhwcKernel::Legal(q) && FitsShape(q); }
  static std::string WhyNot(const KernelQuery& q) {
    const std::string why = NhwcKernel::WhyNot(q);
    return !why.empty()
               ? why
               : "needs one group, a dilation above 1, at most two spatial axes, and a tap that never reads padding";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const cpu::ConvShape s = *NhwcShape(q);
    Work work = ConvOperands(s);
    work.algorithm = "direct";
    work.products = cpu::NhwcTaps(s).Products();
    return {work};
  }

 private:
  // Without dilation, few taps read padding.
  static bool FitsShape(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() && (s->dilation[1] > 1 || s->dilation[2] > 1) && cpu::NhwcTaps::Fits(*s);
  }
};

class NhwcConvTranspose : public NhwcKernel<NhwcConvTranspose, cpu::NhwcConvTranspose, true> {
 public:
  static bool Legal(const KernelQuery& q) {
    return NhwcKernel::Legal(q) &&
           cpu::NhwcConvTranspose::Fits(WeightShape(q.InDims(1), q.attrs(), /*transposed=*/true));
  }
  static std::string WhyNot(const KernelQuery& q) {
    const std::string why = NhwcKernel::WhyNot(q);
    return !why.empty()
               ? why
               : "strides and dilations are both above 1, the product of strides is above 64, or the "
                 "dilation is too wide";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() ? std::vector<Work>{ConvTransposeWork("transposed", *s)} : std::vector<Work>();
  }
};

}  // namespace

TERN_KERNELS(ConvNhwc) {
  constexpr Operands kF32 = Operands::kF32, kBf16 = Operands::kBf16;
  AddNhwc<NhwcConv<kF32, NhwcWindows::kAny>>(table, "cpu.conv.nhwc.pointwise.f32");
  AddNhwc<NhwcConv<kF32, NhwcWindows::kInPlace>>(table, "cpu.conv.nhwc.direct.f32");
  AddNhwc<NhwcConv<kF32, NhwcWindows::kIm2col>>(table, "cpu.conv.nhwc.im2col.f32");
  AddNhwc<NhwcConv<kBf16, NhwcWindows::kAny>>(table, "cpu.conv.nhwc.pointwise.bf16");
  AddNhwc<NhwcConv<kBf16, NhwcWindows::kInPlace>>(table, "cpu.conv.nhwc.direct.bf16");
  AddNhwc<NhwcConv<kBf16, NhwcWindows::kIm2col>>(table, "cpu.conv.nhwc.im2col.bf16");
  AddNhwc<NhwcDepthwise>(table, "cpu.conv.nhwc.depthwise.f32");
  AddNhwc<NhwcGrouped>(table, "cpu.conv.nhwc.grouped.f32");
  AddNhwc<NhwcTaps>(table, "cpu.conv.nhwc.taps.f32");
  AddNhwc<NhwcConvTranspose>(table, "cpu.conv_transpose.nhwc.f32", "ConvTranspose");
}

}  // namespace tern
