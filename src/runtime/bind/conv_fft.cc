// Binds channels-last convolutions with large windows to FFT convolution. There is one kernel per tile size.
// Each kernel has its own packed weights. The image size decides which kernel is chosen.
#include "kernels/cpu/conv/fft_conv.h"
#include "runtime/bind/conv_nhwc.h"
#include "runtime/cost/cost_model.h"

namespace tern {
namespace {

template <class Conv, int kLog> class Tiles : public Conv {
 public:
  Tiles() = default;
  explicit Tiles(const cpu::ConvShape& s) : Conv(s, kLog) {}
  static int64_t PackedSize(const cpu::ConvShape& s) { return Conv::PackedSize(s, kLog); }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    Conv::Pack(s, w, to, workers, kLog);
  }
};

template <class Conv, int kLog> class FftConv : public NhwcKernel<FftConv<Conv, kLog>, Tiles<Conv, kLog>> {
 public:
  static bool Legal(const KernelQuery& q) {
    using Base = NhwcKernel<FftConv, Tiles<Conv, kLog>>;
    if (q.exact_integers || !Base::Legal(q)) return false;
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() && cpu::FftSize::Fits(*s, kLog) && Large(*s) && Packable(*s);
  }
  static double CostOf(const KernelQuery& q) {
    return Conv::Cost(*NhwcShape(q), kLog) * CpuProductNanoseconds() / kCalibratedProduct;
  }

 private:
  // The time of one multiply-add, in nanoseconds, on the machine on which Conv::Cost was measured.
  static constexpr double kCalibratedProduct = 0.0173;
  static constexpr bool kDepthwise = std::is_same_v<Conv, cpu::FftDepthwise>;
  // Returns whether the window has so many taps that FFT can be faster than direct convolution.
  static bool Large(const cpu::ConvShape& s) {
    const bool line = s.kernel[1] == 1 || s.kernel[2] == 1;
    if (cpu::FftDepthwise::Fits(s) != kDepthwise) return false;
    return s.taps() >= (kDepthwise ? (line ? 24 : 81) : (line ? 7 : 36));
  }
  // Returns whether the transformed weights fit the memory limits. Up to 2^20 floats are always allowed. More
  // floats are allowed up to 2^24, but at most 16 per weight.
  static bool Packable(const cpu::ConvShape& s) {
    constexpr int64_t kMaxPerWeight = 16, kMax = int64_t{16} << 20, kAlwaysAllowed = int64_t{1} << 20;
    const int64_t size = Conv::PackedSize(s, kLog), weights = s.maps * s.group_channels() * s.taps();
    return size <= std::max(kAlwaysAllowed, std::min(kMax, kMaxPerWeight * weights));
  }
};

template <int kLog>
[[gnu::always_inline]] inline void AddSide(KernelTable& table, KernelName name, KernelName depthwise) {
  AddNhwc<FftConv<cpu::FftConv, kLog>>(table, name);
  AddNhwc<FftConv<cpu::FftDepthwise, kLog>>(table, depthwise);
}

}  // namespace

TERN_KERNELS(ConvFft) {
  AddSide<4>(table, "cpu.conv.fft.16.f32", "cpu.conv.fft.16.depthwise.f32");
  AddSide<5>(table, "cpu.conv.fft.32.f32", "cpu.conv.fft.32.depthwise.f32");
  AddSide<6>(table, "cpu.conv.fft.64.f32", "cpu.conv.fft.64.depthwise.f32");
  AddSide<8>(table, "cpu.conv.fft.256.f32", "cpu.conv.fft.256.depthwise.f32");
  AddSide<10>(table, "cpu.conv.fft.1024.f32", "cpu.conv.fft.1024.depthwise.f32");
}

}  // namespace tern
