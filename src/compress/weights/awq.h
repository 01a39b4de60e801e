// AWQ: if an input has large values, multiplies the weights that read it by a factor before they are rounded,
// and divides the input by this factor. These weights then have smaller relative errors (Lin et al., 2023).
#pragma once
#include "compress/weights/block_matrix.h"
#include "compress/weights/hessian.h"

namespace tern::compress {

// The weights of one layer, [outputs][inputs].
struct AwqLayer {
  const std::vector<float>* weights = nullptr;
  int64_t outputs = 0;
};

// Returns one factor per input for layers that read the same value, whose second moments are `hessian`. The
// factors are powers of the inputs' magnitudes. The exponent is chosen for the least error of the layers'
// results, which is measured on some of their outputs. Returns an empty list if no factors reduce the error
// by at least 2 %.
std::vector<float> AwqFactors(const std::vector<AwqLayer>& layers, const BlockFormat& format,
                              const Hessian& hessian, const Workers& workers);

// Returns the weights, with those of input i multiplied by factors[i].
std::vector<float> Multiplied(std::vector<float> weights, const std::vector<float>& factors);

}  // namespace tern::compress
