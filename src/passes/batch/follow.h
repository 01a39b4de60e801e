// Adapts nodes when a batch of fixed size becomes a symbolic dim.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

class BatchFollower {
 public:
  // symbol: the name of the batch dim in types; old_size: the size that it replaces; new_size: its value
  // later.
  BatchFollower(std::string symbol, int64_t old_size, int64_t new_size)
      : symbol_(std::move(symbol)), old_size_(old_size), new_size_(new_size) {}

  // Visits the nodes in order, nested graphs included. Adapts each node that holds the old size as a
  // constant, infers its types and checks that it processes each item as it would process that item alone.
  Status Walk(Graph& graph);

  Dim batch() const { return Dim::Symbol(symbol_); }
  bool Holds(const Dim& dim) const;
  bool Holds(const Type& type) const;

 private:
  // The dim of a shape that contains the batch: dims[index] = count * batch.
  struct Axis {
    size_t index;
    Dim count;
    bool operator==(const Axis& other) const { return index == other.index && count == other.count; }
  };
  std::optional<Axis> AxisOf(const Shape& shape) const;  // nullopt unless exactly one dim contains it
  std::optional<Axis> AxisOf(const Type& type) const;    // of the elements of a sequence or optional
  std::optional<Dims> OldDims(const Shape& shape) const;
  // The product of all dims (and factors of the batch's dim) that are outer to the batch in memory.
  std::optional<Dim> OuterCountOf(const Shape& shape) const;
  Dim CountBefore(const Shape& shape, size_t end) const;  // the product of the first dims

  Status WalkBodies(Node& node);
  Status Adapt(Node& node);
  Status AdaptReshape(Node& node);
  Status AdaptExpand(Node& node);
  Status AdaptConcat(Node& node);
  Status AdaptRnn(Node& node);
  // Expands operand i, which holds one item, along `axis` to the number of items in `like`.
  Status Repeat(Node& node, int i, int axis, Value* like, int like_axis);

  // Fails unless the node processes each item independently.
  Status CheckItems(const Node& node);
  Status CheckNested(const Node& node);
  Status CheckBodies(const Node& node) const;  // what enters and leaves the bodies
  Status CheckCarried(const Node& node, int input, int body_input, int body_output) const;
  Status CheckScannedAxes(const Node& node) const;
  Status CheckMade(const Node& node) const;
  Status CheckReads(const Node& node) const;
  Status CheckOutputs(const Node& node, const std::vector<int>& axes, const Dim& count) const;
  Status FollowView(const Node& node);
  void SimplifyDims(const Node& node) const;
  Status Lost(const Node& node, const std::string& why = "") const;
  static Status CannotAdapt(const Node& node, const std::string& why);
  bool HoldsValue(const Value* v) const { return v && Holds(v->type); }
  bool ReadsBatch(const Value* v) const;  // an element is a function of the batch size

  std::string symbol_;
  int64_t old_size_, new_size_;
  // For dims of count * batch: the factor of the count that is outer to the batch. [197 * batch] may be
  // [batch, 197] (1) or [197, batch] (197).
  std::map<std::string, Dim> outside_{{"1", 1}};
};

}  // namespace tern
