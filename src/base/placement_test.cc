#include "base/placement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <thread>

namespace tern {
namespace {

const std::vector<int> kFourCores{0, 1, 2, 3, 0, 1, 2, 3};  // two CPUs each

TEST(CpuUsers, AloneStays) {
  CpuUsers users(kFourCores);
  users.Enter(5);
  EXPECT_EQ(users.Choose(5), 5);
}

// Threads that start on one CPU spread over the cores before they use siblings.
TEST(CpuUsers, SpreadOverCores) {
  CpuUsers users(kFourCores);
  users.Enter(1);  // a caller, which is never moved
  std::set<int> cores{1}, cpus{1};
  for (int i = 0; i < 3; ++i) {
    users.Enter(1);
    const int cpu = users.Choose(1);
    EXPECT_TRUE(cores.insert(kFourCores[static_cast<size_t>(cpu)]).second) << "core of CPU " << cpu;
    cpus.insert(cpu);
  }
  for (int i = 0; i < 4; ++i) {
    users.Enter(1);
    const int cpu = users.Choose(1);
    EXPECT_TRUE(cpus.insert(cpu).second) << "CPU " << cpu;
  }
}

TEST(CpuUsers, LeavesACoreThatACallerEnters) {
  CpuUsers users(kFourCores);
  users.Enter(2);
  ASSERT_EQ(users.Choose(2), 2);
  users.Enter(6);  // a caller on the other CPU of the core
  const int cpu = users.Choose(2);
  EXPECT_NE(kFourCores[static_cast<size_t>(cpu)], 2);
  users.Leave(6);
  EXPECT_EQ(users.Choose(cpu), cpu);
}

// If all cores are taken, a thread shares a core, but no CPU.
TEST(CpuUsers, StaysWhereMovingDoesNotHelp) {
  CpuUsers users(kFourCores);
  for (int i = 0; i < 8; ++i) users.Enter(i);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(users.Choose(i), i);
  users.Enter(3);
  EXPECT_EQ(users.Choose(3), 3);
}

TEST(CpuUsers, ManyThreadsAtOnce) {
  CpuUsers users(kFourCores);
  std::vector<std::thread> threads;
  std::vector<int> at(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&users, &cpu = at[static_cast<size_t>(t)]] {
      users.Enter(0);
      for (int i = 0; i < 1000; ++i) cpu = users.Choose(cpu);
    });
  for (std::thread& thread : threads) thread.join();
  for (int& cpu : at) cpu = users.Choose(cpu);
  std::set<int> cores;
  for (const int cpu : at) cores.insert(kFourCores[static_cast<size_t>(cpu)]);
  EXPECT_EQ(cores.size(), 4u);
}

TEST(Placement, ProblemOfTheVariable) {
  for (const char* right : {"0", "1"}) {
    setenv("TERN_PIN", right, 1);
    EXPECT_STREQ(PinProblem(), "");
  }
  setenv("TERN_PIN", "yes", 1);
  EXPECT_STREQ(PinProblem(), "TERN_PIN is neither 0 nor 1");
  unsetenv("TERN_PIN");
  EXPECT_STREQ(PinProblem(), "");
}

}  // namespace
}  // namespace tern
