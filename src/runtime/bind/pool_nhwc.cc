// Ties pooling over channels-last images to its CPU kernel.
#include "kernels/cpu/pool/pool_nhwc.h"
#include "runtime/bind/pool_divisors.h"
#include "runtime/bind/window_shape.h"

namespace tern {
namespace {

class NhwcPool : public KernelOf<NhwcPool> {
 public:
  static bool Legal(const KernelQuery& q) {
    const std::string kind = q.attrs().Text("kind");
    return FewSpatialAxes(q) && OrderedLast(q) && q.OutType(1) == DType::kInvalid &&
           q.AllTypes(DType::kF32) && (kind == "max" || kind == "average");
  }
  Status Resize(ResizeContext& c) override {
    using Kind = cpu::NhwcPool::Kind;
    Window window;
    TERN_ASSIGN(cpu::ConvShape shape, WindowShape(c.query(), c->attrs().Ints("kernel"), window));
    shape.batch = c->InDims(0)[0], shape.channels = shape.maps = shape.group = c->InDims(0).back();
    const bool max = c->attrs().Text("kind") == "max";
    pool_ = cpu::NhwcPool(
        max ? Kind::kMax : Kind::kAverage, shape,
        max ? cpu::PoolDivisors() : PoolDivisorsOf(shape, window, c->attrs().Bool("count_include_pad")));
    apart_ = c.apart();
    c.SetScratch(pool_.Scratch(c.threads()));
    return {};
  }
  Status Run(RunContext& c) override {
    pool_.Run(c.In<float>(0), c.Out<float>(0), c.scratch<void>(), c.workers(), apart_);
    return {};
  }

 private:
  cpu::NhwcPool pool_;
  int64_t apart_ = 0;
};

}  // namespace

TERN_KERNELS(PoolNhwc) {
  KernelEntry entry;
  entry.op = "Pool", entry.name = "cpu.pool.nhwc.f32";
  entry.legal = NhwcPool::Legal;
  entry.make = [] { return std::make_unique<NhwcPool>(); };
  entry.cost = 0.5;
  entry.rows_apart = [](const KernelQuery&) { return true; };
  table.Add(std::move(entry));
}

}  // namespace tern
