#include "compress/quantize/method.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tern::compress {
namespace {

// Numbers with a normal distribution and a few outliers of 20 times its width.
Statistics WithOutliers(bool positive) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(50000);
  for (float& v : values) v = positive ? std::fabs(normal(random)) : normal(random);
  values[7] = 20;
  if (!positive) values[8] = -20;
  Statistics s;
  s.histogram.Add(values.data(), static_cast<int64_t>(values.size()));
  s.average = {positive ? 0.0 : -4.0, 4.0};
  return s;
}

Grid Chosen(Method method, const Statistics& s, GridKind kind = {}) {
  return ChooseGrid(s, {method, 99.99, kind});
}

TEST(Method, NamesParse) {
  for (const std::string& name : MethodNames()) EXPECT_EQ(NameOf(*ParseMethod(name)), name);
  EXPECT_FALSE(ParseMethod("best"));
}

TEST(Method, MinMaxCoversAllValues) {
  const Grid g = Chosen(Method::kMinMax, WithOutliers(false));
  EXPECT_NEAR(g.range().low, -20, g.scale);
  EXPECT_NEAR(g.range().high, 20, g.scale);
}

TEST(Method, AverageUsesMovingAverages) {
  EXPECT_NEAR(Chosen(Method::kEma, WithOutliers(true)).range().high, 4, 1e-5);
}

TEST(Method, PercentileAndDivergenceCutOutliersOff) {
  for (const bool positive : {false, true})
    for (const Method method : {Method::kPercentile, Method::kKl}) {
      const Grid g = Chosen(method, WithOutliers(positive));
      EXPECT_LT(g.range().high, 15) << NameOf(method);
      EXPECT_GT(g.range().high, 2) << NameOf(method);
    }
}

// Each search is at least as good by its own measure as the full range and as each narrower one.
TEST(Method, SearchesImproveTheirMeasure) {
  for (const bool positive : {false, true})
    for (const bool symmetric : {false, true}) {
      const Statistics s = WithOutliers(positive);
      const GridKind kind{8, symmetric};
      const double noise = ErrorOf(Chosen(Method::kMse, s, kind), s.histogram).noise;
      const double cosine = ErrorOf(Chosen(Method::kEq, s, kind), s.histogram).cosine();
      for (double share = 0.25; share <= 1; share += 0.125) {
        const Range r = s.histogram.range();
        const GridError other = ErrorOf(GridOf({r.low * share, r.high * share}, kind), s.histogram);
        EXPECT_LE(noise, other.noise * 1.02) << share;
        EXPECT_GE(cosine, other.cosine() - 1e-5) << share;
      }
      EXPECT_LE(ErrorOf(Chosen(Method::kAdmm, s, kind), s.histogram).noise,
                ErrorOf(Chosen(Method::kMinMax, s, kind), s.histogram).noise);
    }
}

TEST(Method, WideGridsAndConstantsWork) {
  Statistics zeros;
  const float z[] = {0, 0, 0};
  zeros.histogram.Add(z, 3);
  for (const std::string& name : MethodNames()) {
    EXPECT_EQ(Chosen(*ParseMethod(name), zeros).Round(0), 0) << name;
    const Grid wide = Chosen(*ParseMethod(name), WithOutliers(false), {16, false});
    EXPECT_EQ(wide.dtype, DType::kU16);
    const bool cuts = name == "ema" || name == "percentile";
    EXPECT_GT(ErrorOf(wide, WithOutliers(false).histogram).sqnr(), cuts ? 15 : 60) << name;
  }
}

}  // namespace
}  // namespace tern::compress
