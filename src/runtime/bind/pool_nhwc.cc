// Binds pooling over channels-last images to its CPU kernel.
#include "kernels/cpu/pool/pool_nhwc.h"
#include "runtime/bind/pool_divisors.h"
#include "runtime/bind/window_shape.h"

namespace tern {
namespace {

class NhwcPool : public KernelOf<NhwcPool> {
 public:
  static bool Legal(const KernelQuery& q) {
    const std::string kind = q.attrs().Text("kind");
    return HasSupportedSpatialAxes(q) && IsChannelsLast(q) && q.OutType(1) == DType::kInvalid &&
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
    row_stride_ = c.row_stride();
    c.SetScratch(pool_.Scratch(c.threads()));
    return {};
  }
  static bool RowStride(const KernelQuery&) { return true; }
  Status Run(RunContext& c) override {
    pool_.Run(c.In<float>(0), c.Out<float>(0), c.scratch<void>(), c.workers(), row_stride_);
    return {};
  }

 private:
  cpu::NhwcPool pool_;
  int64_t row_stride_ = 0;
};

}  // namespace

TERN_KERNELS(PoolNhwc) { table.Add<NhwcPool>("Pool", "cpu.pool.nhwc.f32", NhwcPool::Legal, 0.5); }

}  // namespace tern
