// Adapts nodes when a batch of fixed size becomes a symbolic dim.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

class BatchFollower {
 public:
  // symbol: the name of the batch dim in types; old_size: the size that it replaces.
  BatchFollower(std::string symbol, int64_t old_size) : symbol_(std::move(symbol)), old_size_(old_size) {}

  // Visits the nodes in order, nested graphs included. Adapts each node that holds the old size as a
  // constant, infers its types and checks that its results keep all items.
  Status Walk(Graph& graph);

  Dim batch() const { return Dim::Symbol(symbol_); }
  bool Holds(const Dim& dim) const;
  bool Holds(const Type& type) const;

 private:
  // The dim of a shape that contains the batch: dims[index] = count * batch.
  struct Axis {
    size_t index;
    int64_t count;
  };
  std::optional<Axis> AxisOf(const Shape& shape) const;  // nullopt unless exactly one dim contains it
  std::optional<Dims> OldDims(const Shape& shape) const;
  // The product of all dims (and factors of the batch's dim) that are outer to the batch in memory.
  std::optional<int64_t> OuterCountOf(const Shape& shape) const;

  Status Adapt(Node& node);
  Status AdaptReshape(Node& node);
  Status AdaptExpand(Node& node);
  Status AdaptConcat(Node& node);
  Status AdaptRnn(Node& node);
  // Expands operand i, which holds one item, along `axis` to the number of items in `like`.
  Status Repeat(Node& node, int i, int axis, Value* like, int like_axis);
  Status RecordOuterCount(const Node& node);
  Status CheckKept(const Node& node) const;

  std::string symbol_;
  int64_t old_size_;
  // For dims of count * batch: the factor of the count that is outer to the batch. [197 * batch] may be
  // [batch, 197] (1) or [197, batch] (197).
  std::map<int64_t, int64_t> outside_{{1, 1}};
};

}  // namespace tern
