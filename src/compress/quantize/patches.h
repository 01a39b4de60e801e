// The rows by which the weights of a layer are multiplied: the im2col rows of a convolution, or the rows of
// the left operand of a product.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ops/support/window.h"

namespace tern::compress {

class Patches {
 public:
  // Returns nullopt for a convolution over more than two spatial axes, and for a product with a transposed
  // left operand. The node must be a layer (see Placement).
  static std::optional<Patches> Of(const Node& node);

  int64_t groups() const { return groups_; }
  int64_t columns() const { return columns_; }  // weights per output channel
  // Returns `count` rows at random positions of x, the f32 operand of one run: [count][groups][columns].
  // Returns no rows if x is empty.
  std::vector<float> Sample(const Tensor& x, int64_t count, uint64_t seed) const;

 private:
  Patches() = default;
  void CopyWindow(const Tensor& x, int64_t position, const Window& window, const Dims& output,
                  float* to) const;

  bool product_ = false;
  int64_t groups_ = 1, columns_ = 0;
  Dims kernel_;    // two spatial axes
  Window window_;  // of two axes; pads that depend on the size of x are not resolved
};

}  // namespace tern::compress
