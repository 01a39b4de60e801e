// Ties convolutions over channels-last images to Winograd's, one kernel per unit: each packs weights for
// itself only, and sizes of images decide between them.
#include "kernels/cpu/conv/winograd.h"
#include "runtime/bind/conv_nhwc.h"

namespace tern {
namespace {

template <cpu::WinogradUnit kUnit> class Work : public cpu::Winograd {
 public:
  Work() = default;
  explicit Work(const cpu::ConvShape& s) : Winograd(s, kUnit) {}
  static int64_t PackedSize(const cpu::ConvShape& s) {
    return cpu::WinogradWeightsSize(kUnit, s.group_channels(), s.maps);
  }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    cpu::PackWinogradWeights(kUnit, w, s.group_channels(), s.maps, to, workers);
  }
};

template <cpu::WinogradUnit kUnit> class WinogradConv : public NhwcKernel<WinogradConv<kUnit>, Work<kUnit>> {
 public:
  static constexpr int64_t kMostPacked = int64_t{32} << 20;  // elements: up to 16 for each weight
  static bool Legal(const KernelQuery& q) {
    if (q.InRank(0) != 4 || !NhwcKernel<WinogradConv, Work<kUnit>>::Legal(q)) return false;
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return s.ok() && cpu::WinogradFits(*s, kUnit) && Work<kUnit>::PackedSize(*s) <= kMostPacked &&
           cpu::WinogradError(kUnit, s->group_channels()) <= cpu::kWinogradErrorAllowed;
  }
  static double Cost(const KernelQuery& q) { return cpu::WinogradCost(*NhwcShape(q), kUnit); }
};

}  // namespace

TERN_KERNELS(ConvWinograd) {
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF23>>(table, "cpu.conv.winograd.f2x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF43>>(table, "cpu.conv.winograd.f4x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF63>>(table, "cpu.conv.winograd.f6x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF25>>(table, "cpu.conv.winograd.f2x5.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF45>>(table, "cpu.conv.winograd.f4x5.f32");
}

}  // namespace tern
