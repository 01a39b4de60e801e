// The inner loops over pixels, compiled for several instruction sets.
#pragma once
#include <cstddef>
#include <cstdint>

#include "data/image/taps.h"

namespace tern::data {

// Sources may be read up to this many bytes beyond the last element that a tap needs, and rows of results
// may be written up to this many bytes beyond their end.
constexpr size_t kRowSlack = 64;

struct PixelKernels {
  const char* name;
  // Resizes four rows of RGB pixels horizontally.
  void (*horizontal3)(const uint8_t* const rows[4], const Taps& taps, uint8_t* const out[4]);
  // Resizes one row of grey pixels horizontally.
  void (*horizontal1)(const uint8_t* row, const Taps& taps, uint8_t* out);
  // Computes one row: the sum of `count` rows with the weights of one output. Reads and writes `bytes` bytes
  // exactly.
  void (*vertical)(const uint8_t* const* rows, int count, const int16_t* low, const int16_t* high,
                   size_t bytes, uint8_t* out);
  // Converts `width` RGB pixels to three planes: plane[c][x] = pixel[c] * scale[c] + shift[c].
  void (*planes3)(const uint8_t* rgb, size_t width, const float scale[3], const float shift[3],
                  float* const plane[3]);
  // Converts `count` elements: out[i] = in[i] * scale[i % 3] + shift[i % 3].
  void (*scale3)(const uint8_t* in, size_t count, const float scale[3], const float shift[3], float* out);
};

extern const PixelKernels kBasePixelKernels;
// Null if the machine or the build lacks the instructions.
const PixelKernels* Avx2PixelKernels();

// Returns the kernels of the best instruction set. TERN_ISA=base and TERN_ISA=sse4 select the base kernels.
const PixelKernels& ActivePixelKernels();
// Replaces the active kernels, for tests; null restores them. Must not be called while pictures are resized.
void UsePixelKernels(const PixelKernels* kernels);

}  // namespace tern::data
