#include "kernels/cpu/pool/pool_simd.h"

#include "kernels/cpu/pool/larger-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

template <int kStride>
void MaxStrided(const float* __restrict x, int64_t any_stride, float* __restrict y, int64_t n) {
  const int64_t stride = kStride ? kStride : any_stride;
  for (int64_t i = 0; i < n; ++i) y[i] = Larger(y[i], x[i * stride]);
}

void MaxRow(const float* x, int64_t stride, float* y, int64_t n) {
  if (stride == 1)
    MaxStrided<1>(x, stride, y, n);
  else if (stride == 2)
    MaxStrided<2>(x, stride, y, n);
  else
    MaxStrided<0>(x, stride, y, n);
}

}  // namespace

const PoolTable kPoolSimd = {MaxRow};

}  // namespace tern::cpu::TERN_SIMD
