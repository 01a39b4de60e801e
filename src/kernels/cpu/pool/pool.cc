#include "kernels/cpu/pool/pool.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/conv/depthwise_simd.h"
#include "kernels/cpu/pool/pool_simd.h"

namespace tern::cpu {
namespace {

// Calls row(x, y, tap) for each output row and each of its input rows that exists; before: start(y), after: finish(y, z, line).
template <class T, class Start, class Row, class Finish>
void EachRow(const ConvShape& s, const T* x, T* y, const Start& start, const Row& row, const Finish& finish) {
  for (int64_t z = 0; z < s.output[0]; ++z)
    for (int64_t o = 0; o < s.output[1]; ++o, y += s.output[2]) {
      start(y);
      for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
        for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
          const int64_t iz = z * s.stride[0] + kz * s.dilation[0] - s.begin[0], iy = o * s.stride[1] + ky * s.dilation[1] - s.begin[1];
          if (iz >= 0 && iz < s.input[0] && iy >= 0 && iy < s.input[1]) row(x + (iz * s.input[1] + iy) * s.input[2], y);
        }
      finish(y, z, o);
    }
}

template <class T>
void MaxOf(const T* x, int64_t stride, T* y, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    PoolSimd().max_row(x, stride, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] != y[i] || y[i] > x[i * stride] ? y[i] : x[i * stride];
  }
}

template <class T>
void MaxPlane(const ConvShape& s, const T* x, T* y) {
  using Limits = std::numeric_limits<T>;
  const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  EachRow(
      s, x, y, [&](T* to) { std::fill(to, to + s.output[2], lowest); },
      [&](const T* from, T* to) {
        for (int64_t k = 0; k < s.kernel[2]; ++k) {
          const int64_t shift = k * s.dilation[2] - s.begin[2];
          const Inside in = InsideOf(shift, s.stride[2], s.input[2], s.output[2]);
          if (in.first < in.last) MaxOf(from + shift + in.first * s.stride[2], s.stride[2], to + in.first, in.last - in.first);
        }
      },
      [](T*, int64_t, int64_t) {});
}

void AveragePlane(const ConvShape& s, const PoolDivisors& divisors, const float* x, float* y) {
  const float one = 1;
  EachRow(
      s, x, y, [&](float* to) { std::fill(to, to + s.output[2], 0.f); },
      [&](const float* from, float* to) {
        for (int64_t k = 0; k < s.kernel[2]; ++k) {
          const int64_t shift = k * s.dilation[2] - s.begin[2];
          const Inside in = InsideOf(shift, s.stride[2], s.input[2], s.output[2]);
          if (in.first < in.last)
            DepthwiseSimd().add_row(from + shift + in.first * s.stride[2], s.stride[2], &one, 1, 1, to + in.first, in.last - in.first);
        }
      },
      [&](float* to, int64_t z, int64_t line) {
        const float rows = divisors[0][static_cast<size_t>(z)] * divisors[1][static_cast<size_t>(line)];
        for (int64_t i = 0; i < s.output[2]; ++i) {
          const float n = rows * divisors[2][static_cast<size_t>(i)];
          to[i] = n > 0 ? to[i] / n : 0.f;
        }
      });
}

template <class F>
void EachPlane(const ConvShape& s, const Workers& workers, const F& f) {
  const int64_t work = std::max<int64_t>(1, s.output_size() * s.taps());
  workers.ParallelFor(s.batch, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i * s.input_size(), i * s.output_size());
  });
}

template <class T>
void RunMax(const ConvShape& s, const void* x, void* y, const Workers& workers) {
  EachPlane(s, workers, [&](int64_t from, int64_t to) { MaxPlane(s, static_cast<const T*>(x) + from, static_cast<T*>(y) + to); });
}

}  // namespace

bool HasMaxPool(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kI8 || type == DType::kU8;
}

void MaxPool(DType type, const ConvShape& shape, const void* x, void* y, const Workers& workers) {
  switch (type) {
    case DType::kF32: return RunMax<float>(shape, x, y, workers);
    case DType::kF64: return RunMax<double>(shape, x, y, workers);
    case DType::kI8: return RunMax<int8_t>(shape, x, y, workers);
    default: return RunMax<uint8_t>(shape, x, y, workers);
  }
}

void AveragePoolF32(const ConvShape& shape, const PoolDivisors& divisors, const float* x, float* y, const Workers& workers) {
  EachPlane(shape, workers, [&](int64_t from, int64_t to) { AveragePlane(shape, divisors, x + from, y + to); });
}

}  // namespace tern::cpu
