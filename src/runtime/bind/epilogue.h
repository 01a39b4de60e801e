// Makes the epilogue of a kernel from the attributes and inputs of a node.
#pragma once
#include "kernels/cpu/elementwise/epilogue.h"
#include "ops/support/epilogue.h"
#include "runtime/bind/support.h"

namespace tern {

// Adds inputs one by one, then applies the activation.
class BoundEpilogue {
 public:
  // Returns whether input i is absent or can be added.
  static bool Fits(const KernelQuery& q, int i) {
    return !q.Has(i) || (q.InType(i) == q.OutType(0) && RankFits(q.OutDims(0)));
  }

  BoundEpilogue() = default;
  BoundEpilogue(const KernelQuery& q, std::initializer_list<int> inputs) { Set(q, inputs); }

  // Sets the epilogue for a query with other dims. Does not allocate.
  void Set(const KernelQuery& q, std::initializer_list<int> inputs) {
    epilogue_.Reset(q.OutType(0), q.OutDims(0));
    for (int i : inputs)
      if (q.Has(i)) inputs_[static_cast<size_t>(epilogue_.AddTerm(q.InDims(i)))] = i;
    const std::string kind = q.attrs().Text("activation");
    if (kind != "none")
      epilogue_.SetActivation(static_cast<cpu::UnaryKind>(IndexOf(cpu::kUnaryNames, kind)),
                              q.attrs().Float("act_alpha"), q.attrs().Float("act_beta"), Value,
                              IndexOf(EpilogueNames(), kind));
  }

  // Returns the epilogue with the operands of this run, or null if it is empty.
  const cpu::Epilogue* For(const RunContext& c) {
    for (int i = 0; i < epilogue_.terms(); ++i)
      epilogue_.SetTerm(i, c.In(inputs_[static_cast<size_t>(i)]).raw());
    return epilogue_.empty() ? nullptr : &epilogue_;
  }

 private:
  static double Value(int kind, double alpha, double beta, double x) {
    return EpilogueValue(static_cast<Epilogue>(kind), alpha, beta, x);
  }
  cpu::Epilogue epilogue_;
  std::array<int, cpu::Epilogue::kMaxTerms> inputs_{};
};

}  // namespace tern
