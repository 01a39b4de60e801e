// Axis rules that several ops share, and a class that renumbers axes when their order changes.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// A Transpose's permutation: axis i of the result is axis perm[i] of the input.
using Permutation = std::vector<int64_t>;

// Returns the elements of an integer constant. Returns nullopt for other values and for null.
std::optional<std::vector<int64_t>> IntsOf(const Value* v);
// Returns true if every dim is 1, so that the order of the axes does not matter.
bool AllOnes(const Value* v);
// A Transpose by `perm` moves axis `axis` of its input to another axis of its result. Returns that axis.
int64_t MovedAxis(int64_t axis, const Permutation& perm);

// The attributes and inputs of a node whose operands are permuted. An op's rename rule (OpDef::rename_axes)
// changes the attributes and inputs that contain axis numbers. This class does not own the attributes and
// inputs.
class AxisRenaming {
 public:
  using MakeInts = std::function<Value*(const std::vector<int64_t>&)>;  // adds a constant to the graph
  AxisRenaming(const Permutation& perm, const MakeInts& ints, Attrs& attrs, std::vector<Value*>& inputs)
      : perm_(perm), ints_(ints), attrs_(attrs), inputs_(inputs) {}

  size_t rank() const { return perm_.size(); }
  const Value* Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  void SetInput(size_t i, const std::vector<int64_t>& list);
  void SetAttr(const char* name, const AttrValue& value);

  std::vector<int64_t> Moved(std::vector<int64_t> axes) const;  // MovedAxis of each axis
  // `lists` is a concatenation of lists with one element per axis. For example, pads are a list of pads
  // before each axis, followed by a list of pads after each axis. Returns each list in the new order of axes.
  std::vector<int64_t> Reordered(const std::vector<int64_t>& lists) const;
  // Changes the attribute `axis` to the new number of the axis.
  void MoveAxisAttr();
  // Changes input i, a constant list of axes, to the new numbers of the axes. Does nothing if input i is
  // absent.
  void MoveAxesInput(size_t i);

 private:
  const Permutation& perm_;
  const MakeInts& ints_;
  Attrs& attrs_;
  std::vector<Value*>& inputs_;
};

// Returns the axes 0, 1, 2, …
std::vector<int64_t> FirstAxes(size_t count);

// Axis rules. With FirstOperandAxes and FirstOperandLayout, results have the axes of input 0. With
// FirstOperandLayout, only the layout pass may reorder these axes. With BroadcastAxes, all inputs broadcast
// to the result.
std::optional<AxisMap> FirstOperandAxes(const Node& node);
std::optional<AxisMap> FirstOperandLayout(const Node& node);
std::optional<AxisMap> BroadcastAxes(const Node& node);
// A rename rule for ops where only the attribute `axis` contains an axis number.
void RenameAxisAttr(const Node& node, AxisRenaming& renaming);

}  // namespace tern
