// Tests profiles as an application uses them, with only tern.hpp and the shared library.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tern/tern.hpp"

namespace {

constexpr int kRuns = 3;

tern::Result<tern::Predictor> Fed(int64_t rows) {
  auto made = tern::Predictor::Create(tern::Config(TERN_DIGITS).threads(1).plan_cache(1));
  if (!made.ok()) return made;
  const std::vector<float> pixels(static_cast<size_t>(rows * 28 * 28), 0.5f);
  if (tern::Status fed = made->Input(0).CopyFrom(pixels, {rows, 1, 28, 28}); !fed.ok()) return fed;
  if (tern::Status ran = made->Run(); !ran.ok()) return ran;
  return made;
}

TEST(Profile, HasTheTimesOfEachNode) {
  auto p = Fed(2);
  ASSERT_TRUE(p.ok()) << p.status().message();
  ASSERT_TRUE(p->StartProfile().ok());
  for (int i = 0; i < kRuns; ++i) ASSERT_TRUE(p->Run().ok());
  const auto profile = p->StopProfile();
  ASSERT_TRUE(profile.ok()) << profile.status().message();
  EXPECT_EQ(profile->runs, kRuns);
  EXPECT_LE(profile->fastest * kRuns, profile->total);
  ASSERT_GE(profile->nodes.size(), 3u);
  std::chrono::nanoseconds sum{0};
  for (const tern::ProfiledNode& node : profile->nodes) {
    EXPECT_FALSE(node.name.empty() || node.op.empty() || node.kernel.empty()) << node.name;
    EXPECT_EQ(node.runs, kRuns) << node.name;
    EXPECT_GE(node.calls, kRuns) << node.name;
    EXPECT_LE(node.fastest * kRuns, node.total) << node.name;
    sum += node.total;
  }
  EXPECT_LE(sum, profile->total);
  const auto is_conv = [](const auto& node) { return node.op.substr(0, 4) == "Conv" && node.total.count(); };
  EXPECT_TRUE(std::any_of(profile->nodes.begin(), profile->nodes.end(), is_conv));
}

TEST(Profile, DoesNotDependOnPlansThatWereDeleted) {
  auto p = Fed(1);
  ASSERT_TRUE(p.ok());
  ASSERT_TRUE(p->StartProfile().ok());
  for (const int64_t rows : {1, 2, 64, 1, 2, 64}) {
    const std::vector<float> pixels(static_cast<size_t>(rows * 28 * 28), 0.5f);
    ASSERT_TRUE(p->Input(0).CopyFrom(pixels, {rows, 1, 28, 28}).ok());
    ASSERT_TRUE(p->Run().ok());
  }
  const auto profile = p->StopProfile();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->runs, 6);
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& node : profile->nodes)
    EXPECT_TRUE(seen.emplace(node.name, node.kernel).second) << node.name;
}

TEST(Profile, IgnoresRunsThatFail) {
  auto p = Fed(1);
  ASSERT_TRUE(p.ok());
  ASSERT_TRUE(p->StartProfile().ok());
  std::atomic<bool> cancel{true};
  tern::RunOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(p->Run(options).code(), tern::Code::kCancelled);
  const auto profile = p->StopProfile();
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->runs, 0);
  EXPECT_TRUE(profile->nodes.empty());
}

TEST(Profile, StopNeedsStart) {
  auto p = Fed(1);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->StopProfile().status().code(), tern::Code::kInvalidArgument);
  ASSERT_TRUE(p->StartProfile().ok());
  auto clone = p->Clone();
  ASSERT_TRUE(clone.ok());
  EXPECT_FALSE(clone->StopProfile().ok()) << "a clone is not recorded";
  ASSERT_TRUE(p->StartProfile().ok());  // discards the profile that is being recorded
  EXPECT_TRUE(p->StopProfile().ok());
  EXPECT_FALSE(p->StopProfile().ok());
  const tern::Predictor moved = std::move(*p);
  EXPECT_FALSE(p->StartProfile().ok());
}

}  // namespace
