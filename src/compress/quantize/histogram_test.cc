#include "compress/quantize/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tern::compress {
namespace {

std::vector<float> Normal(size_t n, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(n);
  for (float& v : values) v = normal(random);
  return values;
}

double CountOf(const Histogram& h) {
  double total = 0;
  h.ForEach([&](double, double n) { total += n; });
  return total;
}

TEST(Histogram, OrderOfValuesDoesNotMatter) {
  std::vector<float> values = Normal(5000, 3, 1);
  values.insert(values.end(), {0, 0, -0.0F, 100, -1000});
  Histogram ascending, descending, parts;
  std::sort(values.begin(), values.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  ascending.Add(values.data(), static_cast<int64_t>(values.size()));
  for (const float v : values) parts.Add(&v, 1);
  std::reverse(values.begin(), values.end());
  for (const float v : values) descending.Add(&v, 1);
  EXPECT_EQ(ascending.Numbers(), descending.Numbers());
  EXPECT_EQ(ascending.Numbers(), parts.Numbers());
  EXPECT_EQ(ascending.zeros(), 3);
  EXPECT_EQ(ascending.range().low, -1000);
  EXPECT_EQ(CountOf(ascending), static_cast<double>(values.size()));
}

TEST(Histogram, CountsWhatIsNotFinite) {
  Histogram h;
  const float values[] = {NAN, 1, INFINITY, -INFINITY};
  h.Add(values, 4);
  EXPECT_EQ(h.not_finite(), 3);
  EXPECT_EQ(h.count(), 1);
}

TEST(Histogram, EmptyAndZeros) {
  Histogram h;
  h.Add(nullptr, 0);
  EXPECT_EQ(h.count(), 0);
  const float zeros[] = {0, 0};
  h.Add(zeros, 2);
  EXPECT_EQ(h.count(), 2);
  EXPECT_EQ(h.Quantile(0.5), 0);
}

TEST(Histogram, MergeEqualsAddingAll) {
  const std::vector<float> a = Normal(1000, 1, 2), b = Normal(1000, 50, 3);
  Histogram both, first, second;
  both.Add(a.data(), 1000);
  both.Add(b.data(), 1000);
  first.Add(a.data(), 1000);
  second.Add(b.data(), 1000);
  Histogram merged = first;
  merged.Merge(second);
  EXPECT_EQ(merged.Numbers(), both.Numbers());
  second.Merge(first);
  EXPECT_EQ(second.Numbers(), both.Numbers());
  Histogram none;
  none.Merge(first);
  EXPECT_EQ(none.Numbers(), first.Numbers());
}

TEST(Histogram, QuantilesAreCloseToThoseOfTheValues) {
  std::vector<float> values = Normal(20000, 2, 4);
  Histogram h;
  h.Add(values.data(), static_cast<int64_t>(values.size()));
  std::sort(values.begin(), values.end());
  for (const double share : {0.001, 0.1, 0.5, 0.99, 0.9999, 1.0}) {
    const auto at = static_cast<size_t>(std::ceil(share * 20000)) - 1;
    EXPECT_NEAR(h.Quantile(share), values[at], h.bin_width()) << share;
  }
}

TEST(Histogram, BarsDivideTheRange) {
  Histogram h;
  const float values[] = {0, 1, 2, 3, 4, 4};
  h.Add(values, 6);
  const std::vector<double> bars = h.Bars(2);
  EXPECT_NEAR(bars[0], 2.0 / 6, 1e-12);
  EXPECT_NEAR(bars[1], 4.0 / 6, 1e-12);
}

TEST(Histogram, ParsesItsNumbers) {
  const std::vector<float> a = Normal(100, 1, 5);
  Histogram h, again;
  h.Add(a.data(), 100);
  ASSERT_TRUE(again.Parse(h.Numbers()));
  EXPECT_EQ(again.Numbers(), h.Numbers());
  EXPECT_FALSE(again.Parse({1, 2, 3}));
  std::vector<double> damaged = h.Numbers();
  damaged[0] = 3;  // not a power of two
  EXPECT_FALSE(again.Parse(damaged));
}

}  // namespace
}  // namespace tern::compress
