// Rotary position embedding (RoPE).
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

struct RotaryShape {
  int64_t batch = 1, heads = 1, length = 1, size = 0,
          rotated = 0;       // the first `rotated` of `size` features are rotated
  bool packed = false;       // x is [batch, length, heads*size], not [batch, heads, length, size]
  bool shared = false;       // all batch entries have the same positions or angles
  bool interleaved = false;  // feature 2i is paired with 2i + 1, otherwise i with i + rotated / 2
};

// Rows of cos and sin hold rotated / 2 angles.
struct RotaryTensors {
  const float *x = nullptr, *cosines = nullptr, *sines = nullptr;
  // Rows of cos and sin to use, [batch or 1, length]. If both are null, position i of a sequence uses row i.
  const int64_t* positions = nullptr;
  const int32_t* short_positions = nullptr;
  float* y = nullptr;  // may be x
};
void RotaryF32(const RotaryShape& s, const RotaryTensors& t, const Workers& workers);

}  // namespace tern::cpu
