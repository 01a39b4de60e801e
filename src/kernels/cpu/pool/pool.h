// Pooling over [N x C, spatial…] with up to three spatial axes.
#pragma once
#include <vector>

#include "base/dtype.h"
#include "kernels/cpu/conv/conv.h"

namespace tern::cpu {

// In all functions, shape.batch is the number of planes.
bool HasMaxPool(DType type);
void MaxPool(DType type, const ConvShape& shape, const void* x, void* y, const Workers& workers);

// The number of taps that an average counts, for each axis and output position. The divisor is the product of
// these numbers over the axes. An average over 0 taps is 0.
using PoolDivisors = std::array<std::vector<float>, 3>;
void AveragePoolF32(const ConvShape& shape, const PoolDivisors& divisors, const float* x, float* y,
                    const Workers& workers);

}  // namespace tern::cpu
