// Geometry of Col2Im, for its reference evaluator and its kernel.
#pragma once
#include "core/tensor.h"

namespace tern {

// The attributes of Col2Im.
struct Col2ImGeometry {
  std::vector<int64_t> dilations, pads, strides;
};

// Fills in the defaults of empty attributes, and returns the number of blocks along each axis of the image. x
// has the dims [N, C·block, blocks]. Fails if these dims do not match `image` and `block`.
Result<Dims> Col2ImBlocks(Col2ImGeometry& g, const Dims& x, const Dims& image, const Dims& block);

}  // namespace tern
