// Rotary position embedding (RoPE).
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

struct RotaryShape {
  // The first `rotated` of the `size` features of a head are rotated.
  int64_t batch = 1, heads = 1, length = 1, size = 0, rotated = 0;
  bool packed = false;  // x is [batch, length, heads*size], not [batch, heads, length, size]
  bool shared = false;  // all batch entries use the same positions, cosines and sines
  // If true, feature 2i is paired with 2i + 1. If false, feature i is paired with i + rotated / 2.
  bool interleaved = false;
};

// Each row of `cosines` and `sines` has rotated / 2 elements.
struct RotaryTensors {
  const float *x = nullptr, *cosines = nullptr, *sines = nullptr;
  // Position i of batch entry b uses row b * length + i of `cosines` and `sines`, or row i if `shared`. If
  // `positions` or `short_positions` is set, its element at this index is the row instead. At most one of
  // these arrays is set. Their dims are [batch, length], or [1, length] if `shared`.
  const int64_t* positions = nullptr;
  const int32_t* short_positions = nullptr;
  float* y = nullptr;  // may equal x
};
void RotaryF32(const RotaryShape& s, const RotaryTensors& t, const Workers& workers);

}  // namespace tern::cpu
