// Decides which nodes process the items of a batch independently.
#pragma once
#include <vector>

#include "ir/static_node.h"

namespace tern {

// An op's Batch rule returns true if the node processes each item of the outermost dim as it would process
// that item alone. The rule marks the inputs that hold items. The outermost dim of such an input is the
// batch. Other inputs are the same for all items. All outputs hold items. Member functions without arguments
// can be used as rules: .Batch(&BatchItems::FirstInput).
class BatchItems {
 public:
  // Requires that every output has the same nonzero outermost dim and that input 0 is present.
  explicit BatchItems(const StaticNode& node)
      : node_(node), holds_(node.inputs.size()), items_(node.outputs[0].dims[0]) {}

  const StaticNode& node() const { return node_; }
  const Attrs& attrs() const { return *node_.attrs; }
  const std::vector<bool>& holds() const { return holds_; }
  bool Has(size_t i) const { return node_.Has(i); }
  const Tensor* Known(size_t i) const { return node_.Known(i); }
  const Dims& InDims(size_t i) const { return node_.inputs[i].dims; }
  const Dims& OutDims() const { return node_.outputs[0].dims; }

  // Returns true and marks the input if its outermost dim equals that of the results.
  bool Items(size_t i);
  // Returns true if the input is absent or known before the run, so that it is the same for all items.
  bool Fixed(size_t i) const { return !Has(i) || Known(i); }
  // Returns true if the input's outermost dim broadcasts to that of the result. Marks the input if it holds
  // items and there is more than one item.
  bool Broadcasts(size_t i);
  // Returns the attribute `axis`. If it is negative, adds the rank of input 0.
  int64_t Axis() const { return node_.Axis(InDims(0)); }

  bool FirstInput() { return Items(0); }
  // For pools. Returns false if the node also has the result `indices`, which contains positions in the
  // entire batch.
  bool OneResult() { return node_.outputs.size() == 1 && Items(0); }
  bool AllBroadcast();  // for elementwise ops
  bool AlongOtherAxis() { return Items(0) && Axis() != 0; }
  // For ops such as LayerNorm, which normalize along `axis` and the axes after it. Inputs other than input 0
  // must broadcast to the result and hold no items.
  bool AlongTrailingAxes();
  // For ops with an epilogue. Input 0 must hold items. Inputs 1 and 2, weights and bias, must be fixed. Input
  // 3, the residual, must be absent or broadcast.
  bool WithEpilogue();

 private:
  const StaticNode& node_;
  std::vector<bool> holds_;
  int64_t items_;
};

}  // namespace tern
