#include "server/scheduler/error_margin.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

TEST(ErrorMargin, IsAHighQuantileOfRecentErrors) {
  ErrorMargin margin;
  EXPECT_EQ(margin.value(), ErrorMargin::kFirst);
  const auto now = Clock::now();
  for (int i = 1; i <= 100; ++i) margin.Add(i, now);
  EXPECT_EQ(margin.value(), 98);
}

TEST(ErrorMargin, FewErrorsDoNotLowerIt) {
  ErrorMargin margin;
  const auto now = Clock::now();
  for (int i = 0; i < 15; ++i) margin.Add(-1, now);
  EXPECT_EQ(margin.value(), ErrorMargin::kFirst);
  margin.Add(-1, now);
  EXPECT_EQ(margin.value(), 0) << "early answers need no margin";
}

TEST(ErrorMargin, ForgetsOldErrors) {
  ErrorMargin margin;
  auto now = Clock::now();
  for (int i = 0; i < 200; ++i) margin.Add(7, now);
  for (int i = 0; i < 130; ++i) margin.Add(1, now);
  EXPECT_EQ(margin.value(), 1) << "only the last ones count";
  now += std::chrono::seconds(11);
  for (int i = 0; i < 16; ++i) margin.Add(0.25, now);
  EXPECT_EQ(margin.value(), 0.25) << "only those of the last seconds count";
}

}  // namespace
}  // namespace tern::server
