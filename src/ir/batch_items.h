// Which nodes treat the items of a batch one by one.
#pragma once
#include <vector>

#include "ir/static_node.h"

namespace tern {

// An op's Batch rule says whether the node does with each item of the outermost dim what it would do with
// that item alone, and marks the inputs that hold such items; the others are the same for all items. All
// outputs hold items. The functions without arguments are such rules: .Batch(&BatchItems::FirstInput).
class BatchItems {
 public:
  // Every output has the same outermost dim, which is not 0; input 0 is there.
  explicit BatchItems(const StaticNode& node)
      : node_(node), holds_(node.inputs.size()), items_(node.outputs[0].dims[0]) {}

  const StaticNode& node() const { return node_; }
  const Attrs& attrs() const { return *node_.attrs; }
  const std::vector<bool>& holds() const { return holds_; }
  bool Has(size_t i) const { return node_.Has(i); }
  const Tensor* Known(size_t i) const { return node_.Known(i); }
  const Dims& InDims(size_t i) const { return node_.inputs[i].dims; }
  const Dims& OutDims() const { return node_.outputs[0].dims; }

  // The input's outermost dim is that of the results; it is marked.
  bool Items(size_t i);
  // The input is there before the run, or absent: the same for all items.
  bool Fixed(size_t i) const { return !Has(i) || Known(i); }
  // The input broadcasts over the result; it is marked where it holds items.
  bool Broadcasts(size_t i);
  // The attribute `axis` of input 0, counted from the front.
  int64_t Axis() const { return node_.Axis(InDims(0)); }

  bool FirstInput() { return Items(0); }
  bool OneResult() { return node_.outputs.size() == 1 && Items(0); }  // the other results have other items
  bool AllBroadcast();                                                // element by element
  bool AlongOtherAxis() { return Items(0) && Axis() != 0; }
  // Along `axis` and those after it, with inputs that broadcast to x and hold no items.
  bool AlongTrailingAxes();
  // Input 0, with fixed weights and bias as inputs 1 and 2 and a residual as input 3.
  bool WithEpilogue();

 private:
  const StaticNode& node_;
  std::vector<bool> holds_;
  int64_t items_;
};

}  // namespace tern
