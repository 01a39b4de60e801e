#include "kernels/cpu/quant/integer.h"

#include <cmath>

#include "kernels/cpu/quant/quant_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384, kTile = 512, kMaxChunk = int64_t{1} << 23;

const char* At(const void* bytes, int64_t i) { return static_cast<const char*>(bytes) + i; }
char* At(void* bytes, int64_t i) { return static_cast<char*>(bytes) + i; }

// Converts elements to float. If step is 0, one element is repeated n times.
void Widen(const ByteOperand& x, int64_t at, int64_t step, float zero, float* y, int64_t n) {
  QuantSimd().dequantize(x.type, At(x.data, at), zero, 1, y, step ? n : 1);
  if (!step) std::fill(y + 1, y + n, y[0]);
}

// Calls f(tile of a, tile of b, to, n) for every tile of the result. The tile is elements [to, to + n) of the
// result.
template <class F>
void EachTile(const Broadcast<2>& plan, const ByteOperand& a, const ByteOperand& b, float a_zero,
              float b_zero, const Workers& workers, const F& f) {
  const auto step = plan.steps[static_cast<size_t>(plan.rank - 1)];
  workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
    float p[kTile], q[kTile];
    EachRow<2>(plan, begin, end, [&](const std::array<int64_t, 2>& at, int64_t to, int64_t n) {
      for (int64_t i = 0; i < n; i += kTile) {
        const int64_t part = std::min(kTile, n - i);
        Widen(a, at[0] + i * step[0], step[0], a_zero, p, part);
        Widen(b, at[1] + i * step[1], step[1], b_zero, q, part);
        f(p, q, to + i, part);
      }
    });
  });
}

// Calls f(a, b, to, n) for every row of elements [to, to + n) of the result, if the operands of all rows are
// contiguous. Otherwise returns false.
template <class F>
bool EachContiguousRow(const Broadcast<2>& plan, const ByteOperand& a, const ByteOperand& b,
                       const Workers& workers, const F& f) {
  const auto step = plan.steps[static_cast<size_t>(plan.rank - 1)];
  if (step[0] != 1 || step[1] != 1) return false;
  workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
    EachRow<2>(plan, begin, end, [&](const std::array<int64_t, 2>& at, int64_t to, int64_t n) {
      f(ByteElements{a.type, At(a.data, at[0])}, ByteElements{b.type, At(b.data, at[1])}, to, n);
    });
  });
  return true;
}

// Returns whether the kernels for 8-bit elements support this ratio.
bool Small(float ratio) { return std::abs(ratio) < kMaxByteRatio; }

}  // namespace

void RescaleChannels(const ChannelShape& s, const ByteRange& to, const float* sums, const int32_t* bias,
                     const float* multipliers, void* y, const Workers& workers) {
  if (s.inner == 1) {
    workers.ParallelFor(s.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.channels)),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i)
                            IntegerSimd().rescale_each(to, sums + i * s.channels, bias, multipliers,
                                                       At(y, i * s.channels), s.channels);
                        });
    return;
  }
  workers.ParallelFor(s.outer * s.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.inner)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const int64_t c = i % s.channels;
                          IntegerSimd().rescale(to, sums + i * s.inner, bias[c], multipliers[c],
                                                At(y, i * s.inner), s.inner);
                        }
                      });
}

void ByteSum(const Broadcast<2>& plan, const ByteOperand& a, const ByteOperand& b, float offset,
             const ByteRange& to, void* y, const Workers& workers) {
  const auto row = [&](const ByteElements& p, const ByteElements& q, int64_t at, int64_t n) {
    IntegerSimd().sum_bytes(to, p, a.ratio, q, b.ratio, offset, At(y, at), n);
  };
  if (Small(a.ratio) && Small(b.ratio) && Small(offset) && EachContiguousRow(plan, a, b, workers, row))
    return;
  EachTile(plan, a, b, 0, 0, workers, [&](const float* p, const float* q, int64_t at, int64_t n) {
    IntegerSimd().sum(to, p, a.ratio, q, b.ratio, offset, At(y, at), n);
  });
}

void ByteProduct(const Broadcast<2>& plan, const ByteOperand& a, const ByteOperand& b, float multiplier,
                 const ByteRange& to, void* y, const Workers& workers) {
  const auto row = [&](const ByteElements& p, const ByteElements& q, int64_t at, int64_t n) {
    IntegerSimd().product_bytes(to, p, a.zero, q, b.zero, multiplier, At(y, at), n);
  };
  if (Small(multiplier) && EachContiguousRow(plan, a, b, workers, row)) return;
  EachTile(plan, a, b, a.zero, b.zero, workers, [&](const float* p, const float* q, int64_t at, int64_t n) {
    IntegerSimd().product(to, p, q, multiplier, At(y, at), n);
  });
}

void ByteMeans(const ByteOperand& x, int64_t rows, int64_t n, float multiplier, const ByteRange& to, void* y,
               const Workers& workers) {
  workers.ParallelFor(
      rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t total = -static_cast<int64_t>(x.zero) * n;
          for (int64_t i = 0; i < n; i += kMaxChunk)
            total += IntegerSimd().total(x.type, At(x.data, row * n + i), std::min(kMaxChunk, n - i));
          const auto sum = static_cast<float>(total);
          IntegerSimd().rescale(to, &sum, 0, multiplier, At(y, row), 1);
        }
      });
}

}  // namespace tern::cpu
