// Pooling over [N x C, spatial…] with up to three spatial axes.
#pragma once
#include <vector>

#include "base/dtype.h"
#include "kernels/cpu/conv/conv.h"

namespace tern::cpu {

// In all functions, shape.batch is the number of planes.
bool HasMaxPool(DType type);
void MaxPool(DType type, const ConvShape& shape, const void* x, void* y, const Workers& workers);

// The number of taps that an average counts along each axis, for each output position. The divisor of an
// average is the product of the numbers of its three axes. If the divisor is 0, the average is 0.
using PoolDivisors = std::array<std::vector<float>, 3>;
void AveragePoolF32(const ConvShape& shape, const PoolDivisors& divisors, const float* x, float* y,
                    const Workers& workers);

}  // namespace tern::cpu
