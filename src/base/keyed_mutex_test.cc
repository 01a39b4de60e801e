#include "base/keyed_mutex.h"

#include <gtest/gtest.h>

#include <thread>

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(CancellableMutex, HasOneOwnerAtATime) {
  CancellableMutex mutex;
  int inside = 0, most = 0, done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto lock = mutex.Acquire({}, "others");
        most = std::max(most, ++inside);
        --inside;
        ++done;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(done, 800);
}

TEST(CancellableMutex, IsNotWaitedForBeyondADeadline) {
  CancellableMutex mutex;
  auto lock = mutex.Acquire({}, "others");
  Stop stop;
  stop.deadline = Clock::now() + milliseconds(20);
  const auto late = mutex.Acquire(stop, "the first");
  EXPECT_EQ(late.status().code(), Code::kCancelled);
  EXPECT_EQ(late.status().message(), "the run did not end before its deadline: it waited for the first");
  { const auto ended = std::move(lock); }
  EXPECT_TRUE(mutex.Acquire({}, "nobody").ok());
}

}  // namespace
}  // namespace tern
