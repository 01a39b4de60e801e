#include "runtime/bind/via_f32.h"

#include "kernels/cpu/elementwise/elementwise.h"

namespace tern {
namespace {

bool Narrow(DType t) { return t == DType::kF16 || t == DType::kBF16; }
size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

bool WidenQuery(const KernelQuery& query, KernelQuery& wide) {
  wide.inputs = query.inputs, wide.outputs = query.outputs, wide.known = query.known,
  wide.weight = query.weight;
  bool any = false;
  for (size_t i = 0; i < wide.inputs.size(); ++i) {
    if (!Narrow(wide.inputs[i].dtype)) continue;
    wide.inputs[i].dtype = DType::kF32;
    if (i < wide.known.size()) wide.known[i] = nullptr;
    any = true;
  }
  for (TensorInfo& out : wide.outputs) {
    if (!Narrow(out.dtype)) continue;
    out.dtype = DType::kF32;
    any = true;
  }
  return any;
}

void ViaF32Kernel::AddStands(const std::vector<TensorInfo>& narrow, std::vector<Stand>& stands,
                             size_t& bytes) {
  stands.clear();
  for (size_t i = 0; i < narrow.size(); ++i) {
    if (!Narrow(narrow[i].dtype)) continue;
    const size_t size = static_cast<size_t>(CountOf(narrow[i].dims)) * sizeof(float);
    stands.push_back({static_cast<int>(i), bytes,
                      Tensor::View(Buffer::Borrow(nullptr, size, nullptr), DType::kF32, narrow[i].dims)});
    bytes += Aligned(size);
  }
}

Status ViaF32Kernel::Resize(ResizeContext& c) {
  KernelQuery wide(c->op(), c->attrs());
  WidenQuery(c.query(), wide);
  ResizeContext inner(wide, c.threads());
  TERN_TRY(inner_->Resize(inner));
  size_t bytes = Aligned(inner.scratch());
  AddStands(c->inputs, inputs_, bytes);
  AddStands(c->outputs, outputs_, bytes);
  context_.inputs.assign(c->inputs.size(), nullptr);
  context_.outputs.assign(c->outputs.size(), nullptr);
  c.SetScratch(bytes);
  return {};
}

Status ViaF32Kernel::Run(RunContext& c) {
  auto* scratch = c.scratch<std::byte>();
  context_.pool = c.pool;
  context_.scratch_memory = c.scratch_memory;
  for (size_t i = 0; i < context_.inputs.size(); ++i) context_.inputs[i] = c.inputs[i];
  for (size_t i = 0; i < context_.outputs.size(); ++i) context_.outputs[i] = c.outputs[i];
  const auto place = [&](Stand& s) {
    s.datum.tensor.SetBuffer(Buffer::Borrow(scratch + s.offset, s.datum.tensor.bytes(), nullptr));
  };
  for (Stand& s : inputs_) {
    place(s);
    const Tensor& x = c.In(s.index);
    cpu::Cast(x.dtype(), DType::kF32, x.raw(), s.datum.tensor.raw(), x.size(), c.workers());
    context_.inputs[static_cast<size_t>(s.index)] = &s.datum;
  }
  for (Stand& s : outputs_) {
    place(s);
    context_.outputs[static_cast<size_t>(s.index)] = &s.datum;
  }
  TERN_TRY(inner_->Run(context_));
  for (const Stand& s : outputs_) {
    const Tensor& y = c.Out(s.index);
    cpu::Cast(DType::kF32, y.dtype(), s.datum.tensor.raw(), y.raw(), y.size(), c.workers());
  }
  return {};
}

}  // namespace tern
