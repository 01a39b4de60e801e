// Makes the epilogue of a node. It is applied in registers if possible, otherwise to blocks in the cache.
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/cpu/gemm/panels.h"
#include "runtime/bind/epilogue.h"

namespace tern {

// Sets the epilogue of the PanelProduct that computes a node's result. The result is one matrix.
// Its columns are the last dim, and its rows are all other dims.
class TileBound {
 public:
  TileBound() = default;
  // `inputs` are the indices of inputs that are added.
  TileBound(const KernelQuery& q, std::initializer_list<int> inputs) { Set(q, inputs); }

  // Replaces the epilogue by the epilogue of a query with other dims. Does not allocate.
  void Set(const KernelQuery& q, std::initializer_list<int> inputs) {
    tile_ = {};
    residual_ = -1;
    in_registers_ = InRegisters(q, inputs);
    if (!in_registers_) return block_epilogue_.Set(q, inputs);
    const std::string kind = q.attrs().Text("activation");
    const bool clip = kind == "relu" || kind == "clip";
    residual_ = FirstOf(q, inputs);
    tile_.bf16_residual = residual_ >= 0 && q.InType(residual_) == DType::kBF16;
    tile_.residual_row = q.OutDims(0).empty() ? 0 : q.OutDims(0).back();
    tile_.clip = clip;
    tile_.low = kind == "clip" ? q.attrs().Float("act_alpha") : 0;
    tile_.high = kind == "clip" ? q.attrs().Float("act_beta") : std::numeric_limits<float>::infinity();
  }

  // Returns whether the entire epilogue can be applied in registers.
  static bool InRegisters(const KernelQuery& q, std::initializer_list<int> inputs) {
    const int first = FirstOf(q, inputs);
    const auto count = std::count_if(inputs.begin(), inputs.end(), [&](int i) { return q.Has(i); });
    const std::string kind = q.attrs().Text("activation");
    return (kind == "none" || kind == "relu" || kind == "clip") && count <= 1 &&
           (first < 0 || q.InDims(first) == q.OutDims(0));
  }

  // Sets the epilogue of `p` for this run. Does not change the bias of `p`.
  void Fill(const RunContext& c, cpu::PanelProduct& p) {
    const float* bias = p.tile.bias;
    p.tile = tile_;
    p.tile.bias = bias;
    if (residual_ >= 0) p.tile.residual = c.In<float>(residual_);
    p.epilogue = in_registers_ ? nullptr : block_epilogue_.For(c);
  }

 private:
  // Returns the first of these inputs that is present, or -1 if none is.
  static int FirstOf(const KernelQuery& q, std::initializer_list<int> inputs) {
    for (int i : inputs)
      if (q.Has(i)) return i;
    return -1;
  }

  cpu::TileEpilogue tile_;
  int residual_ = -1;
  bool in_registers_ = true;
  BoundEpilogue block_epilogue_;
};

}  // namespace tern
