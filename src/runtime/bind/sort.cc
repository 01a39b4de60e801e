// Binds TopK and Cumulative to their CPU kernels.
#include "kernels/cpu/sort/sort.h"

#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

class TopK : public KernelOf<TopK> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasOrder(q.InType(0)); }
  Status Resize(ResizeContext& c) override {
    const size_t axis = AxisOf(c->attrs().Int("axis"), c->InDims(0).size());
    shape_ = AxisShapeOf(c->InDims(0), axis);
    k_ = c->OutDims(0)[axis];
    largest_ = c->attrs().Bool("largest");
    if (k_ > shape_.length)
      return InvalidArgument("k is ", k_, ", but the axis has ", shape_.length, " elements");
    c.SetScratch(cpu::TopKScratch(shape_, c.threads()));
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::TopK(c.In(0).dtype(), shape_, k_, largest_, c.In(0).raw(), c.Out(0).raw(), c.Out<int64_t>(1),
              c.scratch<void>(), c.workers());
    return {};
  }

 private:
  cpu::AxisShape shape_;
  int64_t k_ = 0;
  bool largest_ = true;
};

class Cumulative : public KernelOf<Cumulative> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasOrder(q.InType(0)); }
  Status Resize(ResizeContext& c) override {
    product_ = c->attrs().Text("kind") == "prod";
    exclusive_ = c->attrs().Bool("exclusive"), reverse_ = c->attrs().Bool("reverse");
    return {};
  }
  Status Run(RunContext& c) override {
    const Tensor& x = c.In(0);
    if (c.In(1).size() != 1)
      return InvalidArgument("input 'axis' must hold one number, got ", c.In(1).Describe());
    const int64_t given = LoadLong(c.In(1), 0), axis = given < 0 ? given + x.rank() : given;
    if (axis < 0 || axis >= x.rank())
      return InvalidArgument("axis ", given, " is outside [", -x.rank(), ", ", x.rank(), ")");
    cpu::AxisShape shape;
    for (int i = 0; i < x.rank(); ++i)
      (i < axis ? shape.outer : i == axis ? shape.length : shape.inner) *= x.dim(i);
    cpu::Cumulate(x.dtype(), shape, product_, exclusive_, reverse_, x.raw(), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  bool product_ = false, exclusive_ = false, reverse_ = false;
};

}  // namespace

TERN_KERNELS(Sort) {
  AddWithHalf<TopK>(table, "TopK", "cpu.top_k");
  AddWithHalf<Cumulative>(table, "Cumulative", "cpu.cumulative");
}

}  // namespace tern
