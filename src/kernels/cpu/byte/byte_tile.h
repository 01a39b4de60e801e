// The micro-kernel of 8-bit products and convolutions. It multiplies a few rows of u8, which are read in
// place, by a packed panel of i8. Sums are i32 and exact.
#pragma once
#include "kernels/cpu/byte/byte_epilogue.h"
#include "kernels/cpu/simd/vnni.h"

namespace tern::cpu {

constexpr int kMaxByteRows = 14;  // maximum rows of a tile in any instruction set

// Describes c[rows, columns] = epilogue(a·b). A dword is four bytes that are neighbours along k. It may start
// at any address.
struct ByteTile {
  const uint8_t* a = nullptr;
  int64_t a_row = 0;          // row stride in bytes
  const int8_t* b = nullptr;  // a panel: [segments * k][table.columns][4]
  int64_t k = 0;              // dwords per segment
  // Data to prefetch into the L2 cache, or null. The loop prefetches `prefetch_step` bytes per dword of k.
  const int8_t* prefetch = nullptr;
  int64_t prefetch_step = 0;
  // A row of a may consist of several segments, as a window over an image does. Segment i starts at
  // a + starts[i].
  int64_t segments = 1;
  const int64_t* starts = nullptr;  // null means one segment at offset 0
  void* c = nullptr;
  int64_t c_row = 0;    // in elements
  int64_t columns = 0;  // 1 … table.columns
  const ByteEpilogue* epilogue = nullptr;
  int64_t column = 0;              // index of the first column in bias, scale and f32_bias of the epilogue
  const void* residual = nullptr;  // the residual of the first element of c
  bool rounds = false;             // RoundsInRegisters
  ByteSaturation to;               // SaturationOf(epilogue->to)

  void SetEpilogue(const ByteEpilogue& e, bool rounds_in_registers) {
    epilogue = &e, rounds = rounds_in_registers;
    if (rounds) to = SaturationOf(e.to);
  }
};

struct ByteTileTable {
  int rows, columns;  // size of the largest tile
  int granule;        // a tile computes Tile::columns rounded up to a multiple of this
  // run[r] computes a tile of r rows, 1 <= r <= rows.
  void (*run[kMaxByteRows + 1])(const ByteTile& tile);

  // Computes `count` rows, split into tiles of about the same height.
  void RunRows(ByteTile tile, int64_t count) const;
};
TERN_VNNI_TABLE(ByteTileTable, ByteTileSimd)

// Returns the bytes of an element of the result.
inline int64_t OutputWidth(const ByteEpilogue& e) { return e.output == ByteOutput::kBytes ? 1 : 4; }
// Returns the residual, or null, and the bytes of its elements, which are those of the result.
inline const void* ResidualOf(const ByteEpilogue& e) {
  if (e.output == ByteOutput::kF32) return e.f32_residual;
  return e.output == ByteOutput::kBytes && e.residual_mode != ByteResidual::kNone ? e.residual : nullptr;
}

}  // namespace tern::cpu
