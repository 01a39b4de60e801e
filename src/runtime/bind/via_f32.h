// A kernel for 16-bit floats made from one for f32: inputs are widened into scratch memory, results narrowed.
#pragma once
#include "runtime/kernel.h"

namespace tern {

// The same query with f32 in place of f16 and bf16; false when there is nothing to replace.
bool WidenQuery(const KernelQuery& query, KernelQuery& wide);

class ViaF32Kernel : public Kernel {
 public:
  explicit ViaF32Kernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}
  Status Resize(ResizeContext& c) override;
  Status Run(RunContext& c) override;
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<ViaF32Kernel>(inner_->Clone()); }

 private:
  // A tensor that takes the place of a narrow one.
  struct Stand {
    int index;
    size_t offset;  // in scratch memory
    Datum datum;
  };
  void AddStands(const std::vector<TensorInfo>& narrow, std::vector<Stand>& stands, size_t& bytes);

  std::unique_ptr<Kernel> inner_;
  std::vector<Stand> inputs_, outputs_;
  RunContext context_;
};

// Registers T for f32 (as its Legal says) and, through it, for f16 and bf16. T::Legal must not be in terms of
// data.
template <class T>
void AddWithNarrow(KernelTable& table, const std::string& op, const std::string& name, double cost = 1) {
  table.Add<T>(op, name, T::Legal, cost);
  KernelEntry entry;
  entry.op = op;
  entry.name = name + ".via_f32";
  entry.legal = [](const KernelQuery& q) {
    KernelQuery wide(q.op(), q.attrs());
    return WidenQuery(q, wide) && T::Legal(wide);
  };
  entry.make = [] { return std::make_unique<ViaF32Kernel>(std::make_unique<T>()); };
  entry.cost = 3 * cost;
  table.Add(std::move(entry));
}

}  // namespace tern
