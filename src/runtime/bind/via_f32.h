// A kernel for 16-bit floats made from one for f32: inputs are widened into scratch memory, results narrowed.
#pragma once
#include "runtime/bind/adapter.h"

namespace tern {

// The same query with f32 in place of f16 and bf16.
KernelQuery WidenQuery(const KernelQuery& query);
bool HasHalf(const KernelQuery& query);
// Work and what widening and narrowing adds to it.
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

// The entry for f16 and bf16 that runs an f32 kernel. It has the f32 kernel's abilities as far as they hold
// for a kernel that works on copies: estimates, reasons, working in place.
KernelEntry ViaF32Entry(const KernelEntry& f32);

// Registers T for f32 (as its Legal says) and, through it, for f16 and bf16. T::Legal must not be in terms of
// data.
template <class T>
void AddWithHalf(KernelTable& table, const std::string& op, const std::string& name, double cost = 1) {
  KernelEntry plain = EntryOf<T>(op, name, T::Legal, cost);
  KernelEntry half = ViaF32Entry(plain);
  table.Add(std::move(plain));
  table.Add(std::move(half));
}

}  // namespace tern
