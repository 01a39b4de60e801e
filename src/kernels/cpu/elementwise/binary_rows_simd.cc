#include "kernels/cpu/elementwise/binary_rows_simd.h"

#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kWide = kLanes<float>;

template <bool kAlongA, bool kAlongB, class F>
inline void Plane(const PlaneOperand& a, const PlaneOperand& b, float* y, int64_t rows, int64_t n,
                  const F& f) {
  for (int64_t r = 0; r < rows; ++r, y += n) {
    const float *p = a.data + r * a.row, *q = b.data + r * b.row;
    const Floats one_p = All(*p), one_q = All(*q);
    int64_t i = 0;
    for (; i + kWide <= n; i += kWide)
      StoreVector(y + i, f(kAlongA ? LoadVector(p + i) : one_p, kAlongB ? LoadVector(q + i) : one_q));
    if (i == n) continue;
    const int64_t remaining = n - i;
    StorePart(y + i,
              f(kAlongA ? LoadPart(p + i, remaining) : one_p, kAlongB ? LoadPart(q + i, remaining) : one_q),
              remaining);
  }
}

template <class F>
inline void ForEachRow(const PlaneOperand& a, const PlaneOperand& b, float* y, int64_t rows, int64_t n,
                       const F& f) {
  if (rows == 0 || n == 0) return;
  if (a.along)
    return b.along ? Plane<true, true>(a, b, y, rows, n, f) : Plane<true, false>(a, b, y, rows, n, f);
  b.along ? Plane<false, true>(a, b, y, rows, n, f) : Plane<false, false>(a, b, y, rows, n, f);
}

void Run(BinaryKind kind, const PlaneOperand& a, const PlaneOperand& b, float* y, int64_t rows, int64_t n) {
  switch (kind) {
    case BinaryKind::kAdd:
      return ForEachRow(a, b, y, rows, n, [](Floats p, Floats q) { return p + q; });
    case BinaryKind::kSub:
      return ForEachRow(a, b, y, rows, n, [](Floats p, Floats q) { return p - q; });
    case BinaryKind::kMul:
      return ForEachRow(a, b, y, rows, n, [](Floats p, Floats q) { return p * q; });
    default:
      return ForEachRow(a, b, y, rows, n, [](Floats p, Floats q) { return p / q; });
  }
}

}  // namespace

const BinaryRowsTable kBinaryRowsSimd = {Run};

}  // namespace tern::cpu::TERN_SIMD
