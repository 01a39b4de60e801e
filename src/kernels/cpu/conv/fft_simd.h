// Fourier transforms of tiles of images, for vectors of channels at once. A tile is [rows][columns] complex
// numbers, rows and columns powers of two up to 1024; each number is a vector of real parts and one of
// imaginary parts. Two vectors of channels are transformed as the real and the imaginary part of one tile and
// separated behind: spectra of real numbers are symmetric, so half of the frequencies are enough.
//
// What shares a transform rounds together. Therefore each channel is multiplied on its way in by a power of
// two that makes its largest number 1 to 4 (less if that is below 2^-126), and on its way out by what undoes
// that: `back`, zero for channels of zeros. Channels that hold something not finite are transformed as zeros;
// back is NaN then.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct FftTile {
  float* z = nullptr;
  int rows_log = 0, columns_log = 0;
  int64_t row_step = 0;  // floats
  // For each size n = 4, 8, 16 … the factors w^j, w^2j, w^3j of j = 0 … n/4 - 1, w = exp(-2πi/n): 6 floats.
  const float* factors = nullptr;
  // Where the numbers of a frequency and of its mirror image are: offsets from z, in floats.
  const int32_t* pairs = nullptr;
  int64_t frequencies = 0;
};

// The channels that the two vectors hold: the first `count` of 2 * lanes.
struct FftInput {
  const float* x = nullptr;                           // the image's first pixel, at the first of the channels
  int64_t height = 0, width = 0, row = 0, pixel = 0;  // sizes and steps in floats
  int64_t first_row = 0, first_column = 0;            // of the tile; what is outside the image is zero
  int64_t count = 0;
  float* back = nullptr;  // is written, 2 * lanes
};

// Spectra of both vectors, one frequency after the other: re and im of the first vector; those of the second
// follow `lanes` floats behind.
struct FftSpectra {
  float *re = nullptr, *im = nullptr, *minus = nullptr;  // minus: -im once more, or null
  int64_t step = 0;                                      // from frequency to frequency
  int64_t count = 0;
  float re_factor = 1, im_factor = 1;
  float* back = nullptr;  // 2 * lanes: separate multiplies by it, join writes it
};

// y = clip(tile * back * kernel_back + bias? + residual?).
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
  // Of what z holds; other rows than [first, last) are zeros.
  void (*forward)(const FftTile& tile, int64_t first, int64_t last);
  void (*input)(const FftTile& tile, const FftInput& in);       // reads and transforms
  void (*separate)(const FftTile& tile, const FftSpectra& to);  // both vectors' spectra
  void (*join)(const FftTile& tile, const FftSpectra& from);    // back into one
  void (*multiply)(const FftTile& tile, const float* w);        // by [frequency][re, im of both]
  void (*output)(const FftTile& tile, const FftOutput& out);    // transforms back and writes
};
TERN_SIMD_TABLE(FftTable, FftSimd)

}  // namespace tern::cpu
