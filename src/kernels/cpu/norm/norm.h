// Normalisation by stored or computed statistics.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/cpu/norm/norm_simd.h"

namespace tern::cpu {

// y = x * factor[channel] + shift[channel] for x [batch, channels, plane].
void ChannelAffineF32(const float* x, const float* factor, const float* shift, float* y, int64_t batch,
                      int64_t channels, int64_t plane, const Workers& workers);
// Computes y = x * factor[channel] + shift[channel] for x [outer, channels, inner]. If shift is null, nothing
// is added. y may equal an operand that has y's dims.
void ScaleF32(const float* x, const float* factor, const float* shift, float* y, int64_t outer,
              int64_t channels, int64_t inner, const Workers& workers);
// Converts stored statistics to the factor and shift of y = x * factor + shift.
void FoldStatisticsF32(const float* scale, const float* bias, const float* mean, const float* variance,
                       float epsilon, float* factor, float* shift, int64_t channels);

// Normalizes each group of x [batch, groups x (channels / groups), plane] to zero mean and unit variance.
// Then applies scale and bias per channel.
void GroupNormF32(const float* x, const float* scale, const float* bias, float* y, int64_t batch,
                  int64_t channels, int64_t plane, int64_t groups, float epsilon, const Workers& workers);

void LayerNormF32(const LayerNormParams& p, const float* x, float* y, const Workers& workers);
// Divides each row by its root mean square and multiplies it by p.scale. Ignores p.bias, p.mean and
// p.inv_std.
void RmsNormF32(const LayerNormParams& p, const float* x, float* y, const Workers& workers);

}  // namespace tern::cpu
