#include "kernels/cpu/elementwise/elementwise.h"
#include "kernels/cpu/elementwise/source.h"

namespace tern::cpu {
namespace {

constexpr int64_t kGrain = 16384;

void Row(BinaryKind kind, DType type, Source& a, Source& b, char* y, int64_t n, int64_t chunk) {
  const bool narrow = IsNarrowFloat(type), test = IsComparison(kind);
  const DType compute = narrow ? DType::kF32 : type;
  const int width = test ? 1 : WidthOf(type);
  float tile[kTile];
  for (int64_t i = 0; i < n; i += chunk) {
    const int64_t count = std::min(chunk, n - i);
    char* to = y + i * width;
    if (!narrow || test) {
      BinarySimd().run(kind, compute, a.At(i, count), b.At(i, count), to, count);
    } else {
      BinarySimd().run(kind, compute, a.At(i, count), b.At(i, count), tile, count);
      Narrow(type, tile, reinterpret_cast<uint16_t*>(to), count);
    }
  }
}

}  // namespace

bool HasBinary(BinaryKind kind, DType type) {
  if (IsNarrowFloat(type) || type == DType::kF32 || type == DType::kF64)
    return kind <= BinaryKind::kMax || kind >= BinaryKind::kEqual;
  if (type == DType::kBool) return kind >= BinaryKind::kAnd && kind <= BinaryKind::kEqual;
  return IsInt(type) && BitWidth(type) >= 8;
}

void Binary(BinaryKind kind, DType type, const Broadcast<2>& plan, const void* a, const void* b, void* y,
            const Workers& workers) {
  const int width = IsComparison(kind) ? 1 : WidthOf(type);
  const auto& step = plan.steps[static_cast<size_t>(plan.rank - 1)];
  const bool tiled = !step[0] || !step[1] || IsNarrowFloat(type);
  workers.ParallelFor(plan.count, kGrain, [&](int64_t begin, int64_t end) {
    EachRow<2>(plan, begin, end, [&](const std::array<int64_t, 2>& at, int64_t to, int64_t n) {
      Source p(type, a, at[0], step[0] != 0, n), q(type, b, at[1], step[1] != 0, n);
      Row(kind, type, p, q, static_cast<char*>(y) + to * width, n, tiled ? kTile : n);
    });
  });
}

}  // namespace tern::cpu
