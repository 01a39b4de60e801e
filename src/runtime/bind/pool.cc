// Binds pooling to its CPU kernels.
#include "kernels/cpu/pool/pool.h"

#include "kernels/cpu/reduce/reduce.h"
#include "runtime/bind/pool_divisors.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_nchw.h"
#include "runtime/bind/window_shape.h"

namespace tern {
namespace {

class Pool : public KernelOf<Pool> {
 public:
  static bool Legal(const KernelQuery& q) {
    const std::string kind = q.attrs().Text("kind");
    if (!HasSupportedSpatialAxes(q) || IsChannelsLast(q) || q.OutType(1) != DType::kInvalid) return false;
    return kind == "max" ? cpu::HasMaxPool(q.InType(0)) : kind == "average" && q.InType(0) == DType::kF32;
  }
  Status Resize(ResizeContext& c) override {
    Window window;
    const Dims kernel = c->attrs().Ints("kernel");
    TERN_ASSIGN(shape_, WindowShape(c.query(), kernel, window));
    shape_.batch = c->InDims(0)[0] * c->InDims(0)[1];
    max_ = c->attrs().Text("kind") == "max";
    if (!max_) divisors_ = PoolDivisorsOf(shape_, window, c->attrs().Bool("count_include_pad"));
    return {};
  }
  Status Run(RunContext& c) override {
    if (max_)
      cpu::MaxPool(c.In(0).dtype(), shape_, c.In(0).raw(), c.Out(0).raw(), c.workers());
    else
      cpu::AveragePoolF32(shape_, divisors_, c.In<float>(0), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  cpu::ConvShape shape_;
  cpu::PoolDivisors divisors_;
  bool max_ = true;
};

class GlobalPool : public KernelOf<GlobalPool> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.AllTypes(DType::kF32) && q.attrs().Text("kind") != "lp" && RankFits(q.InDims(0));
  }
  Status Resize(ResizeContext& c) override {
    std::vector<bool> mask(c->InDims(0).size(), true);
    mask[0] = mask[IsChannelsLast(c.query()) ? mask.size() - 1 : 1] = false;
    plan_ = cpu::MakeReduce(c->InDims(0), mask);
    kind_ = c->attrs().Text("kind") == "max" ? cpu::ReduceKind::kMax : cpu::ReduceKind::kMean;
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Reduce(kind_, DType::kF32, plan_, c.In(0).raw(), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  cpu::ReducePlan plan_;
  cpu::ReduceKind kind_ = cpu::ReduceKind::kMean;
};

}  // namespace

TERN_KERNELS(Pool) {
  AddWithLayouts<Pool>(table, "Pool", "cpu.pool");
  AddWithHalf<GlobalPool>(table, "GlobalPool", "cpu.global_pool.f32");
}

}  // namespace tern
