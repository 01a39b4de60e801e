// Axis rules that several ops share, and the helper that renames axes when their order changes.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// A Transpose's permutation: axis i of the result is axis perm[i] of the input.
using Permutation = std::vector<int64_t>;

// The elements of an integer constant; nullopt for other values and null.
std::optional<std::vector<int64_t>> IntsOf(const Value* v);
// True if every dim is 1, so that their order does not matter.
bool AllOnes(const Value* v);
// Maps an axis of the input of a Transpose by perm to the axis of its result.
int64_t MovedAxis(int64_t axis, const Permutation& perm);

// The attributes and inputs of a node whose operands are permuted. An op's rename rule (OpDef::rename_axes)
// changes those that name axes. Owns nothing.
class AxisRenaming {
 public:
  using MakeInts = std::function<Value*(const std::vector<int64_t>&)>;  // makes a constant in the graph
  AxisRenaming(const Permutation& perm, const MakeInts& ints, Attrs& attrs, std::vector<Value*>& inputs)
      : perm_(perm), ints_(ints), attrs_(attrs), inputs_(inputs) {}

  size_t rank() const { return perm_.size(); }
  const Value* Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  void SetInput(size_t i, const std::vector<int64_t>& list);
  void SetAttr(const char* name, const AttrValue& value);

  std::vector<int64_t> Moved(std::vector<int64_t> axes) const;
  // Permutes lists to the new order of axes. Each list has one element per axis; the lists are concatenated.
  std::vector<int64_t> Reordered(const std::vector<int64_t>& lists) const;
  // For ops whose attribute `axis` names one axis of the operands.
  void MoveAxisAttr();
  // For an input that is absent or a constant list of axes.
  void MoveAxesInput(size_t i);

 private:
  const Permutation& perm_;
  const MakeInts& ints_;
  Attrs& attrs_;
  std::vector<Value*>& inputs_;
};

// Returns the axes 0, 1, 2, …
std::vector<int64_t> FirstAxes(size_t count);

// Axis rules. FirstOperandAxes: results have the axes of input 0. FirstOperandLayout: the same, but only the
// layout pass may reorder them. BroadcastAxes: all inputs broadcast to the result.
std::optional<AxisMap> FirstOperandAxes(const Node& node);
std::optional<AxisMap> FirstOperandLayout(const Node& node);
std::optional<AxisMap> BroadcastAxes(const Node& node);
// For ops where only the attribute `axis` names an axis.
void RenameAxisAttr(const Node& node, AxisRenaming& renaming);

}  // namespace tern
