// Ties convolutions over channels-last images to Winograd's, one kernel per unit: each packs weights for
// itself only, and sizes of images decide between them.
#include "kernels/cpu/conv/winograd.h"
#include "runtime/bind/conv_nhwc.h"

namespace tern {
namespace {

using cpu::Operands;

template <cpu::WinogradUnit kUnit, Operands kOperands> class Work : public cpu::Winograd {
 public:
  Work() = default;
  explicit Work(const cpu::ConvShape& s) : Winograd(s, kUnit, kOperands) {}
  static int64_t PackedSize(const cpu::ConvShape& s) {
    return cpu::WinogradWeightsSize(kUnit, s.group_channels(), s.maps, kOperands);
  }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    cpu::PackWinogradWeights(kUnit, w, s.group_channels(), s.maps, to, workers, kOperands);
  }
};

template <cpu::WinogradUnit kUnit, Operands kOperands = Operands::kF32>
class WinogradConv : public NhwcKernel<WinogradConv<kUnit, kOperands>, Work<kUnit, kOperands>> {
 public:
  static constexpr int64_t kMostPacked = int64_t{32} << 20;  // words: up to 16 for each weight
  static bool Legal(const KernelQuery& q) {
    using Base = NhwcKernel<WinogradConv, Work<kUnit, kOperands>>;
    if (q.whole || q.InRank(0) != 4 || !Base::Legal(q)) return false;
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (kOperands == Operands::kBf16 &&
        !(q.bf16 && s.ok() && (s->group == 1 || s->group_channels() % 2 == 0)))
      return false;
    return s.ok() && cpu::WinogradFits(*s, kUnit) && Work<kUnit, kOperands>::PackedSize(*s) <= kMostPacked &&
           cpu::WinogradError(kUnit, s->group_channels()) <= cpu::kWinogradErrorAllowed;
  }
  static double Cost(const KernelQuery& q) { return cpu::WinogradCost(*NhwcShape(q), kUnit, kOperands); }
};

}  // namespace

TERN_KERNELS(ConvWinograd) {
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF23>>(table, "cpu.conv.winograd.f2x3.f32");
  // Twice the error of direct products in bf16; larger units have five times that and more
  // (docs/accuracy.md).
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF23, Operands::kBf16>>(table, "cpu.conv.winograd.f2x3.bf16");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF43>>(table, "cpu.conv.winograd.f4x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF63>>(table, "cpu.conv.winograd.f6x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF25>>(table, "cpu.conv.winograd.f2x5.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF45>>(table, "cpu.conv.winograd.f4x5.f32");
}

}  // namespace tern
