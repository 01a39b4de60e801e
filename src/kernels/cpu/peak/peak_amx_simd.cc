#include "kernels/cpu/peak/peak_amx_simd.h"

#include "kernels/cpu/simd/tile_registers-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kSums = 4;

template <bool kBytes> int32_t Rounds(int64_t rounds) {
  alignas(64) int32_t data[kTileRows * kTileDwords];
  for (int i = 0; i < kTileRows * kTileDwords; ++i) data[i] = kBytes ? 0x01020304 : 0x3f803f80;
  TileRegisters tiles({2 * kTileRows, kTileDwords});
  tiles.Zero<0>(), tiles.Zero<1>(), tiles.Zero<2>(), tiles.Zero<3>();
  tiles.Load<4>(data, kTileBytes), tiles.Load<5>(data, kTileBytes);
  tiles.Load<6>(data, kTileBytes), tiles.Load<7>(data, kTileBytes);
  for (int64_t i = 0; i < rounds; ++i) {
    if constexpr (kBytes)
      tiles.DotBytes<0, 4, 6>(), tiles.DotBytes<1, 4, 7>(), tiles.DotBytes<2, 5, 6>(),
          tiles.DotBytes<3, 5, 7>();
    else
      tiles.DotBf16<0, 4, 6>(), tiles.DotBf16<1, 4, 7>(), tiles.DotBf16<2, 5, 6>(), tiles.DotBf16<3, 5, 7>();
  }
  int32_t sum = 0;
  tiles.Store<0>(data, kTileBytes), sum ^= data[0];
  tiles.Store<1>(data, kTileBytes), sum ^= data[1];
  tiles.Store<2>(data, kTileBytes), sum ^= data[2];
  tiles.Store<3>(data, kTileBytes), sum ^= data[3];
  return sum;
}

constexpr int64_t kDwordProducts = int64_t{kSums} * kTileRows * kTileDwords * kTileDwords;

}  // namespace

const AmxPeakTable kAmxPeak = {Rounds<false>, Rounds<true>, 4 * kDwordProducts, 8 * kDwordProducts};

}  // namespace tern::cpu::TERN_SIMD
