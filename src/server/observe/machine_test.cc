#include "server/observe/machine.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

TEST(Machine, ParsesTheFirstLineOfStat) {
  const CpuTicks t = ParseCpuTicks("cpu  10 1 5 100 20 2 3 4 9 9\ncpu0 1 1 1 1 1 1 1 1\n");
  EXPECT_EQ(t.total, 145u);
  EXPECT_EQ(t.busy, 25u);
}

TEST(Machine, ToleratesDamagedText) {
  EXPECT_EQ(ParseCpuTicks("").total, 0u);
  EXPECT_EQ(ParseCpuTicks("cpu  x y").total, 0u);
  EXPECT_EQ(ParseCpuTicks("cpu  1 2").busy, 3u);
  EXPECT_EQ(ParseMemory("MemTotal:\nMemAvailable: 7 kB").total, 0u);
  EXPECT_EQ(ParseMemory("MemTotal:\nMemAvailable: 7 kB").available, 7168u);
}

TEST(Machine, UtilizationIsAShare) {
  EXPECT_DOUBLE_EQ(Utilization({10, 100}, {60, 200}), 0.5);
  EXPECT_EQ(Utilization({10, 100}, {10, 100}), 0);
  EXPECT_EQ(Utilization({10, 100}, {5, 200}), 0);
}

TEST(Machine, KnowsThisProcess) {
  const ProcessFacts facts = ThisProcess();
  EXPECT_GT(facts.resident_bytes, 100'000u);
  EXPECT_GE(facts.virtual_bytes, facts.resident_bytes);
  EXPECT_GE(facts.threads, 1);
  EXPECT_GE(facts.open_files, 1u);
  EXPECT_GT(MachineMemory().total, MachineMemory().available);
  EXPECT_GT(MachineTicks().total, 0u);
}

}  // namespace
}  // namespace tern::server
