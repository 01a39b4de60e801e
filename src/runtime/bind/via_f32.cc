#include "runtime/bind/via_f32.h"

#include <algorithm>

#include "kernels/cpu/elementwise/elementwise.h"

namespace tern {
namespace {

bool IsHalf(const TensorInfo& info) { return info.dtype == DType::kF16 || info.dtype == DType::kBF16; }

}  // namespace

bool HasHalf(const KernelQuery& q) {
  return std::any_of(q.inputs.begin(), q.inputs.end(), IsHalf) ||
         std::any_of(q.outputs.begin(), q.outputs.end(), IsHalf);
}

KernelQuery WidenQuery(const KernelQuery& query) {
  KernelQuery wide(query.op(), query.attrs(), query);
  for (size_t i = 0; i < wide.inputs.size(); ++i) {
    if (!IsHalf(wide.inputs[i])) continue;
    wide.inputs[i].dtype = DType::kF32;
    if (i < wide.known.size()) wide.known[i] = nullptr;
  }
  for (TensorInfo& out : wide.outputs)
    if (IsHalf(out)) out.dtype = DType::kF32;
  return wide;
}

std::vector<Work> WithWidening(const KernelQuery& q, std::vector<Work> work) {
  Work move;
  for (const auto* list : {&q.inputs, &q.outputs})
    for (const TensorInfo& t : *list)
      if (IsHalf(t)) move.moved += 6 * static_cast<double>(CountOf(t.dims));
  work.push_back(move);
  return work;
}

Status ViaF32Kernel::Resize(ResizeContext& c) {
  const KernelQuery wide = WidenQuery(c.query());
  size_t bytes = 0;
  TERN_TRY(ResizeInner(wide, c, bytes));
  const auto adapted = [&](const std::vector<TensorInfo>& infos, const std::vector<TensorInfo>& wider,
                           std::vector<AdaptedTensor>& list) {
    list.clear();
    for (size_t i = 0; i < infos.size(); ++i)
      if (IsHalf(infos[i])) list.push_back(MakeAdapted(static_cast<int>(i), wider[i], bytes));
  };
  adapted(c->inputs, wide.inputs, inputs_);
  adapted(c->outputs, wide.outputs, outputs_);
  c.SetScratch(bytes);
  return {};
}

Status ViaF32Kernel::Run(RunContext& c) {
  Begin(c);
  for (AdaptedTensor& s : inputs_) {
    UseAsInput(s);
    const Tensor& x = c.In(s.index);
    cpu::Cast(x.dtype(), DType::kF32, x.raw(), s.datum.tensor.raw(), x.size(), c.workers());
  }
  for (AdaptedTensor& s : outputs_) UseAsOutput(s);
  TERN_TRY(RunInner());
  for (const AdaptedTensor& s : outputs_) {
    const Tensor& y = c.Out(s.index);
    cpu::Cast(DType::kF32, y.dtype(), s.datum.tensor.raw(), y.raw(), y.size(), c.workers());
  }
  return {};
}

KernelEntry ViaF32Entry(const KernelEntry& f32) {
  KernelEntry entry;
  entry.op = f32.op;
  entry.name = f32.name + KernelName::kViaF32;
  entry.legal = [legal = f32.legal](const KernelQuery& q) { return HasHalf(q) && legal(WidenQuery(q)); };
  entry.make = [make = f32.make] { return std::make_unique<ViaF32Kernel>(make()); };
  entry.cost = 3 * f32.cost;
  entry.can.in_place = f32.can.in_place;
  entry.can.why_not = [why_not = f32.can.why_not](const KernelQuery& q) -> std::string {
    if (!HasHalf(q)) return "only for f16 and bf16";
    return why_not ? why_not(WidenQuery(q)) : "";
  };
  if (f32.can.work_of)
    entry.can.work_of = [work_of = f32.can.work_of](const KernelQuery& q) {
      return WithWidening(q, work_of(WidenQuery(q)));
    };
  if (f32.can.cost_of)
    entry.can.cost_of = [cost_of = f32.can.cost_of](const KernelQuery& q) {
      return 3 * cost_of(WidenQuery(q));
    };
  return entry;
}

}  // namespace tern
