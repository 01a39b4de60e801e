#include "kernels/cpu/quant/bytes_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/cpu/byte/byte_pool.h"
#include "kernels/cpu/quant/quant.h"

namespace tern::cpu {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F> void Print(const char* name, int64_t bytes, int rounds, const F& run) {
  double best = 1e9;
  for (int i = 0; i < 20 * rounds; ++i) {
    const double from = Now();
    run();
    best = std::min(best, Now() - from);
  }
  std::printf("%-24s\t%8.1f us\t%6.1f GB/s\n", name, best * 1e6, static_cast<double>(bytes) / best / 1e9);
}

}  // namespace

void PrintBytes(int threads, int rounds) {
  constexpr int64_t kSide = 56, kChannels = 64, kCount = kSide * kSide * kChannels;  // 200 704 elements
  const Workers workers(threads);
  std::vector<uint8_t> a(kCount, 3), b(kCount, 5), y(kCount);
  std::vector<float> f(kCount, 0.25f);
  const float scale = 0.1f;
  const uint8_t zero = 7;
  QuantShape shape;
  shape.inner = kCount;
  const Dims dims = {kCount};
  const Broadcast<2> plan = MakeBroadcast<2>(dims, {dims, dims});
  const ByteOperand p{DType::kU8, a.data(), 1, 0.5f}, q{DType::kU8, b.data(), 2, 0.25f};
  const ByteRange to;
  Print("memcpy", 2 * kCount, rounds, [&] { std::memcpy(y.data(), a.data(), kCount); });
  Print("f32 to u8", 5 * kCount, rounds,
        [&] { QuantizeF32(shape, DType::kU8, f.data(), &scale, &zero, y.data(), workers); });
  Print("u8 to f32", 5 * kCount, rounds,
        [&] { DequantizeF32(shape, DType::kU8, a.data(), &scale, &zero, f.data(), workers); });
  Print("u8 + u8", 3 * kCount, rounds, [&] { ByteSum(plan, p, q, 1.5f, to, y.data(), workers); });
  Print("u8 * u8", 3 * kCount, rounds, [&] { ByteProduct(plan, p, q, 0.1f, to, y.data(), workers); });
  Print("mean of all pixels", kCount, rounds, [&] {
    NhwcByteMeans(p, 1, kSide * kSide, kChannels, 0.1f / (kSide * kSide), to, y.data(), workers);
  });
  ConvShape s;
  s.channels = s.maps = s.group = kChannels;
  s.input = {1, kSide, kSide}, s.kernel = {1, 3, 3}, s.stride = {1, 2, 2}, s.begin = {0, 1, 1};
  s.output = {1, kSide / 2, kSide / 2};
  Print("max of 3x3, stride 2", kCount + kCount / 4, rounds,
        [&] { NhwcByteMaxPool(s, DType::kU8, a.data(), y.data(), workers); });
}

}  // namespace tern::cpu
