// Col2im: adds the columns of an im2col matrix to an image.
#pragma once
#include "kernels/cpu/conv/conv.h"

namespace tern::cpu {

// Adds `columns`, [taps, input positions], to the plane y of one channel, for the taps [tap0, tap1) of the
// kernel. `s.input` has the positions of the window, and `s.output` is the size of y.
void AddColumns(const ConvShape& s, int64_t tap0, int64_t tap1, const float* columns, float* y);

// Sets y [batch · channels, output] to the sums of x [batch · channels · taps, input positions].
void Col2ImF32(const ConvShape& s, const float* x, float* y, const Workers& workers);

}  // namespace tern::cpu
