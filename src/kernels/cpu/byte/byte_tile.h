// The micro-kernel of 8-bit products and convolutions. It multiplies a few rows of u8 by a packed panel of
// i8. With VNNI, the rows are read in place. Without it, rows and weights are widened to 16 bits before.
// Sums are i32 and exact.
#pragma once
#include "kernels/cpu/byte/byte_epilogue.h"
#include "kernels/cpu/simd/vnni.h"

namespace tern::cpu {

constexpr int kMaxByteRows = 32;  // maximum rows of a tile in any instruction set

// Describes c[rows, columns] = epilogue(a·b). A dword is four bytes that are neighbours along k: four u8 or
// two u16. It may start at any address.
struct ByteTile {
  const uint8_t* a = nullptr;
  int64_t a_row = 0;          // row stride in bytes
  const int8_t* b = nullptr;  // a panel: segments * k dwords of every column
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

// run[r] computes a tile of r rows.
struct ByteTileRuns {
  void (*run[kMaxByteRows + 1])(const ByteTile& tile);
};

struct ByteTileTable {
  int rows, columns;  // size of the largest tile
  int granule;        // a tile computes ByteTile::columns rounded up to a multiple of this
  int row_granule;    // a tile takes as long as one whose rows are rounded up to a multiple of this
  // Bytes of an element of a. If it is 2, the rows of a are copied as u16, and weights are packed as i16.
  int element_bytes;
  double dot_cost;  // the time of a dot product of one dword, relative to a multiply-add of f32
  double overhead;  // the time of a tile apart from its products, in dwords of k
  // run[r] computes a tile of r rows, 1 <= r <= rows.
  void (*run[kMaxByteRows + 1])(const ByteTile& tile);

  int64_t Dwords(int64_t elements) const { return (elements * element_bytes + 3) / 4; }
  // A panel is [dwords][columns][4 bytes].
  int64_t PanelBytes(int64_t dwords) const { return 4 * dwords * columns; }
  // Stores the weight of element `k` of a row of a.
  void StoreWeight(int8_t* panel, int64_t k, int64_t column, int weight) const {
    if (element_bytes == 1)
      panel[(k / 4 * columns + column) * 4 + k % 4] = static_cast<int8_t>(weight);
    else
      reinterpret_cast<int16_t*>(panel)[(k / 2 * columns + column) * 2 + k % 2] =
          static_cast<int16_t>(weight);
  }

  // Computes `count` rows, split into tiles of about the same height.
  void RunRows(ByteTile tile, int64_t count) const;
  // Estimates the time of a product, in multiply-adds of f32 (TileProducts in gemm/tile_products.h).
  double Products(int64_t m, int64_t n, int64_t dwords) const;
};
TERN_VNNI_TABLE(ByteTileTable, ByteTileVectors)
// Returns the table of the active instruction set: that of AMX, or ByteTileVectors(). Both have the same
// panels.
const ByteTileTable& ByteTileSimd();
namespace avx512_amx {
extern const ByteTileRuns kByteTileAmx, kByteTileEmulated;  // x86-64 only
}

// Returns the bytes of an element of the result.
inline int64_t OutputWidth(const ByteEpilogue& e) { return e.output == ByteOutput::kBytes ? 1 : 4; }
// Returns the residual, or null, and the bytes of its elements, which are those of the result.
inline const void* ResidualOf(const ByteEpilogue& e) {
  if (e.output == ByteOutput::kF32) return e.f32_residual;
  return e.output == ByteOutput::kBytes && e.residual_mode != ByteResidual::kNone ? e.residual : nullptr;
}

}  // namespace tern::cpu
