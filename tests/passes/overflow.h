// Finds results that may be infinite or NaN, depending on how a kernel computes them.
#pragma once
#include "node_values.h"

namespace tern {

// An observer of EvaluateGraph. It replaces each element of a sum of products by NaN if the magnitudes of its
// terms add up to more than the largest f32. Kernels add in f32, in any order, so that such an element may be
// infinite or NaN even if its terms cancel. The reference evaluator adds in f64. The observer also replaces
// the elements of a Conv whose weights include an infinity, because kernels multiply weights by padding.
// Nodes on the inputs of subgraphs are left unchanged, because observers do not see these inputs.
class OverflowMarker {
 public:
  OverflowMarker(const Graph& graph, const DatumList& inputs) : values_(graph, inputs) {}
  void Observe(const Node& node, const DatumList& outputs);
  bool marked() const { return marked_; }  // whether an element was replaced

 private:
  void Mark(const Node& node, const Tensor& output);

  NodeValues values_;
  bool marked_ = false;
};

}  // namespace tern
