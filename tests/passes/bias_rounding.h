// Adds the error that a product of dequantized operands may have at most, if the optimizer rounds its bias.
#pragma once
#include "node_values.h"

namespace tern {

// An observer of EvaluateGraph. The rules that fuse quantized products round a constant f32 bias to a
// multiple of the product of the operands' scales. The observer adds `share` times the largest such error to
// the sums of Conv and MatMul. A bias that is made by Dequantize is an integer already.
class BiasRounding {
 public:
  BiasRounding(const Graph& graph, const DatumList& inputs, double share)
      : values_(graph, inputs), share_(share) {}
  void Observe(const Node& node, const DatumList& outputs);
  bool found() const { return found_; }  // whether a product has such a bias

 private:
  double Error(const Node& node) const;

  NodeValues values_;
  double share_;
  bool found_ = false;
};

}  // namespace tern
