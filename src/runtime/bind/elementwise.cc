// Ties elementwise ops to their CPU kernels.
#include "kernels/cpu/elementwise/add.h"
#include "kernels/cpu/elementwise/relu.h"
#include "runtime/kernel.h"

namespace tern {
namespace {

class Relu : public KernelOf<Relu> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32) && q.attrs().Text("kind") == "relu"; }
  Status Run(RunContext& c) override {
    cpu::ReluF32(c.In<float>(0), c.Out<float>(0), c.Out(0).size(), c.workers());
    return {};
  }
};

class Add : public KernelOf<Add> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.AllTypes(DType::kF32) && q.attrs().Text("kind") == "add" && Fits(q, 0) && Fits(q, 1);
  }
  Status Resize(ResizeContext& c) override {
    a_step_ = c->InDims(0) == c->OutDims(0) ? 1 : 0;
    b_step_ = c->InDims(1) == c->OutDims(0) ? 1 : 0;
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::AddF32(c.In<float>(0), a_step_, c.In<float>(1), b_step_, c.Out<float>(0), c.Out(0).size(), c.workers());
    return {};
  }

 private:
  static bool Fits(const KernelQuery& q, int i) { return q.InDims(i) == q.OutDims(0) || CountOf(q.InDims(i)) == 1; }
  int64_t a_step_ = 1, b_step_ = 1;
};

}  // namespace

TERN_KERNELS(Elementwise) {
  table.Add<Relu>("Unary", "cpu.relu.f32", Relu::Legal);
  table.Add<Add>("Binary", "cpu.add.f32", Add::Legal);
}

}  // namespace tern
