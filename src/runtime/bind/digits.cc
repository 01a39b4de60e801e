#include "runtime/bind/digits.h"

#include <cmath>

namespace tern {
namespace {

constexpr int64_t kGrain = 16384, kExact = 1 << 24;
constexpr int64_t kLargestA = 255;  // an 8-bit number minus its zero point

// Returns the number of products per sum.
int64_t DepthOf(const QuantizedForm& form, const Attrs& attrs, const Dims& b) {
  if (std::string_view(form.real) == "Conv") return CountFrom(b, 1, b.size());
  if (b.size() < 2) return CountOf(b);
  return b[b.size() - (attrs.Bool("transpose_b") ? 1 : 2)];
}

float Rest(float v, float base) { return v - base * std::floor(v / base + 0.5f); }

}  // namespace

Digits DigitsOf(const QuantizedForm& form, const Attrs& attrs, const Dims& b, DType type, bool has_zero) {
  const int64_t depth = DepthOf(form, attrs, b), largest = type == DType::kI8 && !has_zero ? 128 : 255;
  const auto exact = [&](int64_t digit) { return depth <= kExact / (kLargestA * digit); };
  if (exact(largest)) return {};
  if (exact(16)) return {2, 16};  // digits up to 8, and up to 16 for the most significant one
  if (exact(4)) return {3, 8};    // digits up to 4
  return {0, 1};
}

void Digits::Keep(int digit, float* values, int64_t n, const Workers& workers) const {
  if (count == 1) return;
  const auto step = static_cast<float>(base);
  workers.ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float v = values[i];
      for (int d = 0; d < digit; ++d) v = (v - Rest(v, step)) / step;
      values[i] = digit + 1 == count ? v : Rest(v, step);
    }
  });
}

void Digits::Add(const float* products, int64_t n, int32_t* sums, const Workers& workers) const {
  workers.ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[i] = sums[i] * base + static_cast<int32_t>(products[i]);
  });
}

}  // namespace tern
