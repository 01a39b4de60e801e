// Maps elements of x to scales. There is one scale for all elements, one per index of an axis, or one per
// block along the axis.
#pragma once
#include "ir/infer_context.h"

namespace tern {

class QuantMap {
 public:
  // x and scale must have passed CheckQuantShapes.
  QuantMap(const Dims& x, const Dims& scale, int64_t axis, int64_t block_size);
  // Returns the index of the scale of an element of x.
  size_t operator()(int64_t element) const;

 private:
  int64_t inner_ = 1, length_ = 1, block_ = 1, groups_ = 1;
  bool single_ = false, blocked_ = false;
};

// Checks that scale matches x, and that zero_point has the shape of scale.
Status CheckQuantShapes(const InferContext& c, int64_t axis, int64_t block_size);

// Axis rules of ops with the attributes axis and block_size. With blocks, the axes cannot be permuted. If
// there is only one scale, `axis` has no effect and is not renamed.
std::optional<AxisMap> ScaledAxes(const Node& node);
void RenameScaledAxis(const Node& node, AxisRenaming& renaming);

}  // namespace tern
