// Binds reductions and softmax to their CPU kernels.
#include "kernels/cpu/reduce/reduce.h"

#include <utility>

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
    if (!std::exchange(attrs_read_, true))
      log_ = c->attrs().Text("kind") == "log_softmax", axis_ = c->attrs().Int("axis");
    shape_ = AxisShapeOf(c->InDims(0), AxisOf(axis_, c->InDims(0).size()));
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).size()) cpu::SoftmaxF32(shape_, log_, c.In<float>(0), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  bool attrs_read_ = false;  // whether the attributes, which never change, have been read
  bool log_ = false;
  int64_t axis_ = -1;
  cpu::AxisShape shape_;
};

class Reduce : public KernelOf<Reduce> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.InType(0) == q.OutType(0) && cpu::HasReduce(KindOf(q), q.InType(0)) && RankFits(q.InDims(0)) &&
           (!q.Has(1) || q.Known(1));
  }
  Status Resize(ResizeContext& c) override {
    if (!std::exchange(attrs_read_, true))
      kind_ = KindOf(c.query()), noop_ = c->attrs().Bool("noop_if_empty");
    const size_t rank = c->InDims(0).size();
    const Tensor* axes = c->Has(1) ? c->Known(1) : nullptr;
    const int64_t count = axes ? axes->size() : 0;
    mask_.assign(rank, count == 0 && !noop_);
    for (int64_t k = 0; k < count; ++k) {
      if (rank == 0) continue;  // a scalar accepts axis 0
      const int64_t axis = LoadLong(*axes, k);
      const size_t i = AxisOf(axis, rank);
      if (i >= rank) return InvalidArgument("axis ", axis, " is outside [-", rank, ", ", rank, ")");
      mask_[i] = true;
    }
    plan_ = cpu::MakeReduce(c->InDims(0), mask_);
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
  bool attrs_read_ = false, noop_ = false;
  cpu::ReduceKind kind_ = cpu::ReduceKind::kSum;
  std::vector<bool> mask_;  // axes that are reduced
  cpu::ReducePlan plan_;
};

class ArgReduce : public KernelOf<ArgReduce> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasArgReduce(q.InType(0)); }
  Status Resize(ResizeContext& c) override {
    if (!std::exchange(attrs_read_, true)) {
      axis_ = c->attrs().Int("axis");
      largest_ = c->attrs().Text("kind") == "max", last_ = c->attrs().Bool("last");
    }
    shape_ = AxisShapeOf(c->InDims(0), AxisOf(axis_, c->InDims(0).size()));
    if (shape_.length == 0)
      return InvalidArgument("axis ", axis_, " of ", Describe(c->InType(0), c->InDims(0)),
                             " has no elements");
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::ArgReduce(c.In(0).dtype(), shape_, largest_, last_, c.In(0).raw(), c.Out<int64_t>(0), c.workers());
    return {};
  }

 private:
  cpu::AxisShape shape_;
  int64_t axis_ = 0;
  bool attrs_read_ = false, largest_ = true, last_ = false;
};

}  // namespace

TERN_KERNELS(Reduce) {
  AddWithHalf<Softmax>(table, "Softmax", "cpu.softmax.f32");
  AddWithHalf<Reduce>(table, "Reduce", "cpu.reduce");
  AddWithHalf<ArgReduce>(table, "ArgReduce", "cpu.arg_reduce");
}

}  // namespace tern
