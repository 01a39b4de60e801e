// Pooling of 8-bit images [N, spatial…, C].
#pragma once
#include "kernels/cpu/conv/conv.h"
#include "kernels/cpu/quant/integer.h"

namespace tern::cpu {

// Maxima of windows. The kernel, stride, dilation and padding are those of `shape`; padding is never the
// maximum. `type` is u8 or i8. pixel_stride is the stride between pixels of y, in elements; 0 means C.
void NhwcByteMaxPool(const ConvShape& shape, DType type, const void* x, void* y, const Workers& workers,
                     int64_t pixel_stride = 0);

// Means over all pixels of [images, pixels, channels]: y[image, channel] = round(multiplier * sum of
// (x - zero)) + to.zero, as ByteMeans does for rows.
void NhwcByteMeans(const ByteOperand& x, int64_t images, int64_t pixels, int64_t channels, float multiplier,
                   const ByteRange& to, void* y, const Workers& workers);

}  // namespace tern::cpu
