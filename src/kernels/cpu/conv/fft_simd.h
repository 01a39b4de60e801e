// FFTs of image tiles, vectorized along channels. A tile is [rows][columns] complex numbers; rows and columns
// are powers of two up to 1024. Each complex number is a vector of real parts and a vector of imaginary
// parts. Two vectors of channels are transformed as the real and the imaginary part of one tile and separated
// afterwards. Spectra of real numbers are conjugate-symmetric, so half of the frequencies are enough.
//
// Channels that share a transform share its rounding errors. Each channel is therefore scaled before the
// transform by a power of two, so that its largest number is between 1 and 4. If the largest number is below
// 2^-126, it is less than 1 after scaling. `back` is the factor that undoes the scaling. It is zero for
// channels of zeros. It is NaN for channels with a NaN or infinity, which are transformed as zeros.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct FftTile {
  float* z = nullptr;
  int rows_log = 0, columns_log = 0;
  int64_t row_step = 0;  // in floats
  // Twiddle factors. For each n = 4, 8, 16, … and each j = 0 … n/4 - 1, there are three complex numbers (6
  // floats). They are w^j, w^2j and w^3j, where w = exp(-2πi/n).
  const float* factors = nullptr;
  // Offsets from z, in floats, of each frequency and of its conjugate.
  const int32_t* pairs = nullptr;
  int64_t frequencies = 0;
};

// The argument of `input`, which transforms two vectors of channels. Only the first `count` of these channels
// exist.
struct FftInput {
  const float* x = nullptr;  // the image, at its first pixel and the first of these channels
  // Size of the image in pixels, and its strides between rows and between pixels in floats.
  int64_t height = 0, width = 0, row = 0, pixel = 0;
  // Position of the tile in the image. Pixels outside the image count as zeros.
  int64_t first_row = 0, first_column = 0;
  int64_t count = 0;
  float* back = nullptr;  // output: 2 * lanes factors
};

// Spectra of two vectors of channels, for each frequency. re and im point to the first vector. The second
// vector is `lanes` floats after the first.
struct FftSpectra {
  float *re = nullptr, *im = nullptr, *minus = nullptr;  // `minus` is a copy of -im, or null
  int64_t step = 0;                                      // stride between frequencies
  int64_t count = 0;
  float re_factor = 1, im_factor = 1;  // `separate` multiplies re and im by these factors
  float* back = nullptr;               // 2 * lanes factors: `separate` multiplies by them, `join` writes them
};

// Describes y = clip(tile * back * kernel_back + bias + residual). bias and residual may be null.
struct FftOutput {
  float* y = nullptr;
  int64_t rows = 0, columns = 0, row_step = 0, pixel_step = 0;
  int64_t count = 0;
  const float *back = nullptr, *kernel_back = nullptr;
  const float *bias = nullptr, *residual = nullptr;  // residual is laid out like y
  bool clip = false;
  float low = 0, high = 0;
};

struct FftTable {
  int lanes;
  // Transforms z in place. Rows outside [first, last) must be zeros.
  void (*forward)(const FftTile& tile, int64_t first, int64_t last);
  void (*input)(const FftTile& tile, const FftInput& in);       // loads, scales and transforms
  void (*separate)(const FftTile& tile, const FftSpectra& to);  // splits z into the spectra of both vectors
  void (*join)(const FftTile& tile, const FftSpectra& from);    // scales, then undoes `separate`
  // Multiplies z by spectra w. For each frequency, w contains re and im of the first vector, then re and im
  // of the second vector.
  void (*multiply)(const FftTile& tile, const float* w);
  // Computes the inverse transform, applies the epilogue and stores the result.
  void (*output)(const FftTile& tile, const FftOutput& out);
};
TERN_SIMD_TABLE(FftTable, FftSimd)

}  // namespace tern::cpu
