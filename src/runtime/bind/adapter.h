// Adapters are kernels that run another kernel on converted copies of operands and results. The copies have
// another element type or layout and are in scratch memory.
#pragma once
#include "kernel_api/kernel_table.h"
#include "kernels/cpu/support/blocking.h"

namespace tern {

struct AdaptedTensor {
  int index = 0;      // index of the input or output
  size_t offset = 0;  // in scratch memory, bytes
  Datum datum;
};

class AdapterKernel : public Kernel {
 protected:
  explicit AdapterKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}
  AdapterKernel(const AdapterKernel& other) : inner_(other.inner_->Clone()), context_(other.context_) {}

  // Returns a tensor at offset `bytes` of scratch memory, and adds its size to `bytes`.
  static AdaptedTensor MakeAdapted(int index, const TensorInfo& info, size_t& bytes) {
    const size_t size = BytesOf(info.dtype, static_cast<size_t>(CountOf(info.dims)));
    AdaptedTensor s{index, bytes,
                    Tensor::View(Buffer::Borrow(nullptr, size, nullptr), info.dtype, info.dims)};
    bytes += cpu::Aligned(size);
    return s;
  }

  // Resizes the inner kernel. Sets `bytes` to the size of its scratch memory.
  Status ResizeInner(const KernelQuery& query, const ResizeContext& c, size_t& bytes) {
    ResizeContext inner(query, c.threads());
    TERN_TRY(inner_->Resize(inner));
    bytes = cpu::Aligned(inner.scratch());
    context_.inputs.assign(query.inputs.size(), nullptr);
    context_.outputs.assign(query.outputs.size(), nullptr);
    return {};
  }

  // Passes all operands and results to the inner kernel unchanged. UseAsInput and UseAsOutput replace single
  // operands and results.
  void Begin(const RunContext& c) {
    context_.pool = c.pool;
    context_.scratch_memory = c.scratch_memory;
    std::copy(c.inputs.begin(), c.inputs.end(), context_.inputs.begin());
    std::copy(c.outputs.begin(), c.outputs.end(), context_.outputs.begin());
  }
  void UseAsInput(AdaptedTensor& s) { context_.inputs[static_cast<size_t>(s.index)] = Placed(s); }
  void UseAsOutput(AdaptedTensor& s) { context_.outputs[static_cast<size_t>(s.index)] = Placed(s); }
  Status RunInner() { return inner_->Run(context_); }

  std::unique_ptr<Kernel> inner_;

 private:
  Datum* Placed(AdaptedTensor& s) {
    Tensor& t = s.datum.tensor;
    t.SetBuffer(Buffer::Borrow(context_.scratch<std::byte>() + s.offset, t.bytes(), nullptr));
    return &s.datum;
  }
  RunContext context_;
};

}  // namespace tern
