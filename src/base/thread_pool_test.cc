#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace tern {
namespace {

TEST(ThreadPool, VisitsEachIndexOnce) {
  for (int threads : {1, 2, 5, 20}) {
    const Workers workers(threads);
    for (int64_t n : {0, 1, 7, 1000, 4099}) {
      for (int64_t grain : {1, 16, 5000}) {
        std::vector<std::atomic<int>> hits(static_cast<size_t>(n));
        workers.ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) hits[static_cast<size_t>(i)].fetch_add(1);
        });
        for (const auto& h : hits) ASSERT_EQ(h.load(), 1);
      }
    }
  }
}

TEST(ThreadPool, PiecesAreAtLeastAGrain) {
  Workers(4).ParallelFor(1003, 100, [](int64_t begin, int64_t end) {
    EXPECT_TRUE(end - begin >= 100 || end == 1003) << begin << " " << end;
  });
}

TEST(ThreadPool, WorkerNumbersAreExclusive) {
  const Workers workers(3);
  std::atomic<int> busy[3] = {};
  workers.ParallelFor(3000, 1, [&](int64_t, int64_t, int worker) {
    ASSERT_GE(worker, 0);
    ASSERT_LT(worker, 3);
    EXPECT_EQ(busy[worker].fetch_add(1), 0);
    busy[worker].fetch_sub(1);
  });
}

TEST(ThreadPool, NestedRunsInline) {
  std::atomic<int> total{0};
  const Workers workers(4);
  workers.ParallelFor(8, 1, [&](int64_t begin, int64_t end) {
    const auto me = std::this_thread::get_id();
    workers.ParallelFor(100 * (end - begin), 1, [&](int64_t b, int64_t e) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      total.fetch_add(static_cast<int>(e - b));
    });
  });
  EXPECT_EQ(total.load(), 800);
}

TEST(ThreadPool, ManyCallersShareIt) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      const Workers workers(3);
      for (int round = 0; round < 200; ++round)
        workers.ParallelFor(64, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum.load(), 6 * 200 * 64);
}

// Threads fall asleep between some of these loops, and miss others.
TEST(ThreadPool, LoopsAtAnyDistance) {
  const Workers workers(3);
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 300; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(round % 10 == 0 ? 1000 : round % 7 * 10));
    for (int loop = 0; loop < round % 5; ++loop)
      workers.ParallelFor(round % 13 + 1, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
  }
  int64_t expected = 0;
  for (int round = 0; round < 300; ++round) expected += round % 5 * (round % 13 + 1);
  EXPECT_EQ(sum.load(), expected);
}

// Threads that wait for work cost next to nothing soon after the last of it.
TEST(ThreadPool, RestsBetweenRequests) {
  const Workers workers(4);
  for (int i = 0; i < 20; ++i) workers.ParallelFor(64, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::clock_t before = std::clock();  // of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.005);
}

}  // namespace
}  // namespace tern
