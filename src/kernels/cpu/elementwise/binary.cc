#include "kernels/cpu/elementwise/binary_rows_simd.h"
#include "kernels/cpu/elementwise/elementwise.h"
#include "kernels/cpu/elementwise/source.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384;

void Row(BinaryKind kind, DType type, Source& a, Source& b, char* y, int64_t n, int64_t chunk) {
  const bool half = IsHalfPrecision(type), test = IsComparison(kind);
  const DType compute = half ? DType::kF32 : type;
  const int width = test ? 1 : WidthOf(type);
  float tile[kTile];
  for (int64_t i = 0; i < n; i += chunk) {
    const int64_t count = std::min(chunk, n - i);
    char* to = y + i * width;
    if (!half || test) {
      BinarySimd().run(kind, compute, a.At(i, count), b.At(i, count), to, count);
    } else {
      BinarySimd().run(kind, compute, a.At(i, count), b.At(i, count), tile, count);
      RoundToHalf(type, tile, reinterpret_cast<uint16_t*>(to), count);
    }
  }
}

// Computes add, sub, mul or div of f32. One call of the inner loop computes several rows, which follow
// each other along the second-last axis of `plan`.
void Planes(BinaryKind kind, const Broadcast<2>& plan, const float* a, const float* b, float* y,
            const Workers& workers) {
  const auto last = static_cast<size_t>(plan.rank - 1);
  const auto operand = [&](size_t i, const float* data, int64_t row) {
    return PlaneOperand{data, row, plan.steps[last][i] != 0};
  };
  if (plan.rank == 1)
    return workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
      BinaryRowsSimd().run(kind, operand(0, a + begin * plan.steps[0][0], 0),
                           operand(1, b + begin * plan.steps[0][1], 0), y + begin, 1, end - begin);
    });
  const int64_t n = plan.dims[last], rows = plan.dims[last - 1], count = n ? plan.count / n : 0;
  const auto& step = plan.steps[last - 1];
  workers.ParallelFor(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)),
                      [&](int64_t begin, int64_t end) {
                        while (begin < end) {
                          const int64_t row = begin % rows, row_count = std::min(end - begin, rows - row);
                          int64_t outer = begin / rows, at_a = row * step[0], at_b = row * step[1];
                          for (size_t axis = last - 1; axis-- > 0; outer /= plan.dims[axis]) {
                            at_a += outer % plan.dims[axis] * plan.steps[axis][0];
                            at_b += outer % plan.dims[axis] * plan.steps[axis][1];
                          }
                          BinaryRowsSimd().run(kind, operand(0, a + at_a, step[0]),
                                               operand(1, b + at_b, step[1]), y + begin * n, row_count, n);
                          begin += row_count;
                        }
                      });
}

}  // namespace

bool HasBinary(BinaryKind kind, DType type) {
  if (IsHalfPrecision(type) || type == DType::kF32 || type == DType::kF64)
    return kind <= BinaryKind::kMax || kind >= BinaryKind::kEqual;
  if (type == DType::kBool) return kind >= BinaryKind::kAnd && kind <= BinaryKind::kEqual;
  return IsInt(type) && BitWidth(type) >= 8;
}

void Binary(BinaryKind kind, DType type, const Broadcast<2>& plan, const void* a, const void* b, void* y,
            const Workers& workers) {
  if (type == DType::kF32 && kind <= BinaryKind::kDiv)
    return Planes(kind, plan, static_cast<const float*>(a), static_cast<const float*>(b),
                  static_cast<float*>(y), workers);
  const int width = IsComparison(kind) ? 1 : WidthOf(type);
  const auto& step = plan.steps[static_cast<size_t>(plan.rank - 1)];
  const bool tiled = !step[0] || !step[1] || IsHalfPrecision(type);
  workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
    EachRow<2>(plan, begin, end, [&](const std::array<int64_t, 2>& at, int64_t to, int64_t n) {
      Source p(type, a, at[0], step[0] != 0, n), q(type, b, at[1], step[1] != 0, n);
      Row(kind, type, p, q, static_cast<char*>(y) + to * width, n, tiled ? kTile : n);
    });
  });
}

}  // namespace tern::cpu
