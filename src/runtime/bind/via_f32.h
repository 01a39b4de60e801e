// A kernel for 16-bit floats made from one for f32: inputs are widened into scratch memory, results narrowed.
#pragma once
#include "runtime/bind/stand_in.h"

namespace tern {

// The same query with f32 in place of f16 and bf16.
KernelQuery WidenQuery(const KernelQuery& query);
bool HasNarrow(const KernelQuery& query);
// Work and what widening and narrowing adds to it.
std::vector<Work> WithWidening(const KernelQuery& query, std::vector<Work> work);

class ViaF32Kernel : public StandInKernel {
 public:
  explicit ViaF32Kernel(std::unique_ptr<Kernel> inner) : StandInKernel(std::move(inner)) {}
  Status Resize(ResizeContext& c) override;
  Status Run(RunContext& c) override;
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<ViaF32Kernel>(inner_->Clone()); }

 private:
  std::vector<StandIn> inputs_, outputs_;
};

// Kernels that say what they have to do.
template <class T>
concept CountsWork = requires(const KernelQuery& q) {
  T::WorkOf(q);
};

// Registers T for f32 (as its Legal says) and, through it, for f16 and bf16. T::Legal must not be in terms of
// data.
template <class T>
void AddWithNarrow(KernelTable& table, const std::string& op, const std::string& name, double cost = 1) {
  KernelEntry plain;
  plain.op = op;
  plain.name = name;
  plain.legal = T::Legal;
  plain.make = [] { return std::make_unique<T>(); };
  plain.cost = cost;
  if constexpr (CountsWork<T>) plain.work_of = T::WorkOf;
  plain.pack = PackOf<T>();
  table.Add(std::move(plain));
  KernelEntry entry;
  entry.op = op;
  entry.name = name + ".via_f32";
  entry.legal = [](const KernelQuery& q) { return HasNarrow(q) && T::Legal(WidenQuery(q)); };
  entry.make = [] { return std::make_unique<ViaF32Kernel>(std::make_unique<T>()); };
  entry.cost = 3 * cost;
  entry.why_not = [](const KernelQuery& q) { return HasNarrow(q) ? "" : std::string("for f16 and bf16"); };
  if constexpr (CountsWork<T>)
    entry.work_of = [](const KernelQuery& q) { return WithWidening(q, T::WorkOf(WidenQuery(q))); };
  table.Add(std::move(entry));
}

}  // namespace tern
