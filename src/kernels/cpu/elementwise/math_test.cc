// Compares the vectorised functions with the C library in f64, for many values, at every level.
// docs/reports/accuracy.md has the measured errors. The bounds that are checked here are a little larger.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

using Function = double (*)(double);

struct Bound {
  UnaryKind kind;
  Function exact;
  double low, high;
  double ulps;          // maximum error in ulp of the result
  double absolute = 0;  // maximum absolute error; the larger of the two limits applies
};

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }
double GeluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

const Bound kBounds[] = {
    {UnaryKind::kExp, [](double x) { return std::exp(x); }, -110, 90, 1.5},
    {UnaryKind::kLog, [](double x) { return std::log(x); }, 1e-44, 3e38, 1.5},
    {UnaryKind::kLog, [](double x) { return std::log(x); }, 0.4, 2.5, 1.5},
    {UnaryKind::kTanh, [](double x) { return std::tanh(x); }, -20, 20, 7},
    {UnaryKind::kErf, [](double x) { return std::erf(x); }, -8, 8, 8.5},
    {UnaryKind::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -87, 87, 3},
    {UnaryKind::kSoftplus,
     [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, -80, 80, 2.5},
    {UnaryKind::kSwish, [](double x) { return x / (1 + std::exp(-x)); }, -80, 80, 3},
    {UnaryKind::kMish, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -80, 80, 5},
    {UnaryKind::kElu, [](double x) { return x < 0 ? std::expm1(x) : x; }, -80, 1, 2.5},
    // For negative x, the sums 1 + erf and 1 + tanh cancel, so `absolute` limits the error.
    {UnaryKind::kGelu, Gelu, -20, 20, 4.5, 1.1e-6},
    {UnaryKind::kGeluTanh, GeluTanh, -20, 20, 4, 1.1e-6},
};

double UlpOf(double v) {
  const float magnitude = std::abs(static_cast<float>(v));
  if (magnitude < std::numeric_limits<float>::min()) return std::numeric_limits<float>::denorm_min();
  return double{std::nextafter(magnitude, std::numeric_limits<float>::infinity())} - double{magnitude};
}

// Returns samples that are uniform in value, and samples that are uniform in bit pattern.
std::vector<float> Inputs(const Bound& b) {
  constexpr int count = 1 << 18;
  std::vector<float> x;
  for (int i = 0; i <= count; ++i) x.push_back(static_cast<float>(b.low + (b.high - b.low) * i / count));
  for (uint32_t i = 0; i < 4 * count; ++i) {
    const uint32_t bits = i * 2654435761u;
    float v;
    std::memcpy(&v, &bits, 4);
    if (v >= b.low && v <= b.high) x.push_back(v);
  }
  return x;
}

class MathLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, MathLevels, testing::ValuesIn(LevelsHere()));

TEST_P(MathLevels, StaysWithinItsBounds) {
  for (const Bound& b : kBounds) {
    const auto x = Inputs(b);
    std::vector<float> y(x.size());
    UnarySimd().f32(b.kind, x.data(), y.data(), static_cast<int64_t>(x.size()), 1, 0);
    const bool unit =
        b.kind == UnaryKind::kTanh || b.kind == UnaryKind::kErf || b.kind == UnaryKind::kSigmoid;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_FALSE(unit && std::abs(y[i]) > 1) << kUnaryNames[static_cast<int>(b.kind)] << "(" << x[i] << ")";
      const double exact = b.exact(double{x[i]});
      if (static_cast<float>(exact) == y[i]) continue;
      const double slack = std::max(b.ulps * UlpOf(exact), b.absolute);
      ASSERT_LE(std::abs(y[i] - exact), slack)
          << kUnaryNames[static_cast<int>(b.kind)] << "(" << x[i] << ") is " << y[i] << ", not " << exact;
    }
  }
}

TEST_P(MathLevels, HandlesInfinityAndNaN) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  struct Row {
    UnaryKind kind;
    float x, y;
  };
  const Row rows[] = {
      {UnaryKind::kExp, inf, inf},      {UnaryKind::kExp, -inf, 0},     {UnaryKind::kExp, 0, 1},
      {UnaryKind::kLog, inf, inf},      {UnaryKind::kLog, 0, -inf},     {UnaryKind::kLog, -1, nan},
      {UnaryKind::kTanh, inf, 1},       {UnaryKind::kTanh, -inf, -1},   {UnaryKind::kTanh, -0.f, -0.f},
      {UnaryKind::kErf, inf, 1},        {UnaryKind::kErf, -9, -1},      {UnaryKind::kErf, 0, 0},
      {UnaryKind::kSigmoid, inf, 1},    {UnaryKind::kSigmoid, -inf, 0}, {UnaryKind::kSigmoid, 0, 0.5f},
      {UnaryKind::kSoftplus, inf, inf}, {UnaryKind::kGelu, inf, inf},   {UnaryKind::kGelu, -50, 0},
      {UnaryKind::kGeluTanh, -50, 0},   {UnaryKind::kRelu, -inf, 0},    {UnaryKind::kRelu, inf, inf}};
  for (const Row& row : rows) {
    float y = 7;
    UnarySimd().f32(row.kind, &row.x, &y, 1, 1, 0);
    EXPECT_TRUE(y == row.y || (std::isnan(y) && std::isnan(row.y)))
        << kUnaryNames[static_cast<int>(row.kind)] << "(" << row.x << ") is " << y;
    UnarySimd().f32(row.kind, &nan, &y, 1, 1, 0);
    EXPECT_TRUE(std::isnan(y)) << kUnaryNames[static_cast<int>(row.kind)] << "(NaN) is " << y;
  }
}

// Threads may split tensors at any element.
TEST_P(MathLevels, ResultDoesNotDependOnTheSplit) {
  for (const Bound& b : kBounds) {
    std::vector<float> x(67), full(67), split(67);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.11f - 3.5f;
    UnarySimd().f32(b.kind, x.data(), full.data(), 67, 1, 0);
    for (int64_t at : {1, 3, 18, 31}) {
      UnarySimd().f32(b.kind, x.data(), split.data(), at, 1, 0);
      UnarySimd().f32(b.kind, x.data() + at, split.data() + at, 67 - at, 1, 0);
      EXPECT_EQ(std::memcmp(full.data(), split.data(), sizeof(float) * 67), 0)
          << kUnaryNames[static_cast<int>(b.kind)];
    }
  }
}

}  // namespace
}  // namespace tern::cpu
