// How single nodes follow when a batch of fixed size becomes the symbol of any size.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

class BatchFollower {
 public:
  // symbol: stands for the batch in types; old_size: the number that it replaces.
  BatchFollower(std::string symbol, int64_t old_size) : symbol_(std::move(symbol)), old_size_(old_size) {}

  // Nodes in order, bodies too: each is changed where it holds the old size, then inferred and checked.
  Status Walk(Graph& graph);

  Dim batch() const { return Dim::Symbol(symbol_); }
  bool Holds(const Dim& dim) const;
  bool Holds(const Type& type) const;

 private:
  // Where a shape holds the batch: that dim is count * batch.
  struct Axis {
    size_t index;
    int64_t count;
  };
  std::optional<Axis> AxisOf(const Shape& shape) const;  // none where it is not exactly one such dim
  std::optional<Dims> OldDims(const Shape& shape) const;
  // Elements of the tensor that lie outside of one item's, counted as steps: the batch's place in memory.
  std::optional<int64_t> PlaceOf(const Shape& shape) const;

  Status Adapt(Node& node);
  Status AdaptReshape(Node& node);
  Status AdaptExpand(Node& node);
  Status AdaptConcat(Node& node);
  Status AdaptRnn(Node& node);
  // Operand i, made for one item, repeated along `axis` as often as `like` has items.
  Status Repeat(Node& node, int i, int axis, Value* like, int like_axis);
  Status Remember(const Node& node);
  Status CheckKept(const Node& node) const;

  std::string symbol_;
  int64_t old_size_;
  // For dims of count * batch: how many of the count lie outside of the batch. [197 * batch] may be 197 rows
  // for each item (1), or an item for each of 197 rows (197).
  std::map<int64_t, int64_t> outside_{{1, 1}};
};

}  // namespace tern
