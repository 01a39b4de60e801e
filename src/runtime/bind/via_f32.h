// An adapter that runs an f32 kernel on f16 and bf16 tensors. It converts the inputs to f32 in scratch
// memory, and the results back to f16 or bf16.
#pragma once
#include "runtime/bind/adapter.h"

namespace tern {

// Returns the same query with f32 in place of f16 and bf16.
KernelQuery WidenQuery(const KernelQuery& query);
// Returns whether an input or output is f16 or bf16.
bool HasHalf(const KernelQuery& query);
// Returns `work` plus the work of the conversions.
std::vector<Work> WithWidening(const KernelQuery& query, std::vector<Work> work);

class ViaF32Kernel : public AdapterKernel {
 public:
  explicit ViaF32Kernel(std::unique_ptr<Kernel> inner) : AdapterKernel(std::move(inner)) {}
  Status Resize(ResizeContext& c) override;
  Status Run(RunContext& c) override;
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<ViaF32Kernel>(*this); }

 private:
  std::vector<AdaptedTensor> inputs_, outputs_;
};

// Returns an entry for f16 and bf16 that runs an f32 kernel. The entry has those abilities of `f32` that also
// hold for converted copies: estimates of the time, why_not and in_place.
KernelEntry ViaF32Entry(const KernelEntry& f32);

// Registers T, and registers it again through ViaF32Entry, for f16 and bf16. T::Legal must not depend on
// constant data.
template <class T>
[[gnu::always_inline]] inline void AddWithHalf(KernelTable& table, const char* op, KernelName name,
                                               double cost = 1) {
  if (name.selected()) table.Add(EntryOf<T>(op, name.text(), T::Legal, cost));
  if (name.via_f32()) table.Add(ViaF32Entry(EntryOf<T>(op, name.text(), T::Legal, cost)));
}

}  // namespace tern
