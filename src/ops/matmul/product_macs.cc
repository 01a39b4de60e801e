#include "ops/matmul/product_macs.h"

#include "ir/graph.h"
#include "ir/op_cost.h"

namespace tern {

std::optional<double> ProductMacs(const Node& node) {
  const Value* a = node.input(0);
  const int rank = a ? a->type.shape.rank() : -1;
  const bool transposed = node.attrs.Has("transpose_a") && node.attrs.Bool("transpose_a") && rank > 1;
  return Times(ElementsOf(node.output(0)), DimOf(a, transposed ? -2 : -1));
}

}  // namespace tern
