#include "server/repository/load_threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include <atomic>
#include <future>

#include "base/thread_pool.h"

namespace tern::server {
namespace {

TEST(LoadThreads, RunReturnsTheResult) {
  LoadThreads threads(2);
  EXPECT_TRUE(threads.Run([] { return Status(); }).ok());
  EXPECT_EQ(threads.Run([] { return NotFound("x"); }).code(), Code::kNotFound);
}

// Loading has a low priority. Threads that it starts for parallel loops also serve requests later.
TEST(LoadThreads, ParallelLoopsKeepTheirPriority) {
  const int normal = getpriority(PRIO_PROCESS, 0);
  LoadThreads threads(1);
  std::atomic<int> low{0};
  const Status status = threads.Run([&] {
    const pid_t self = gettid();
    Workers().ParallelFor(64, 1, [&](int64_t, int64_t) {
      if (gettid() != self && getpriority(PRIO_PROCESS, 0) > normal) ++low;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    return Status();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(low, 0);
}

TEST(LoadThreads, WorkThatWaitsLetsOtherWorkRun) {
  LoadThreads threads(1);
  std::promise<void> other;
  const Status status = threads.Run([&] {
    threads.Post([&] { other.set_value(); });
    const LoadThreads::Waiting waiting("a test");
    const bool ran = other.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    threads.Cancel();
    return ran && waiting.cancelled() ? Status() : Unavailable("the other work does not run");
  });
  EXPECT_TRUE(status.ok()) << status.message();
  // One thread is left of the two.
  std::atomic<int> most{0}, now{0};
  for (int i = 0; i < 4; ++i)
    threads.Post([&] {
      most = std::max<int>(most, ++now);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      --now;
    });
  EXPECT_TRUE(threads.Run([] { return Status(); }).ok());
  EXPECT_EQ(most, 1);
}

TEST(LoadThreads, TheLogTellsWhatAllThreadsWaitFor) {
  LoadThreads threads(1, 2);
  std::promise<void> both, done;
  const auto go = done.get_future().share();
  testing::internal::CaptureStderr();
  threads.Post([&] {
    const LoadThreads::Waiting waiting("a trial of model 'a'");
    go.wait();
  });
  threads.Post([&] {
    const LoadThreads::Waiting waiting("a trial of model 'b'");
    both.set_value();
    go.wait();
  });
  both.get_future().wait();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("of 2 threads that load models, 2 wait, so that other models wait to be loaded: "
                     "a trial of model 'a' for 0 s, a trial of model 'b' for 0 s"),
            std::string::npos)
      << log;
  done.set_value();
  EXPECT_TRUE(threads.Run([] { return Status(); }).ok()) << "they go on";
}

}  // namespace
}  // namespace tern::server
