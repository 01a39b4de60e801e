// How kernels cut work and memory into pieces. Not for *_simd.cc files: see simd/simd.h.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tern::cpu {

// Rounded up.
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// Whole cache lines of floats, and of bytes.
inline int64_t Rounded(int64_t floats) { return RoundUp(floats, 16); }
inline size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Rows so many floats apart meet in few sets of the first cache: in those of every `bytes` bytes.
inline bool Collide(int64_t row, int64_t bytes = 2048) { return row * 4 % bytes == 0; }

// Whole cache lines for a row of so many floats; such rows do not collide.
inline int64_t Spaced(int64_t row) {
  const int64_t lines = Rounded(row);
  return Collide(lines) ? lines + 16 : lines;
}

// Floats from position to position and from tile to tile of transformed tiles, [tile][position][floats]. Rows
// of one position, a tile apart, do not meet in the same sets of the first cache: positions are odd numbers
// of lines, tiles five lines more than a multiple of its 64 sets.
inline int64_t PositionStep(int64_t floats) { return (CeilDiv(floats, 16) | 1) * 16; }
inline int64_t TileStep(int64_t position_step, int64_t positions) {
  return (RoundUp(position_step / 16 * positions - 5, 64) + 5) * 16;
}

// The size of even parts of at most `most`, a multiple of `unit`; the last may be smaller.
inline int64_t PartOf(int64_t size, int64_t most, int64_t unit) {
  const int64_t parts = std::max<int64_t>(1, CeilDiv(size, most));
  return std::max<int64_t>(unit, RoundUp(CeilDiv(size, parts), unit));
}

// So many elements as few pieces of at most `most`, which differ by one element at most: the larger ones
// come first.
class EvenCut {
 public:
  EvenCut(int64_t count, int64_t most)
      : pieces_(CeilDiv(count, most)),
        size_(pieces_ > 0 ? count / pieces_ : 0),
        larger_(pieces_ > 0 ? count % pieces_ : 0) {}
  int64_t pieces() const { return pieces_; }
  int64_t Size(int64_t piece) const { return size_ + (piece < larger_); }
  int64_t Start(int64_t piece) const { return piece * size_ + std::min(piece, larger_); }

 private:
  int64_t pieces_, size_, larger_;
};

}  // namespace tern::cpu
