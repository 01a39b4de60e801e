// Random 8-bit operands and epilogues with plain formulas for what they compute, for the tests of this
// folder.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/byte/byte_panels.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {

// Returns random bytes. A quarter of them are 0, 127, 128 or 255.
inline std::vector<uint8_t> RandomBytes(int64_t count, uint32_t seed) {
  constexpr uint8_t kExtremes[] = {0, 127, 128, 255};
  std::mt19937 random(seed);
  std::vector<uint8_t> v(static_cast<size_t>(count));
  for (uint8_t& x : v) {
    const auto bits = static_cast<uint32_t>(random());
    x = bits >> 30 == 0 ? kExtremes[bits & 3] : static_cast<uint8_t>(bits);
  }
  return v;
}

// Returns a byte as the number that it is in the type u8 or i8.
inline int NumberOf(DType type, uint8_t byte) {
  return type == DType::kI8 ? static_cast<int8_t>(byte) : byte;
}

inline ByteRange FullRange(DType type, int zero) {
  const auto z = static_cast<float>(zero);
  return type == DType::kI8 ? ByteRange{type, z, -128 - z, 127 - z} : ByteRange{type, z, 0 - z, 255 - z};
}

inline int Quantized(float v, const ByteRange& to) {
  return static_cast<int>(std::nearbyint(std::min(std::max(v, to.low), to.high)) + to.zero);
}

// An epilogue over [rows, columns] and its operands. Cannot be copied, because `e` points to the operands.
struct EpilogueCase {
  EpilogueCase(EpilogueCase&&) = default;
  EpilogueCase& operator=(EpilogueCase&&) = default;
  std::string name;
  ByteEpilogue e;
  int64_t columns = 0;
  std::vector<int32_t> bias;
  std::vector<float> scale, f32_bias, f32_residual;
  std::vector<uint8_t> residual;

  // `depth` is the number of products per sum.
  EpilogueCase(std::string title, const ByteEpilogue& given, int64_t rows, int64_t n, int64_t depth)
      : name(std::move(title)), e(given), columns(n), residual(RandomBytes(rows * n, 5)) {
    const float typical = 0.7f / std::sqrt(static_cast<float>(std::max<int64_t>(1, depth))) / 70;
    for (float v : Random(n, 6)) bias.push_back(static_cast<int32_t>(v * 20000));
    for (float v : Random(n, 7)) scale.push_back(typical * (1 + v));
    f32_bias = Random(n, 8), f32_residual = Random(rows * n, 9);
    e.bias = bias.data(), e.scale = scale.data(), e.residual_row = n;
    e.residual = residual.data();
    if (e.output == ByteOutput::kF32) e.f32_bias = f32_bias.data(), e.f32_residual = f32_residual.data();
  }

  // Returns the result of a sum as a number. The sum does not include the bias.
  double Expected(int64_t sum, int64_t row, int64_t column) const {
    const auto at = static_cast<size_t>(row * columns + column), c = static_cast<size_t>(column);
    sum += e.bias ? bias[c] : 0;
    if (e.output == ByteOutput::kI32) return static_cast<double>(sum);
    volatile float v = static_cast<float>(sum) * scale[c];  // rounds each operation
    if (e.output == ByteOutput::kF32) {
      v = v + f32_bias[c];
      v = v + f32_residual[at];
      return e.clip ? std::clamp(static_cast<float>(v), e.low, e.high) : v;
    }
    const auto r = static_cast<float>(NumberOf(e.residual_type, residual[at]));
    if (e.residual_mode == ByteResidual::kBeforeRounding) {
      volatile float add = (r - e.residual_zero) * e.residual_ratio;
      v = v + add;
    }
    if (e.residual_mode != ByteResidual::kAfterRounding) return Quantized(v, e.to);
    const auto q = static_cast<float>(Quantized(v, e.inner));
    const float a = e.residual_first ? r : q, b = e.residual_first ? q : r;
    ByteRange to = e.to;
    to.low += to.zero, to.high += to.zero, to.zero = 0;
    return Quantized(std::fma(a, e.a_ratio, std::fma(b, e.b_ratio, e.rest)), to);
  }

  int64_t width() const { return e.output == ByteOutput::kBytes ? 1 : 4; }
  // Returns element i of a result as a number.
  double At(const std::vector<uint8_t>& y, int64_t i) const {
    if (e.output == ByteOutput::kBytes) return NumberOf(e.to.type, y[static_cast<size_t>(i)]);
    if (e.output == ByteOutput::kF32) return Read<float>(y, i);
    return Read<int32_t>(y, i);
  }

 private:
  template <class T> static double Read(const std::vector<uint8_t>& y, int64_t i) {
    T v;
    std::memcpy(&v, y.data() + i * 4, 4);
    return static_cast<double>(v);
  }
};

// Returns epilogues of every kind.
inline std::vector<EpilogueCase> Epilogues(int64_t rows, int64_t columns, int64_t depth) {
  std::vector<EpilogueCase> cases;
  const auto add = [&](const char* name, const ByteEpilogue& e) {
    cases.emplace_back(name, e, rows, columns, depth);
  };
  ByteEpilogue e;
  e.to = FullRange(DType::kU8, 113);
  add("u8", e);
  e.to = FullRange(DType::kI8, -3);
  add("i8", e);
  e.to.low = 0, e.to.high = 40;
  add("clip", e);
  e.to = FullRange(DType::kU8, 7);
  e.residual_mode = ByteResidual::kBeforeRounding, e.residual_zero = 129, e.residual_ratio = 0.37f;
  add("residual before rounding", e);
  e.residual_type = DType::kI8, e.residual_zero = -5;
  add("i8 residual before rounding", e);
  e.residual_mode = ByteResidual::kAfterRounding;
  e.inner = FullRange(DType::kI8, 4), e.a_ratio = 0.81f, e.b_ratio = 0.43f, e.rest = 6.25f;
  add("i8 residual after rounding", e);
  e.residual_type = DType::kU8, e.residual_first = true;
  add("first residual after rounding", e);
  ByteEpilogue f32;
  f32.output = ByteOutput::kF32;
  add("f32", f32);
  f32.clip = true, f32.low = -0.5f, f32.high = 0.75f;
  add("clipped f32", f32);
  ByteEpilogue sums;
  sums.output = ByteOutput::kI32;
  add("i32", sums);
  return cases;
}

}  // namespace tern::cpu
