// The inner loop of products in tile registers, for *_amx_simd.cc files. It computes up to 32 rows and 32
// columns of sums: four tiles, from two tiles of a and two tiles of b per step of up to 16 dwords of k.
#pragma once
#include "kernels/cpu/simd/tile_registers-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kBlockRows = 2 * kTileRows, kBlockColumns = 2 * kTileDwords;
constexpr int64_t kPanelRow = kBlockColumns * 4;  // bytes of a panel per dword of k
// The panel is prefetched into the L1 cache this many steps ahead. Tiles are loaded too late to hide the
// latency of the L2 cache.
constexpr int64_t kPrefetchSteps = 2;

// The operands of a block, as in Tile and ByteTile. Strides and offsets are in bytes.
struct TileOperands {
  const char* a;
  int64_t a_row;
  const char* b;  // [segments * k][kBlockColumns] dwords
  int64_t k;      // dwords per segment
  int64_t segments;
  const int64_t* starts;  // in units of start_bytes, or null
  int64_t start_bytes;
  const char* prefetch;
  int64_t prefetch_step;  // bytes per dword of k
};

// Returns the number of dwords per step. If the smallest possible number of steps divides k, all steps have
// the same depth, which is returned. Otherwise returns 16, and the last step has fewer dwords.
inline int DepthOf(int64_t k) {
  const int64_t steps = (k + kTileDwords - 1) / kTileDwords, even = steps ? k / steps : 1;
  return even * steps == k ? static_cast<int>(MaxOf<int64_t>(1, even)) : kTileDwords;
}

// The dwords of k behind the last full step, filled up with zeros. The rest of a tile is never read from the
// operands, because memory behind them may not exist, and NaN times zero is NaN.
struct alignas(64) TileTail {
  uint32_t a[kBlockRows][kTileDwords], b[kTileDwords][kBlockColumns];

  [[gnu::noinline]] void Copy(const char* from_a, int64_t a_row, int rows, const char* from_b,
                              int64_t count) {
    const auto mask = static_cast<__mmask16>((1u << count) - 1);
    for (int i = 0; i < rows; ++i)
      _mm512_store_si512(a[i], _mm512_maskz_loadu_epi32(mask, from_a + i * a_row));
    const auto size = static_cast<uint64_t>(count) * kPanelRow;
    __builtin_memcpy(b, from_b, size);
    __builtin_memset(reinterpret_cast<char*>(b) + size, 0, sizeof b - size);
  }
};

// Sums of R x C tiles. If there are free registers, each sum has P tiles. Consecutive steps add to different
// tiles, so that a product need not wait for the previous one.
template <class Tiles, class Dot, int R, int C, int P> struct TileBlock {
  static_assert(R * C * P <= 4 && (R == 1 || P == 1));
  // The rows of tiles 2 and 3 are those of the second tile of a, see TileShape.
  static constexpr int Sum(int row, int column, int part) {
    return R == 2 ? 2 * row + column : column * P + part;
  }
  static constexpr int A(int row, int part) { return kFirstA + (R == 2 ? row : part % 2); }
  static constexpr int B(int column, int part) { return kFirstB + (C == 2 ? column : part % 2); }

  // Multiplies one step.
  template <int kPart>
  static void Step(Tiles& tiles, const char* a, int64_t a_row, const char* b, int64_t b_row) {
    tiles.template Load<B(0, kPart)>(b, b_row);
    tiles.template Load<A(0, kPart)>(a, a_row);
    Dot::template Add<Sum(0, 0, kPart), A(0, kPart), B(0, kPart)>(tiles);
    if constexpr (C == 2) {
      tiles.template Load<B(1, kPart)>(b + kTileBytes, b_row);
      Dot::template Add<Sum(0, 1, kPart), A(0, kPart), B(1, kPart)>(tiles);
    }
    if constexpr (R == 2) {
      tiles.template Load<A(1, kPart)>(a + kTileRows * a_row, a_row);
      Dot::template Add<Sum(1, 0, kPart), A(1, kPart), B(0, kPart)>(tiles);
      if constexpr (C == 2) Dot::template Add<Sum(1, 1, kPart), A(1, kPart), B(1, kPart)>(tiles);
    }
  }

  // Multiplies `steps` steps of `depth` dwords.
  static void Steps(Tiles& tiles, const TileOperands& t, const char* a, const char* b, int64_t steps,
                    int depth, const char*& prefetch) {
    const int64_t a_row = t.a_row, a_step = 4 * depth, b_step = kPanelRow * depth,
                  prefetch_bytes = t.prefetch_step * depth;
    const char* next = prefetch;
    const auto fetch = [&] {
      for (int64_t i = 0; i < prefetch_bytes; i += 64) __builtin_prefetch(next + i, 0, 2);
      next += prefetch_bytes;
    };
    for (; steps > 0; --steps) {
      fetch();
      for (int64_t i = 0; R == 2 && i < b_step; i += 64) __builtin_prefetch(b + kPrefetchSteps * b_step + i);
      Step<0>(tiles, a, a_row, b, kPanelRow);
      a += a_step, b += b_step;
      if constexpr (P > 1) {
        if (--steps == 0) break;
        fetch();
        Step<1>(tiles, a, a_row, b, kPanelRow);
        a += a_step, b += b_step;
      }
    }
    prefetch = next;
  }

  static void Multiply(Tiles& tiles, const TileOperands& t, int rows, int depth) {
    const int64_t steps = t.k / depth, rest = t.k - steps * depth, panel = t.k * kPanelRow;
    const char *b = t.b, *prefetch = t.prefetch ? t.prefetch : t.b;
    for (int64_t segment = 0; segment < t.segments; ++segment, b += panel) {
      const char* a = t.starts ? t.a + t.starts[segment] * t.start_bytes : t.a;
      Steps(tiles, t, a, b, steps, depth, prefetch);
      if (rest == 0) continue;
      TileTail tail;
      tail.Copy(a + 4 * steps * depth, t.a_row, rows, b + kPanelRow * steps * depth, rest);
      Step<0>(tiles, reinterpret_cast<const char*>(tail.a), sizeof tail.a[0],
              reinterpret_cast<const char*>(tail.b), kPanelRow);
    }
  }

  // Sets the sums to zero, or to the dwords of `start` in each row. `start` has 32 dwords or is null.
  static void Start(Tiles& tiles, const void* start) {
    EachSum([&]<int kRow, int kColumn, int kPart>() {
      if (start && kPart == 0)
        tiles.template Load<Sum(kRow, kColumn, kPart)>(static_cast<const char*>(start) + kColumn * kTileBytes,
                                                       0);
      else
        tiles.template Zero<Sum(kRow, kColumn, kPart)>();
    });
  }

  // Stores the sums, [kBlockRows][kBlockColumns]. `other` has the same size.
  template <class T> static void Store(Tiles& tiles, int rows, T* sums, T* other) {
    EachSum([&]<int kRow, int kColumn, int kPart>() {
      T* to = (kPart ? other : sums) + kRow * kTileRows * kBlockColumns + kColumn * kTileDwords;
      tiles.template Store<Sum(kRow, kColumn, kPart)>(to, kPanelRow);
    });
    if constexpr (P > 1)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < C * kTileDwords; j += kLanes<T>)
          StoreVector(sums + i * kBlockColumns + j,
                      LoadVector(sums + i * kBlockColumns + j) + LoadVector(other + i * kBlockColumns + j));
  }

 private:
  template <class F> static void EachSum(const F& f) {
    EachPart<0, 0>(f);
    if constexpr (C == 2) EachPart<0, 1>(f);
    if constexpr (R == 2) EachPart<1, 0>(f);
    if constexpr (R == 2 && C == 2) EachPart<1, 1>(f);
  }
  template <int kRow, int kColumn, class F> static void EachPart(const F& f) {
    f.template operator()<kRow, kColumn, 0>();
    if constexpr (P > 1) f.template operator()<kRow, kColumn, 1>();
  }
};

// Memory of the sums of a block.
template <class T> struct alignas(64) BlockSums {
  T sums[kBlockRows * kBlockColumns], other[kTileRows * kBlockColumns];
};

// Computes the sums of `rows` rows and `columns` columns. `parts` is whether the order of additions may
// depend on rows and columns.
template <class Tiles, class Dot, class T>
void MultiplyBlock(const TileOperands& t, int rows, int64_t columns, bool parts, const void* start,
                   BlockSums<T>& to) {
  const TileShape shape{rows, DepthOf(t.k)};
  Tiles tiles(shape);
  const auto run = [&]<int R, int C, int P>() {
    using Block = TileBlock<Tiles, Dot, R, C, P>;
    Block::Start(tiles, start);
    Block::Multiply(tiles, t, rows, shape.depth);
    Block::Store(tiles, rows, to.sums, to.other);
  };
  const bool two_rows = rows > kTileRows, two_columns = columns > kTileDwords;
  if (two_rows && two_columns) return run.template operator()<2, 2, 1>();
  if (two_rows) return run.template operator()<2, 1, 1>();
  if (parts) return two_columns ? run.template operator()<1, 2, 2>() : run.template operator()<1, 1, 2>();
  two_columns ? run.template operator()<1, 2, 1>() : run.template operator()<1, 1, 1>();
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
