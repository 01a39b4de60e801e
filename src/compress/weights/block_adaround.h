// AdaRound for weights of few bits with one scale per block (Nagel et al., 2020).
#pragma once
#include "compress/weights/block_matrix.h"
#include "compress/weights/hessian.h"

namespace tern::compress {

// Returns w, [outputs][inputs], with each weight rounded up or down so that the results of the layer change
// least for inputs with these second moments. Scales are those of RoundToNearest. `damping` is added to the
// diagonal of the moments, relative to its mean.
BlockMatrix AdaRound(const std::vector<float>& w, int64_t outputs, const BlockFormat& format,
                     const Hessian& hessian, const Workers& workers, double damping = 0.01);

}  // namespace tern::compress
