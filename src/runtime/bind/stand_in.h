// Kernels that work through another one: tensors in scratch memory stand in for operands and results that the
// other kernel cannot take as they are.
#pragma once
#include "kernels/cpu/support/cut.h"
#include "runtime/kernel.h"

namespace tern {

struct StandIn {
  int index = 0;      // of the input or output
  size_t offset = 0;  // in scratch memory
  Datum datum;
};

class StandInKernel : public Kernel {
 protected:
  explicit StandInKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}

  // Behind the first `bytes` of scratch memory, which grow by it.
  static StandIn MakeStandIn(int index, const TensorInfo& info, size_t& bytes) {
    const size_t size = BytesOf(info.dtype, static_cast<size_t>(CountOf(info.dims)));
    StandIn s{index, bytes, Tensor::View(Buffer::Borrow(nullptr, size, nullptr), info.dtype, info.dims)};
    bytes += cpu::Aligned(size);
    return s;
  }

  Status ResizeInner(const KernelQuery& query, const ResizeContext& c, size_t& bytes) {
    ResizeContext inner(query, c.threads());
    TERN_TRY(inner_->Resize(inner));
    bytes = cpu::Aligned(inner.scratch());
    context_.inputs.assign(query.inputs.size(), nullptr);
    context_.outputs.assign(query.outputs.size(), nullptr);
    return {};
  }

  // What the other kernel sees at first: the same operands and results.
  void Begin(const RunContext& c) {
    context_.pool = c.pool;
    context_.scratch_memory = c.scratch_memory;
    std::copy(c.inputs.begin(), c.inputs.end(), context_.inputs.begin());
    std::copy(c.outputs.begin(), c.outputs.end(), context_.outputs.begin());
  }
  void UseAsInput(StandIn& s) { context_.inputs[static_cast<size_t>(s.index)] = Placed(s); }
  void UseAsOutput(StandIn& s) { context_.outputs[static_cast<size_t>(s.index)] = Placed(s); }
  Status RunInner() { return inner_->Run(context_); }

  std::unique_ptr<Kernel> inner_;

 private:
  Datum* Placed(StandIn& s) {
    Tensor& t = s.datum.tensor;
    t.SetBuffer(Buffer::Borrow(context_.scratch<std::byte>() + s.offset, t.bytes(), nullptr));
    return &s.datum;
  }
  RunContext context_;
};

}  // namespace tern
