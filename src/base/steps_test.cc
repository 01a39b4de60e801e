#include "base/steps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/cores.h"
#include "base/test_support.h"

namespace tern {
namespace {

// The variables are not atomic, so the test passes only if every step sees the writes of the previous step.
TEST(Steps, EachSeesTheOneBefore) {
  for (int threads : {1, 2, 3, 7})
    for (int chunks : {1, 2, 3, 5, kMaxStepChunks}) {
      const int64_t steps = 50;
      std::vector<std::vector<int64_t>> sums(2, std::vector<int64_t>(static_cast<size_t>(chunks), 1));
      ParallelSteps(Workers(threads), steps, chunks, [&](int64_t step, int chunk) {
        int64_t sum = 0;
        for (int64_t v : sums[static_cast<size_t>(step % 2)]) sum = (sum + v) % 1000003;
        sums[static_cast<size_t>((step + 1) % 2)][static_cast<size_t>(chunk)] = sum;
      });
      int64_t expected = 1;
      for (int64_t i = 0; i < steps; ++i) expected = expected * chunks % 1000003;
      for (int64_t v : sums[0]) ASSERT_EQ(v, expected) << threads << " threads, " << chunks << " chunks";
    }
}

TEST(Steps, NoStepsOrNoChunks) {
  const auto never = [](int64_t, int) { ADD_FAILURE(); };
  ParallelSteps(Workers(3), 0, 4, never);
  ParallelSteps(Workers(3), 4, 0, never);
}

// Inside another parallel loop, one thread runs all chunks of all steps.
TEST(Steps, Nested) {
  std::atomic<int> total{0};
  const Workers workers(3);
  workers.ParallelFor(6, 1, [&](int64_t begin, int64_t end) {
    const auto me = std::this_thread::get_id();
    for (; begin < end; ++begin)
      ParallelSteps(workers, 20, 3, [&](int64_t, int) {
        EXPECT_EQ(std::this_thread::get_id(), me);
        total.fetch_add(1);
      });
  });
  EXPECT_EQ(total.load(), 6 * 20 * 3);
}

// Five callers compete for the cores, so that some threads never join a loop and others lose their core.
TEST(Steps, ManyCallers) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> wrong{0};
  for (int t = 0; t < 5; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        std::atomic<int64_t> count{0};
        ParallelSteps(Workers(4), 100, 4, [&](int64_t step, int) {
          const int64_t before = count.fetch_add(1);
          if (before < step * 4 || before >= (step + 1) * 4) wrong.fetch_add(1);
        });
        if (count.load() != 400) wrong.fetch_add(1);
      }
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

// Once other threads occupy all cores, the caller runs every chunk.
TEST(Steps, HelpersLeave) {
  constexpr int64_t kSteps = 200, kFull = 100;
  const auto me = std::this_thread::get_id();
  BusyThreads busy_threads;
  std::atomic<int> helped{0}, late{0}, calls{0};
  ParallelSteps(Workers(3), kSteps, 6, [&](int64_t step, int chunk) {
    calls.fetch_add(1);
    if (step == kFull && chunk == 0) busy_threads.Start(UsableCores());
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (std::this_thread::get_id() != me) (step <= kFull ? helped : late).fetch_add(1);
  });
  EXPECT_EQ(calls.load(), kSteps * 6);
  EXPECT_EQ(late.load(), 0);
  EXPECT_GT(helped.load(), 0);
}

// A helper of a ParallelFor loop calls ParallelSteps. Other threads then need its core. The helper must
// finish all steps before it leaves the loop.
TEST(Steps, NestedOnesAreFinished) {
  const auto me = std::this_thread::get_id();
  BusyThreads busy_threads;
  std::atomic<int> calls{0}, helping{0};
  Workers(2).ParallelFor(2, 1, [&](int64_t, int64_t) {
    const bool helper = std::this_thread::get_id() != me;
    if (helper) helping.fetch_add(1);
    for (int wait = 0; !helper && helping.load() == 0 && wait < 2000; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ParallelSteps(Workers(2), 20, 4, [&](int64_t step, int chunk) {
      if (helper && step == 2 && chunk == 0) busy_threads.Start(UsableCores());
      calls.fetch_add(1);
    });
  });
  EXPECT_EQ(calls.load(), 2 * 20 * 4);
  EXPECT_GT(helping.load(), 0);
}

}  // namespace
}  // namespace tern
