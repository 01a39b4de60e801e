// Follows the items of a batch through a graph. Adapts nodes when a batch of fixed size becomes a symbolic
// dim.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

class BatchFollower {
 public:
  // In types, the symbol named `symbol` replaces the batch size `old_size`. `new_size` is the value that the
  // symbol gets later.
  BatchFollower(std::string symbol, int64_t old_size, int64_t new_size)
      : symbol_(std::move(symbol)), adapts_(true), old_size_(old_size), sizes_{old_size, new_size} {}
  // The batch is the symbol named `symbol` already. Walk then changes no node. It accepts less than above:
  // an item of a batch must get the result that it gets alone, also from random numbers.
  explicit BatchFollower(std::string symbol);

  // Visits the nodes in order, nested graphs included. Adapts each Reshape, Expand, Concat and Rnn that
  // contains the old size, and infers the types of every node. Checks that the node processes each item as it
  // would process that item alone.
  Status Walk(Graph& graph);

  Dim batch() const { return Dim::Symbol(symbol_); }
  // True if the batch symbol occurs in the dim or type.
  bool Holds(const Dim& dim) const;
  bool Holds(const Type& type) const;
  // True if dim 0 is the batch, and no other dim depends on it.
  bool HoldsFirst(const Type& type) const { return AxisOf(type) == Axis{0, 1}; }

 private:
  // Says which dim of a shape contains the batch: dims[index] = count * batch.
  struct Axis {
    size_t index;
    Dim count;
    bool operator==(const Axis& other) const { return index == other.index && count == other.count; }
  };
  // Returns nullopt unless exactly one dim contains the batch, and this dim is a multiple of the batch.
  std::optional<Axis> AxisOf(const Shape& shape) const;
  std::optional<Axis> AxisOf(const Type& type) const;     // of the elements, for a sequence or optional
  std::optional<Dims> OldDims(const Shape& shape) const;  // the dims with old_size_ in place of the batch
  // Returns the product of the dims that are outer to the batch in memory. These are the dims before the dim
  // that contains the batch, and the outer factor of that dim (see outside_).
  std::optional<Dim> OuterCountOf(const Shape& shape) const;
  Dim CountBefore(const Shape& shape, size_t end) const;  // the product of the first `end` dims

  Status WalkBodies(Node& node);
  Status Adapt(Node& node);
  Status AdaptReshape(Node& node);
  Status AdaptExpand(Node& node);
  Status AdaptConcat(Node& node);
  Status AdaptRnn(Node& node);
  // Expands operand i, which contains one item, along `axis` to the size of `like` along `like_axis`.
  Status Repeat(Node& node, int i, int axis, Value* like, int like_axis);

  // Fails unless the node processes each item independently.
  Status CheckItems(const Node& node);
  Status CheckNested(const Node& node);
  Status CheckBodies(const Node& node) const;  // checks the values that enter and leave the bodies
  Status CheckResults(const Node& node) const;
  Status CheckResult(const Node& node, size_t i, const Type& from) const;
  Status CheckOtherBodies(const Node& node) const;
  Status CheckCarried(const Node& node, int input, int body_input, int body_output) const;
  Status CheckScannedAxes(const Node& node) const;
  Status CheckMade(const Node& node) const;
  Status CheckRandom(const Node& node) const;
  Status CheckReads(const Node& node) const;
  Status CheckContents(const Node& node) const;
  Status CheckRanks(const Node& node) const;
  Status CheckOutputs(const Node& node, const std::vector<int>& axes, const Dim& count) const;
  Status FollowView(const Node& node);
  void SimplifyDims(const Node& node) const;
  Status Lost(const Node& node, const std::string& why = "") const;
  Status CannotAdapt(const Node& node, const std::string& why) const;
  bool HoldsValue(const Value* v) const { return v && Holds(v->type); }
  bool ReadsBatch(const Value* v) const;  // true if an element of v depends on the batch size
  // The same for the elements of v that determine element i of a result with `count` elements.
  bool ReadsBatch(const Value* v, size_t i, size_t count) const;

  std::string symbol_;
  bool adapts_;
  int64_t old_size_;
  std::vector<int64_t> sizes_;  // batch sizes for which the results of inference are compared
  // A dim of size 197 * batch is either a flattened [batch, 197] or a flattened [197, batch]. In the first
  // case outside_ maps "197" to 1, and in the second case to 197. In general, the key is the factor of the
  // batch. The value is the part of this factor that is outer to the batch in memory.
  std::map<std::string, Dim> outside_{{"1", 1}};
};

}  // namespace tern
