// The epilogue of an op's attributes, as far as possible in registers, the rest block by block.
#pragma once
#include <limits>

#include "kernels/cpu/gemm/panels.h"
#include "runtime/bind/epilogue.h"

namespace tern {

// For results of shape [rows…, columns] that PanelProducts write as one matrix.
class TileBound {
 public:
  TileBound() = default;
  // inputs: those that are added.
  TileBound(const KernelQuery& q, std::initializer_list<int> inputs) {
    const std::vector<int> there = There(q, inputs);
    const std::string kind = q.attrs().Text("activation");
    const bool clip = kind == "relu" || kind == "clip";
    if (!InRegisters(q, inputs)) {
      rest_ = BoundEpilogue(q, inputs);
      return;
    }
    if (!there.empty()) residual_ = there[0];
    tile_.narrow_residual = residual_ >= 0 && q.InType(residual_) == DType::kBF16;
    tile_.residual_row = q.OutDims(0).empty() ? 0 : q.OutDims(0).back();
    tile_.clip = clip;
    tile_.low = kind == "clip" ? q.attrs().Float("act_alpha") : 0;
    tile_.high = kind == "clip" ? q.attrs().Float("act_beta") : std::numeric_limits<float>::infinity();
  }

  // Nothing is left to do when results are in memory.
  static bool InRegisters(const KernelQuery& q, std::initializer_list<int> inputs) {
    const std::vector<int> there = There(q, inputs);
    const std::string kind = q.attrs().Text("activation");
    return (kind == "none" || kind == "relu" || kind == "clip") && there.size() <= 1 &&
           (there.empty() || q.InDims(there[0]) == q.OutDims(0));
  }

  // The product's bias stays as it is.
  void Fill(const RunContext& c, cpu::PanelProduct& p) {
    const float* bias = p.tile.bias;
    p.tile = tile_;
    p.tile.bias = bias;
    if (residual_ >= 0) p.tile.residual = c.In<float>(residual_);
    p.epilogue = rest_.For(c);
  }

 private:
  static std::vector<int> There(const KernelQuery& q, std::initializer_list<int> inputs) {
    std::vector<int> there;
    for (int i : inputs)
      if (q.Has(i)) there.push_back(i);
    return there;
  }

  cpu::TileEpilogue tile_;
  int residual_ = -1;
  BoundEpilogue rest_;
};

}  // namespace tern
