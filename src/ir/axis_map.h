// Rules about axes that several ops share, and what they are told when the order of axes changes.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// A Transpose's permutation: axis i of the result is axis perm[i] of what it reads.
using Permutation = std::vector<int64_t>;

// The elements of an integer constant; nothing for other values and null.
std::optional<std::vector<int64_t>> IntsOf(const Value* v);
// Every dim is 1, so that their order means nothing.
bool AllOnes(const Value* v);
// An axis of what a Transpose by perm reads, as one of its result.
int64_t MovedAxis(int64_t axis, const Permutation& perm);

// The attributes and inputs of a node whose operands come permuted. An op's RenameAxes rule changes those
// that name axes. Owns nothing.
class AxisRenaming {
 public:
  using MakeInts = std::function<Value*(const std::vector<int64_t>&)>;  // a constant of the graph
  AxisRenaming(const Permutation& perm, const MakeInts& ints, Attrs& attrs, std::vector<Value*>& inputs)
      : perm_(perm), ints_(ints), attrs_(attrs), inputs_(inputs) {}

  size_t rank() const { return perm_.size(); }
  const Value* Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  void SetInput(size_t i, const std::vector<int64_t>& list);
  void SetAttr(const char* name, const AttrValue& value);

  std::vector<int64_t> Moved(std::vector<int64_t> axes) const;
  // Lists with one element per axis, one after the other, in the new order.
  std::vector<int64_t> Reordered(const std::vector<int64_t>& lists) const;
  // The attribute `axis` names one axis of the operands.
  void MoveAxisAttr();
  // An input that is absent or a constant list of axes.
  void MoveAxesInput(size_t i);

 private:
  const Permutation& perm_;
  const MakeInts& ints_;
  Attrs& attrs_;
  std::vector<Value*>& inputs_;
};

// 0, 1, 2, …
std::vector<int64_t> FirstAxes(size_t count);

// Axis rules: results have the axes of input 0; the same, where only the layout pass reorders them.
std::optional<AxisMap> FirstOperandAxes(const Node& node);
std::optional<AxisMap> FirstOperandLayout(const Node& node);
std::optional<AxisMap> BroadcastAxes(const Node& node);
// The attribute `axis` names an axis of the operands and nothing else does.
void RenameAxisAttr(const Node& node, AxisRenaming& renaming);

}  // namespace tern
