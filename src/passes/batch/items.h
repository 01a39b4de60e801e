// Decides whether a node processes the items of a batch independently.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace tern {

constexpr int kNoItems = -1;  // used as the axis of a value that is the same for all items

// A node and, for each input, the axis that contains the batch. The axis may contain further dims: a Reshape
// of [batch, 3, 4] to [batch*3, 4] merges the batch with the rows.
struct ItemQuery {
  const Node& node;
  std::vector<int> axes;  // per input; kNoItems if the input is absent or the same for all items

  bool Has(int i) const { return node.input(i) != nullptr; }
  int Axis(int i) const { return Has(i) ? axes[static_cast<size_t>(i)] : kNoItems; }
  bool Holds(int i) const { return Axis(i) != kNoItems; }
  const Shape& In(int i) const { return node.input(i)->type.shape; }
  int Rank(int i) const { return In(i).rank(); }
  int OutRank() const { return node.output(0)->type.shape.rank(); }
  int inputs() const { return static_cast<int>(node.inputs().size()); }
  size_t outputs() const { return node.outputs().size(); }
  // Returns the attribute `axis`. If it is negative, adds `rank`.
  int AxisAttr(int rank) const;
  // Fails if an input that is not listed in `may` contains items.
  Status OnlyIn(std::initializer_list<int> may) const;
};

// Returns, for each output, the axis that contains the items. The axis is kNoItems if the output depends on
// no item. The outputs contain the items in the same order as the inputs. If the items would not be
// independent, returns an error with the reason. Must not be called for views, control flow and nodes without
// items in their inputs.
Result<std::vector<int>> OutputItemAxes(const ItemQuery& query);

// Returns the elements of the integer value `v`, or nullopt if an element is not known.
std::optional<std::vector<int64_t>> NumbersOf(const Value* v);

}  // namespace tern
