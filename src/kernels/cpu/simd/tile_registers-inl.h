// The tile registers of AMX, for *_amx_simd.cc files. TileRegisters are those of the processor; EmulatedTiles
// are in memory. Both have the same functions, so that loops over tiles are templates of either.
#pragma once
#include <immintrin.h>

#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// A tile has up to 16 rows of up to 64 bytes.
constexpr int kTileRows = 16, kTileBytes = 64, kTileDwords = 16;
constexpr int kTiles = 8;
// The roles of the registers: tiles 0 to 3 are sums, 4 and 5 are parts of a, 6 and 7 are parts of b.
constexpr int kFirstA = 4, kFirstB = 6;

// The sizes of tiles for `rows` rows of a, 1 to 32, and `depth` dwords of k per step, 1 to 16. If there are
// at most 16 rows, tiles 0 to 5 all have `rows` rows. If there are more, tiles 0, 1 and 4 have the first 16
// rows, and tiles 2, 3 and 5 have the remaining ones. Tiles 6 and 7 have `depth` rows.
struct TileShape {
  int rows, depth;

  uint32_t key() const { return static_cast<uint32_t>(rows << 8 | depth); }
  int RowsOf(int tile) const {
    if (tile >= kFirstB) return depth;
    if (rows <= kTileRows) return rows;
    return tile == 2 || tile == 3 || tile == 5 ? rows - kTileRows : kTileRows;
  }
  int BytesOf(int tile) const { return tile == kFirstA || tile == kFirstA + 1 ? 4 * depth : kTileBytes; }
};

// The instructions are in assembler, because the intrinsics of GCC 12 do not tell the compiler that they read
// memory.
class TileRegisters {
 public:
  explicit TileRegisters(const TileShape& shape) : thread_(ThisTileThread()) {
    if (thread_.shape == shape.key()) return;
    Configure(shape);
    thread_.shape = shape.key();
    thread_.release = Release;
  }
  TileRegisters(const TileRegisters&) = delete;
  ~TileRegisters() {
    if (thread_.scopes > 0) return;
    Release();
    thread_.shape = 0;
  }

  template <int T> void Zero() { asm volatile("tilezero %%tmm%c0" ::"i"(T)); }
  // Loads rows that are `stride` bytes apart.
  template <int T> void Load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(T) : "memory");
  }
  template <int T> void Store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(T) : "memory");
  }
  // C += A·B with rows of u8 in A and dwords of i8 in B.
  template <int C, int A, int B> void DotBytes() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
  // The same for pairs of bf16, with sums in f32.
  template <int C, int A, int B> void DotBf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }

 private:
  static void Configure(const TileShape& shape) {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    static_assert(sizeof config == 64);
    for (int i = 0; i < kTiles; ++i) {
      config.bytes[i] = static_cast<uint16_t>(shape.BytesOf(i));
      config.rows[i] = static_cast<uint8_t>(shape.RowsOf(i));
    }
    asm volatile("ldtilecfg %0" ::"m"(config));
  }
  static void Release() { asm volatile("tilerelease"); }

  TileThread& thread_;
};

class EmulatedTiles {
 public:
  explicit EmulatedTiles(const TileShape& shape) : shape_(shape) {}

  template <int T> void Zero() { __builtin_memset(tiles_[T], 0, sizeof tiles_[T]); }
  template <int T> void Load(const void* from, int64_t stride) {
    Zero<T>();
    for (int i = 0; i < shape_.RowsOf(T); ++i)
      __builtin_memcpy(tiles_[T][i], static_cast<const char*>(from) + i * stride, Bytes(T));
  }
  template <int T> void Store(void* to, int64_t stride) {
    for (int i = 0; i < shape_.RowsOf(T); ++i)
      __builtin_memcpy(static_cast<char*>(to) + i * stride, tiles_[T][i], Bytes(T));
  }
  template <int C, int A, int B> void DotBytes() {
    EachDot<C, A, B>([](uint32_t sum, uint32_t a, uint32_t b) {
      for (int byte = 0; byte < 32; byte += 8)
        sum += (a >> byte & 255) * static_cast<uint32_t>(static_cast<int8_t>(b >> byte));
      return sum;
    });
  }
  template <int C, int A, int B> void DotBf16() {
    EachDot<C, A, B>([](uint32_t sum, uint32_t a, uint32_t b) {
      float v = FloatOf(sum);
      v = __builtin_fmaf(FloatOf(a << 16), FloatOf(b << 16), v);
      v = __builtin_fmaf(FloatOf(a & 0xffff0000u), FloatOf(b & 0xffff0000u), v);
      return BitsOf(v);
    });
  }

 private:
  uint64_t Bytes(int tile) const { return static_cast<uint64_t>(shape_.BytesOf(tile)); }
  template <int C, int A, int B, class F> void EachDot(const F& f) {
    // The processor raises an exception as well.
    if (shape_.RowsOf(C) != shape_.RowsOf(A) || shape_.BytesOf(A) != 4 * shape_.RowsOf(B)) __builtin_trap();
    for (int i = 0; i < shape_.RowsOf(C); ++i)
      for (int k = 0; k < shape_.depth; ++k)
        for (int j = 0; j < kTileDwords; ++j)
          tiles_[C][i][j] = f(tiles_[C][i][j], tiles_[A][i][k], tiles_[B][k][j]);
  }

  const TileShape shape_;
  uint32_t tiles_[kTiles][kTileRows][kTileDwords] = {};
};

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
