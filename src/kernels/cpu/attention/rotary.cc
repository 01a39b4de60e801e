#include "kernels/cpu/attention/rotary.h"

#include <algorithm>

#include "kernels/cpu/attention/rotary_simd.h"

namespace tern::cpu {

void RotaryF32(const RotaryShape& s, const RotaryTensors& t, const Workers& workers) {
  const int64_t half = s.rotated / 2, grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, s.size));
  const auto rotate = s.interleaved ? RotarySimd().neighbours : RotarySimd().halves;
  workers.ParallelFor(s.batch * s.heads * s.length, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t b = s.shared ? 0 : row / (s.heads * s.length),
                    i = s.packed ? row / s.heads % s.length : row % s.length;
      int64_t at = b * s.length + i;
      if (t.positions) at = t.positions[at];
      if (t.short_positions) at = t.short_positions[at];
      const float* from = t.x + row * s.size;
      float* to = t.y + row * s.size;
      rotate(from, t.cosines + at * half, t.sines + at * half, to, half);
      std::copy(from + s.rotated, from + s.size, to + s.rotated);
    }
  });
}

}  // namespace tern::cpu
