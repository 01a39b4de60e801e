// Ties reductions and softmax to their CPU kernels.
#include "kernels/cpu/reduce/reduce.h"

#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

class Softmax : public KernelOf<Softmax> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.AllTypes(DType::kF32) && q.attrs().Text("kind") != "hardmax";
  }
  Status Resize(ResizeContext& c) override {
    log_ = c->attrs().Text("kind") == "log_softmax";
    shape_ = AxisShapeOf(c->InDims(0), AxisOf(c->attrs().Int("axis"), c->InDims(0).size()));
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).size()) cpu::SoftmaxF32(shape_, log_, c.In<float>(0), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  bool log_ = false;
  cpu::AxisShape shape_;
};

class Reduce : public KernelOf<Reduce> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.InType(0) == q.OutType(0) && cpu::HasReduce(KindOf(q), q.InType(0)) && RankFits(q.InDims(0)) &&
           (!q.Has(1) || q.Known(1));
  }
  Status Resize(ResizeContext& c) override {
    kind_ = KindOf(c.query());
    const size_t rank = c->InDims(0).size();
    const auto axes = c->Has(1) ? ToLongs(*c->Known(1)) : std::vector<int64_t>();
    std::vector<bool> mask(rank, axes.empty() && !c->attrs().Bool("noop_if_empty"));
    for (int64_t axis : axes) {
      if (rank == 0) continue;  // a scalar along its axis 0
      const size_t i = AxisOf(axis, rank);
      if (i >= rank) return InvalidArgument("axis ", axis, " of a rank-", rank, " tensor");
      mask[i] = true;
    }
    plan_ = cpu::MakeReduce(c->InDims(0), mask);
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Reduce(kind_, c.In(0).dtype(), plan_, c.In(0).raw(), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  static cpu::ReduceKind KindOf(const KernelQuery& q) {
    return static_cast<cpu::ReduceKind>(IndexOf(cpu::kReduceNames, q.attrs().Text("kind")));
  }
  cpu::ReduceKind kind_ = cpu::ReduceKind::kSum;
  cpu::ReducePlan plan_;
};

class ArgReduce : public KernelOf<ArgReduce> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasArgReduce(q.InType(0)); }
  Status Resize(ResizeContext& c) override {
    shape_ = AxisShapeOf(c->InDims(0), AxisOf(c->attrs().Int("axis"), c->InDims(0).size()));
    largest_ = c->attrs().Text("kind") == "max", last_ = c->attrs().Bool("last");
    if (shape_.length == 0)
      return InvalidArgument("axis ", c->attrs().Int("axis"), " of ", Describe(c->InType(0), c->InDims(0)),
                             " has no elements");
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::ArgReduce(c.In(0).dtype(), shape_, largest_, last_, c.In(0).raw(), c.Out<int64_t>(0), c.workers());
    return {};
  }

 private:
  cpu::AxisShape shape_;
  bool largest_ = true, last_ = false;
};

}  // namespace

TERN_KERNELS(Reduce) {
  AddWithHalf<Softmax>(table, "Softmax", "cpu.softmax.f32");
  AddWithHalf<Reduce>(table, "Reduce", "cpu.reduce");
  AddWithHalf<ArgReduce>(table, "ArgReduce", "cpu.arg_reduce");
}

}  // namespace tern
