#include "kernels/cpu/elementwise/eltwise.h"

#include <cstring>

#include "kernels/cpu/elementwise/elementwise.h"
#include "kernels/cpu/elementwise/eltwise_simd.h"
#include "kernels/cpu/elementwise/tiles.h"
#include "kernels/cpu/support/width.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384;

// Computes one tile of kTile elements. All operands are combined while the result is in the L1 cache. The
// tile is written after all operands have been read, because y may be an operand.
class Tile {
 public:
  Tile(const EltwisePlan& plan, const void* const* x, void* y)
      : plan_(plan),
        x_(x),
        y_(static_cast<char*>(y)),
        half_(IsHalfPrecision(plan.type)),
        width_(WidthOf(plan.type)) {}

  void Run(int64_t begin, int64_t n) {
    const void* result = Operand(0, begin, n, sum_);
    char* to = y_ + begin * width_;
    const size_t operands = plan_.operands.size();
    if (Factor(0) != 1) result = Scaled(nullptr, result, Factor(0), sum_, n);
    for (size_t i = 1; i < operands; ++i) {
      void* out = i + 1 < operands || half_ ? static_cast<void*>(sum_) : to;
      result = Joined(result, Operand(i, begin, n, next_), Factor(i), out, n);
    }
    if (half_)
      RoundToHalf(plan_.type, static_cast<const float*>(result), reinterpret_cast<uint16_t*>(to), n);
    else if (result != to)
      std::memcpy(to, result, static_cast<size_t>(n * width_));
  }

 private:
  float Factor(size_t i) const { return plan_.factors.empty() ? 1.f : plan_.factors[i]; }

  const void* Scaled(const void* sum, const void* x, float factor, void* out, int64_t n) const {
    const EltwiseTable& table = EltwiseSimd();
    (plan_.type == DType::kF64 ? table.add_scaled_f64 : table.add_scaled_f32)(sum, x, factor, out, n);
    return out;
  }

  const void* Joined(const void* sum, const void* x, float factor, void* out, int64_t n) const {
    if (factor != 1) return Scaled(sum, x, factor, out, n);
    BinarySimd().run(plan_.step, half_ ? DType::kF32 : plan_.type, sum, x, out, n);
    return out;
  }

  // Returns elements [begin, begin + n) of an operand, broadcast to y's dims, in the compute type. The
  // returned pointer points to the operand itself or to a copy in `buffer`.
  const void* Operand(size_t i, int64_t begin, int64_t n, char* buffer) {
    const Broadcast<1>& b = plan_.operands[i];
    const char* from = static_cast<const char*>(x_[i]);
    const bool along = b.plain() && b.steps[0][0] == 1;
    if (along && !half_) return from + begin * width_;
    const void* stored = along ? from + begin * width_ : Spread(b, from, begin, n, half_ ? raw_ : buffer);
    if (!half_) return stored;
    Widen(plan_.type, static_cast<const uint16_t*>(stored), reinterpret_cast<float*>(buffer), n);
    return buffer;
  }

  const void* Spread(const Broadcast<1>& b, const char* from, int64_t begin, int64_t n, char* buffer) const {
    const bool repeats = b.steps[static_cast<size_t>(b.rank - 1)][0] == 0;
    WithWidth(width_, [&](auto v) {
      using T = decltype(v);
      EachRow<1>(b, begin, begin + n, [&](const std::array<int64_t, 1>& at, int64_t to, int64_t count) {
        T* out = reinterpret_cast<T*>(buffer) + (to - begin);
        const char* source = from + at[0] * width_;
        if (!repeats) {
          std::memcpy(out, source, static_cast<size_t>(count) * sizeof(T));
          return;
        }
        T one;
        std::memcpy(&one, source, sizeof one);
        std::fill_n(out, count, one);
      });
    });
    return buffer;
  }

  const EltwisePlan& plan_;
  const void* const* x_;
  char* y_;
  bool half_;
  int width_;
  alignas(64) char sum_[kTile * 8];
  alignas(64) char next_[kTile * 8];
  alignas(64) char raw_[kTile * 2];
};

}  // namespace

bool HasEltwise(DType type) { return HasBinary(BinaryKind::kAdd, type); }

void Eltwise(const EltwisePlan& plan, const void* const* x, void* y, const Workers& workers) {
  workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
    Tile tile(plan, x, y);
    for (int64_t i = begin; i < end; i += kTile) tile.Run(i, std::min(kTile, end - i));
  });
}

}  // namespace tern::cpu
