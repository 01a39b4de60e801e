#include "server/load/latencies.h"

#include <gtest/gtest.h>

#include <memory>

namespace tern::server::loadgen {
namespace {

TEST(Latencies, EmptyIsZero) {
  const auto l = std::make_unique<Latencies>();
  EXPECT_EQ(l->Quantile(0.5), 0u);
  EXPECT_EQ(l->mean_ns(), 0);
}

TEST(Latencies, QuantilesAreWithinOnePercent) {
  const auto l = std::make_unique<Latencies>();
  for (uint64_t i = 1; i <= 100'000; ++i) l->Add(i * 1000);
  EXPECT_NEAR(static_cast<double>(l->Quantile(0.5)), 50e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(l->Quantile(0.99)), 99e6, 1e6);
  EXPECT_EQ(l->Quantile(1), 100'000'000u);
  EXPECT_NEAR(l->mean_ns(), 50e6, 1e4);
}

TEST(Latencies, SmallAndHugeValues) {
  const auto l = std::make_unique<Latencies>();
  for (const uint64_t ns : {uint64_t{0}, uint64_t{1}, uint64_t{255}, uint64_t{256}, ~uint64_t{0}}) l->Add(ns);
  EXPECT_EQ(l->count(), 5u);
  EXPECT_EQ(l->Quantile(0), 0u);
  EXPECT_EQ(l->Quantile(0.6), 255u);
  EXPECT_EQ(l->max_ns(), uint64_t{1} << 62);
}

}  // namespace
}  // namespace tern::server::loadgen
