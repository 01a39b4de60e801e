// Decides which nodes process the items of a batch independently.
#pragma once
#include <vector>

#include "ir/static_node.h"

namespace tern {

// An op's Batch rule returns true if the node processes each item of the outermost dim as it would process
// that item alone. It marks the inputs that hold items; other inputs are the same for all items. All outputs
// hold items. Member functions without arguments can be used as rules: .Batch(&BatchItems::FirstInput).
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

  // True if the input's outermost dim equals that of the results; marks the input.
  bool Items(size_t i);
  // True if the input is absent or known before the run: the same for all items.
  bool Fixed(size_t i) const { return !Has(i) || Known(i); }
  // True if the input broadcasts to the result; marks it if it holds items.
  bool Broadcasts(size_t i);
  // The attribute `axis` for input 0, made non-negative.
  int64_t Axis() const { return node_.Axis(InDims(0)); }

  bool FirstInput() { return Items(0); }
  bool OneResult() {
    return node_.outputs.size() == 1 && Items(0);
  }                     // false if there are further results: they hold no items
  bool AllBroadcast();  // elementwise
  bool AlongOtherAxis() { return Items(0) && Axis() != 0; }
  // For ops along `axis` and the axes after it, whose other inputs broadcast to x and hold no items.
  bool AlongTrailingAxes();
  // Input 0 holds items; inputs 1 and 2 are fixed weights and bias, input 3 is a residual.
  bool WithEpilogue();

 private:
  const StaticNode& node_;
  std::vector<bool> holds_;
  int64_t items_;
};

}  // namespace tern
