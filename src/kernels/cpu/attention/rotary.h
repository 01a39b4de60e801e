// The rotation that marks positions.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

struct RotaryShape {
  int64_t batch = 1, heads = 1, length = 1, size = 0, rotated = 0;
  bool packed = false;       // x is [batch, length, heads*size], not [batch, heads, length, size]
  bool shared = false;       // positions or angles are the same for the whole batch
  bool interleaved = false;  // pairs are neighbours, not half a head apart
};

// Rows of cos and sin hold rotated / 2 angles.
struct RotaryTensors {
  const float *x = nullptr, *cosines = nullptr, *sines = nullptr;
  // [batch or 1, length]: which rows of cos and sin to take; both null: one row after the other.
  const int64_t* positions = nullptr;
  const int32_t* short_positions = nullptr;
  float* y = nullptr;  // may be x
};
void RotaryF32(const RotaryShape& s, const RotaryTensors& t, const Workers& workers);

}  // namespace tern::cpu
