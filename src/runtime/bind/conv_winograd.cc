// Binds channels-last convolutions to Winograd convolution. There is one kernel per unit F(m, r), which
// computes m x m outputs of an r x r window. Each kernel has its own packed weights. The image size decides
// which kernel is chosen.
#include "kernels/cpu/conv/winograd.h"
#include "runtime/bind/conv_nhwc.h"
#include "runtime/bind/conv_work.h"

namespace tern {
namespace {

using cpu::Operands;

template <cpu::WinogradUnit kUnit, Operands kOperands> class Transforms : public cpu::Winograd {
 public:
  Transforms() = default;
  explicit Transforms(const cpu::ConvShape& s) : Winograd(s, kUnit, kOperands) {}
  static int64_t PackedSize(const cpu::ConvShape& s) {
    return cpu::WinogradWeightsSize(kUnit, s.group_channels(), s.maps, kOperands);
  }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    cpu::PackWinogradWeights(kUnit, w, s.group_channels(), s.maps, to, workers, kOperands);
  }
};

constexpr const char* kAlgorithms[] = {"winograd_f2x3", "winograd_f4x3", "winograd_f6x3", "winograd_f2x5",
                                       "winograd_f4x5"};

template <cpu::WinogradUnit kUnit, Operands kOperands = Operands::kF32>
class WinogradConv : public NhwcKernel<WinogradConv<kUnit, kOperands>, Transforms<kUnit, kOperands>> {
 public:
  using Base = NhwcKernel<WinogradConv, Transforms<kUnit, kOperands>>;
  static constexpr int64_t kMaxPacked = int64_t{32} << 20;  // in dwords
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }

  static std::string WhyNot(const KernelQuery& q) {
    if (std::string why = Base::WhyNot(q); !why.empty()) return why;
    if (q.InRank(0) != 4) return "needs two spatial axes";
    if (q.exact_integers) return "sums of integers must be exact";
    if (kOperands == Operands::kBf16 && !q.bf16) return "precision is fp32";
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (!s.ok()) return s.status().message();
    const int kernel = cpu::SizeOf(kUnit).kernel;
    if (!cpu::WinogradFits(*s, kUnit))
      return StrCat("needs a ", kernel, "x", kernel,
                    " kernel, strides and dilations of 1, and panels that do not span groups");
    if (kOperands == Operands::kBf16 && s->group != 1 && s->group_channels() % 2 != 0)
      return "needs an even number of channels per group";
    if (const int64_t size = Transforms<kUnit, kOperands>::PackedSize(*s); size > kMaxPacked)
      return StrCat("transformed weights would take ", 4 * size, " bytes, more than ", 4 * kMaxPacked);
    if (const double error = cpu::WinogradError(kUnit); error > cpu::kWinogradErrorAllowed && !q.fast_math)
      return StrCat("its error would be about ", error, ", more than ", cpu::kWinogradErrorAllowed,
                    "; precision fast allows it");
    return "";
  }

  // x must be f32, because rounding before the transform would add to the error.
  static bool Bf16Storage(const KernelQuery& q, int operand) {
    return kOperands == Operands::kBf16 && operand != 0 && Bf16Result(q, operand);
  }

  // Fuses max pooling 2 x 2 with stride 2, because each pooling window is inside one tile.
  static bool FusesNext(const KernelQuery& q, const KernelQuery& next) {
    if (next.op().name != "Pool" || next.attrs().Text("kind") != "max" || !IsChannelsLast(next) ||
        !TileBound::InRegisters(q, {3}) || next.InRank(0) != 4 || next.InType(0) != DType::kF32)
      return false;
    Window window;
    const Result<cpu::ConvShape> s = WindowShape(next, next.attrs().Ints("kernel"), window);
    return s.ok() && s->kernel == cpu::Spatial{1, 2, 2} && s->stride == cpu::Spatial{1, 2, 2} &&
           s->dilation == cpu::Spatial{1, 1, 1} && s->begin == cpu::Spatial{0, 0, 0} &&
           s->output == cpu::Spatial{1, s->input[1] / 2, s->input[2] / 2};
  }

  static std::vector<Work> WorkOf(const KernelQuery& q) {
    constexpr bool kBf16 = kOperands == Operands::kBf16;
    const cpu::ConvShape s = *NhwcShape(q);
    const cpu::Winograd::Counts counts = cpu::Winograd(s, kUnit, kOperands).Count();
    Work work = ConvOperands(s);
    work.algorithm = kBf16 ? "winograd_f2x3_bf16" : kAlgorithms[static_cast<int>(kUnit)];
    work.products = counts.products, work.transformed = counts.transformed;
    work.weights = 4.0 * static_cast<double>(Transforms<kUnit, kOperands>::PackedSize(s));
    return {work};
  }
};

}  // namespace

TERN_KERNELS(ConvWinograd) {
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF23>>(table, "cpu.conv.winograd.f2x3.f32");
  // The error of F(2, 3) in bf16 is twice the error of direct products in bf16. Larger units are not added,
  // because the error of F(4, 3) is at least five times the error of direct products
  // (docs/reports/accuracy.md).
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF23, Operands::kBf16>>(table, "cpu.conv.winograd.f2x3.bf16");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF43>>(table, "cpu.conv.winograd.f4x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF63>>(table, "cpu.conv.winograd.f6x3.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF25>>(table, "cpu.conv.winograd.f2x5.f32");
  AddNhwc<WinogradConv<cpu::WinogradUnit::kF45>>(table, "cpu.conv.winograd.f4x5.f32");
}

}  // namespace tern
