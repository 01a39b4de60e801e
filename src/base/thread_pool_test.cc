#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/cores.h"
#include "base/idle_scope.h"
#include "base/test_support.h"

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

TEST(ThreadPool, ChunksAreAtLeastAGrain) {
  for (int64_t n : {101, 1003, 100000})
    Workers(4).ParallelFor(n, 100, [&](int64_t begin, int64_t end) {
      EXPECT_TRUE(begin % 100 == 0 && (end - begin >= 100 || end == n)) << begin << " " << end;
    });
}

// Parts differ by at most one grain: 14 grains for two threads are 7 and 7, never 8 and 6.
TEST(ThreadPool, PartsAreEven) {
  for (int threads : {2, 3, 5})
    for (int64_t n : {6, 9, 14, 15, 17, 27, 100, 1001}) {
      std::vector<std::atomic<int>> ends(static_cast<size_t>(n + 1));
      Workers(threads).ParallelFor(n, 1, [&](int64_t, int64_t end) { ends[static_cast<size_t>(end)] = 1; });
      for (int i = 1; i <= threads; ++i)
        EXPECT_EQ(ends[static_cast<size_t>(n * i / threads)].load(), 1)
            << n << " for " << threads << ", " << i;
    }
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

// The pauses between these loops differ. During long pauses pool threads fall asleep, and short loops end
// before a pool thread joins.
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

TEST(ThreadPool, NoMoreThreadsThanCores) {
  EXPECT_EQ(Workers(0).threads(), UsableCores());
  EXPECT_EQ(Workers(UsableCores() + 1).threads(), UsableCores());
  EXPECT_EQ(Workers(1 << 30).threads(), UsableCores());
  EXPECT_EQ(Workers(-1).threads(), 1);
}

int ThreadsOf(const Workers& workers) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  workers.ParallelFor(64, 1, [&](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::lock_guard<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return static_cast<int>(seen.size());
}

TEST(ThreadPool, NoThreadHelpsWhileCallersHaveAllCores) {
  const Workers workers(4);
  ThreadsOf(workers);  // starts the pool's threads
  {
    BusyThreads busy_threads;
    busy_threads.Start(UsableCores());
    for (int i = 0; i < 20; ++i) ASSERT_EQ(ThreadsOf(workers), 1);
  }
  int most = 0;
  for (int i = 0; i < 100 && most < 2; ++i) most = std::max(most, ThreadsOf(workers));
  EXPECT_GE(most, 2) << "no helper joined after the cores were free again";
}

TEST(ThreadPool, OnlyAsManyHelpAsCoresAreFree) {
  BusyThreads busy_threads;
  busy_threads.Start(UsableCores() - 2);
  for (int i = 0; i < 20; ++i) EXPECT_LE(ThreadsOf(Workers(4)), 2);
}

// When other threads need the core of a helper, the helper finishes its current chunk and leaves the loop.
TEST(ThreadPool, HelpersLeave) {
  const Workers workers(2);
  const auto me = std::this_thread::get_id();
  BusyThreads busy_threads;
  std::atomic<int> joined{0}, late{0};
  std::atomic<bool> full{false};
  for (int i = 0; i < 100 && !full.load(); ++i)
    workers.ParallelFor(400, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != me) {
        joined.fetch_add(1);
        if (full.load()) late.fetch_add(1);
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        return;
      }
      for (int wait = 0; wait < 100 && joined.load() == 0; ++wait)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (joined.load() == 0 || full.load()) return std::this_thread::sleep_for(std::chrono::milliseconds(2));
      busy_threads.Start(UsableCores());
      full.store(true);
    });
  ASSERT_TRUE(full.load()) << "no helper ever joined";
  EXPECT_LE(late.load(), 1);
}

// An IdleScope frees the core of its thread, also inside nested ActiveScopes.
TEST(ThreadPool, CallersThatWaitTakeNoCores) {
  const Workers workers(2);
  std::atomic<int> idle{0};
  std::atomic<bool> wake{false}, end{false};
  std::vector<std::thread> callers;
  for (int t = 0; t < UsableCores(); ++t)
    callers.emplace_back([&] {
      const ActiveScope active_scope, nested;
      {
        const IdleScope idle_scope;
        idle.fetch_add(1);
        while (!wake.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      idle.fetch_sub(1);
      while (!end.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  while (idle.load() < UsableCores()) std::this_thread::yield();
  int most = 0;
  for (int i = 0; i < 100 && most < 2; ++i) most = std::max(most, ThreadsOf(workers));
  wake.store(true);
  while (idle.load() > 0) std::this_thread::yield();
  const int with_all_active = ThreadsOf(workers);
  end.store(true);
  for (std::thread& caller : callers) caller.join();
  EXPECT_GE(most, 2) << "no thread helped";
  EXPECT_EQ(with_all_active, 1);
}

// 10 ms after the last loop, all pool threads sleep and use almost no CPU time.
TEST(ThreadPool, RestsBetweenRequests) {
  const Workers workers(4);
  for (int i = 0; i < 20; ++i) workers.ParallelFor(64, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::clock_t before = std::clock();  // CPU time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.005);
}

}  // namespace
}  // namespace tern
