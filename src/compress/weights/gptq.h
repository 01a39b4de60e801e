// GPTQ: rounds weights one input after the other, and changes the weights that are not rounded yet so that
// they compensate the error of the layer's result (Frantar et al., 2022).
#pragma once
#include "compress/weights/block_matrix.h"
#include "compress/weights/hessian.h"

namespace tern::compress {

// Returns w, [outputs][inputs], rounded for inputs with these second moments. `damping` is added to the
// diagonal of the moments, relative to its mean.
BlockMatrix Gptq(std::vector<float> w, int64_t outputs, const BlockFormat& format, const Hessian& hessian,
                 const Workers& workers, double damping = 0.01);

}  // namespace tern::compress
