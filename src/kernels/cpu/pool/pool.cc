#include "kernels/cpu/pool/pool.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/conv/depthwise_simd.h"
#include "kernels/cpu/pool/larger-inl.h"
#include "kernels/cpu/pool/pool_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kLine = 2048;  // input rows of up to this many elements are combined on the stack

// The initial value and the combination step of a pooling kind.
template <class Number> struct MaxMath {
  using T = Number;
  static T Start() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  static void Join(const T* x, int64_t stride, T* y, int64_t n) {
    if constexpr (std::is_same_v<T, float>) {
      PoolSimd().max_row(x, stride, y, n);
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = Larger(y[i], x[i * stride]);
    }
  }
};
struct SumMath {
  using T = float;
  static float Start() { return 0; }
  static void Join(const float* x, int64_t stride, float* y, int64_t n) {
    const float one = 1;
    DepthwiseSimd().add_row(x, stride, &one, 1, 1, y, n);
  }
};

// Combines the taps along the last axis of an input row into an output row. The input row may be a
// combination of several rows. Works tap by tap, with contiguous access. If the kernel is wider than the
// image, works window by window instead.
template <class Math> void JoinTaps(const ConvShape& s, const typename Math::T* x, typename Math::T* y) {
  if (s.kernel[2] > s.input[2]) {
    for (int64_t o = 0; o < s.output[2]; ++o) {
      const int64_t start = o * s.stride[2] - s.begin[2];
      const Inside taps = InsideOf(start, s.dilation[2], s.input[2], s.kernel[2]);
      for (int64_t k = taps.first; k < taps.last; ++k) Math::Join(x + start + k * s.dilation[2], 1, y + o, 1);
    }
    return;
  }
  for (int64_t k = 0; k < s.kernel[2]; ++k) {
    const int64_t shift = k * s.dilation[2] - s.begin[2];
    const Inside in = InsideOf(shift, s.stride[2], s.input[2], s.output[2]);
    if (in.first < in.last)
      Math::Join(x + shift + in.first * s.stride[2], s.stride[2], y + in.first, in.last - in.first);
  }
}

// Computes one output row. If an input row has at most kLine elements, the input rows of the windows are
// combined first, with contiguous access.
template <class Math>
void PoolRow(const ConvShape& s, const typename Math::T* x, int64_t z, int64_t line, typename Math::T* y) {
  typename Math::T joined[kLine];
  const bool fits = s.input[2] <= kLine;
  if (fits) std::fill(joined, joined + s.input[2], Math::Start());
  std::fill(y, y + s.output[2], Math::Start());
  const int64_t back = z * s.stride[0] - s.begin[0], top = line * s.stride[1] - s.begin[1];
  const Inside planes = InsideOf(back, s.dilation[0], s.input[0], s.kernel[0]),
               lines = InsideOf(top, s.dilation[1], s.input[1], s.kernel[1]);
  for (int64_t kz = planes.first; kz < planes.last; ++kz)
    for (int64_t ky = lines.first; ky < lines.last; ++ky) {
      const auto* row =
          x + ((back + kz * s.dilation[0]) * s.input[1] + top + ky * s.dilation[1]) * s.input[2];
      if (fits)
        Math::Join(row, 1, joined, s.input[2]);
      else
        JoinTaps<Math>(s, row, y);
    }
  if (fits) JoinTaps<Math>(s, joined, y);
}

template <class Math> void PoolPlane(const ConvShape& s, const typename Math::T* x, typename Math::T* y) {
  for (int64_t z = 0; z < s.output[0]; ++z)
    for (int64_t line = 0; line < s.output[1]; ++line, y += s.output[2]) PoolRow<Math>(s, x, z, line, y);
}

void Divide(const ConvShape& s, const PoolDivisors& divisors, float* y) {
  for (int64_t z = 0; z < s.output[0]; ++z)
    for (int64_t line = 0; line < s.output[1]; ++line, y += s.output[2]) {
      const float rows = divisors[0][static_cast<size_t>(z)] * divisors[1][static_cast<size_t>(line)];
      for (int64_t i = 0; i < s.output[2]; ++i) {
        const float n = rows * divisors[2][static_cast<size_t>(i)];
        y[i] = n > 0 ? y[i] / n : 0.f;
      }
    }
}

template <class F> void EachPlane(const ConvShape& s, const Workers& workers, const F& f) {
  if (s.batch == 0 || std::count(s.output.begin(), s.output.end(), 0) > 0) return;
  const int64_t work = std::max<int64_t>(1, s.output_size() * s.taps_inside());
  workers.ParallelFor(s.batch, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i * s.input_size(), i * s.output_size());
  });
}

template <class T> void RunMax(const ConvShape& s, const void* x, void* y, const Workers& workers) {
  EachPlane(s, workers, [&](int64_t from, int64_t to) {
    PoolPlane<MaxMath<T>>(s, static_cast<const T*>(x) + from, static_cast<T*>(y) + to);
  });
}

}  // namespace

bool HasMaxPool(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kI8 || type == DType::kU8 ||
         type == DType::kI16 || type == DType::kU16;
}

void MaxPool(DType type, const ConvShape& shape, const void* x, void* y, const Workers& workers) {
  switch (type) {
    case DType::kF32:
      return RunMax<float>(shape, x, y, workers);
    case DType::kF64:
      return RunMax<double>(shape, x, y, workers);
    case DType::kI8:
      return RunMax<int8_t>(shape, x, y, workers);
    case DType::kI16:
      return RunMax<int16_t>(shape, x, y, workers);
    case DType::kU16:
      return RunMax<uint16_t>(shape, x, y, workers);
    default:
      return RunMax<uint8_t>(shape, x, y, workers);
  }
}

void AveragePoolF32(const ConvShape& shape, const PoolDivisors& divisors, const float* x, float* y,
                    const Workers& workers) {
  EachPlane(shape, workers, [&](int64_t from, int64_t to) {
    PoolPlane<SumMath>(shape, x + from, y + to);
    Divide(shape, divisors, y + to);
  });
}

}  // namespace tern::cpu
