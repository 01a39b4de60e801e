// Arithmetic for blocking, such as rounding, row strides that avoid cache conflicts, and even splits.
// *_simd.cc files must not include this header, see simd/simd.h.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tern::cpu {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// LineAligned rounds a number of floats up to full cache lines. Aligned does the same for a number of bytes.
inline int64_t LineAligned(int64_t floats) { return RoundUp(floats, 16); }
inline size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Returns whether rows with a stride of `row` floats collide in the L1 cache. They collide if the stride is a
// multiple of `bytes`, because such rows map to few cache sets.
inline bool Collide(int64_t row, int64_t bytes = 2048) { return row * 4 % bytes == 0; }

// Returns a stride for rows of this number of floats. It is a multiple of cache lines, and rows do not
// collide.
inline int64_t PaddedRow(int64_t row) {
  const int64_t lines = LineAligned(row);
  return Collide(lines) ? lines + 16 : lines;
}

// Strides, in floats, of transformed tiles [tile][position][floats]. Rows of the same position in
// neighbouring tiles should not share sets of the L1 cache. The L1 cache has 64 sets. Therefore the stride of
// positions is an odd number of cache lines, and the stride of tiles is a multiple of 64 lines plus 5 lines.
inline int64_t PositionStep(int64_t floats) { return (CeilDiv(floats, 16) | 1) * 16; }
inline int64_t TileStep(int64_t position_step, int64_t positions) {
  return (RoundUp(position_step / 16 * positions - 5, 64) + 5) * 16;
}

// Splits `size` into the fewest parts of at most `max_part`, and makes the parts equal. Returns the size of a
// part, rounded up to a multiple of `unit`. The result can exceed max_part if max_part is not a multiple of
// `unit`. The last part may be smaller.
inline int64_t EvenPartSize(int64_t size, int64_t max_part, int64_t unit) {
  const int64_t parts = std::max<int64_t>(1, CeilDiv(size, max_part));
  return std::max<int64_t>(unit, RoundUp(CeilDiv(size, parts), unit));
}

// Splits `count` elements into the fewest parts of at most `max_part` elements. Sizes differ by at most one.
// Larger parts come first.
class EvenSplit {
 public:
  EvenSplit(int64_t count, int64_t max_part)
      : parts_(CeilDiv(count, max_part)),
        size_(parts_ > 0 ? count / parts_ : 0),
        larger_(parts_ > 0 ? count % parts_ : 0) {}
  int64_t parts() const { return parts_; }
  int64_t Size(int64_t part) const { return size_ + (part < larger_); }
  int64_t Start(int64_t part) const { return part * size_ + std::min(part, larger_); }

 private:
  int64_t parts_, size_, larger_;
};

}  // namespace tern::cpu
