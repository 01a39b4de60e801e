// Ties convolutions of one tap over channels-last images to products by Strassen's scheme.
#include "kernels/cpu/conv/nhwc_conv.h"
#include "kernels/cpu/gemm/strassen.h"
#include "runtime/bind/conv_nhwc.h"
#include "runtime/bind/conv_work.h"
#include "runtime/bind/strassen_cost.h"

namespace tern {
namespace {

class Product {
 public:
  Product() = default;
  explicit Product(const cpu::ConvShape& s) {
    p_.m = s.batch * s.output_size(), p_.n = s.maps, p_.k = s.channels;
    p_.a_row = p_.k, p_.c_row = p_.n;
  }
  static int64_t PackedSize(const cpu::ConvShape& s) { return cpu::NhwcConv::PackedSize(s); }
  static void Pack(const cpu::ConvShape& s, const float* w, float* to, const Workers& workers) {
    cpu::NhwcConv::Pack(s, w, to, workers);
  }
  size_t Scratch(int threads) const { return cpu::StrassenScratch(p_, threads); }
  void Run(const cpu::NhwcArgs& args, void* scratch, const Workers& workers) const {
    cpu::PanelProduct p = p_;
    p.a = args.x, p.panels = args.w, p.c = args.y;
    p.tile = args.tile, p.epilogue = args.epilogue;
    cpu::MultiplyStrassen(p, scratch, workers);
  }

 private:
  cpu::PanelProduct p_;
};

class StrassenConv : public NhwcKernel<StrassenConv, Product> {
 public:
  static constexpr const char* kPack = "conv.panels.f32";  // those of NhwcConv
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    if (q.whole) return "sums of whole numbers must be exact";
    if (std::string why = NhwcKernel::WhyNot(q); !why.empty()) return why;
    const Result<cpu::ConvShape> s = NhwcShape(q);
    if (!s.ok()) return s.status().message();
    if (s->taps() != 1 || s->group != 1 || s->stride != cpu::Spatial{1, 1, 1} || s->input != s->output ||
        s->begin != cpu::Spatial{0, 0, 0})
      return "needs a 1x1 kernel, strides 1, no pads, one group";
    return cpu::StrassenFits(s->channels, s->maps) ? "" : "needs halves of whole panels";
  }
  // Beside the plain product.
  static double Cost(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = NhwcShape(q);
    return Microseconds(PointwiseWork(*s)) * StrassenCost(s->batch * s->output_size(), s->maps, s->channels);
  }
};

}  // namespace

TERN_KERNELS(ConvStrassen) { AddNhwc<StrassenConv>(table, "cpu.conv.strassen.f32"); }

}  // namespace tern
