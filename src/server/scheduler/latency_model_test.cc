#include "server/scheduler/latency_model.h"

#include <random>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using std::chrono::nanoseconds;

TEST(LatencyModel, LearnsTheMean) {
  LatencyModel model(8);
  auto now = Clock::now();
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    const double value = std::normal_distribution<double>(1e6, 1e5)(random);
    model.Record(4, nanoseconds(static_cast<int64_t>(value)), now += microseconds(100));
  }
  EXPECT_NEAR(model.Mean(4), 1e6, 8e4);
}

TEST(LatencyModel, FollowsAModelThatChangesItsSpeed) {
  LatencyModel model(8);
  auto now = Clock::now();
  const auto record = [&](int count, milliseconds duration) {
    for (int i = 0; i < count; ++i) model.Record(1, duration, now += duration);
  };
  record(100, milliseconds(10));
  record(30, milliseconds(50));
  EXPECT_NEAR(model.Mean(1), 50e6, 3e6);
  record(30, milliseconds(10));
  EXPECT_NEAR(model.Mean(1), 10e6, 3e6);
  now += std::chrono::seconds(2);
  record(2, milliseconds(50));
  EXPECT_GT(model.Mean(1), 28e6) << "old values count for less";
}

TEST(LatencyModel, ReplacesTheFirstExecutionOfASize) {
  LatencyModel model(8);
  const auto now = Clock::now();
  model.Record(2, milliseconds(500), now);  // the back end compiles
  EXPECT_EQ(model.Mean(2), 500e6);
  model.Record(2, milliseconds(20), now);
  EXPECT_EQ(model.Mean(2), 20e6);
  model.Record(2, milliseconds(26), now);
  EXPECT_EQ(model.Mean(2), 22e6);
}

TEST(LatencyModel, EstimatesSizesItHasNotSeen) {
  LatencyModel model(16);
  EXPECT_EQ(model.Mean(3), 0);
  const auto now = Clock::now();
  model.Record(4, nanoseconds(400), now);
  model.Record(8, nanoseconds(600), now);
  EXPECT_EQ(model.Mean(6), 500);
  EXPECT_EQ(model.Mean(1), 400);
  EXPECT_EQ(model.Mean(16), 1200);
  EXPECT_EQ(model.Mean(99), 1200);
  model.Record(-3, nanoseconds(-1), now);  // clamped to the smallest size and the shortest time
  EXPECT_EQ(model.Mean(1), 1);
}

TEST(LatencyModel, ForgetsWhatIsOld) {
  LatencyModel model(8);
  const auto now = Clock::now();
  model.Record(8, nanoseconds(1'000'000), now);
  model.Record(1, nanoseconds(100), now + std::chrono::seconds(6));
  EXPECT_FALSE(model.Known(8));
  EXPECT_EQ(model.Mean(8), 800);
}

}  // namespace
}  // namespace tern::server
