#include "base/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace tern::internal {
namespace {

std::vector<int> CpusOf(const Topology& topology) {
  std::vector<int> out;
  for (const CpuOfCore& c : topology) out.push_back(c.cpu);
  return out;
}
std::vector<int> CoresOf(const Topology& topology) {
  std::vector<int> out;
  for (const CpuOfCore& c : topology) out.push_back(c.core);
  return out;
}
using List = std::vector<int>;

class Siblings : public testing::Test {
 protected:
  Siblings() { root_ = std::filesystem::temp_directory_path() / ("tern_cpus." + std::to_string(getpid())); }
  ~Siblings() override { std::filesystem::remove_all(root_); }
  void Write(int cpu, const std::string& list) {
    const auto folder = root_ / ("cpu" + std::to_string(cpu)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "thread_siblings_list") << list << "\n";
  }
  std::filesystem::path root_;
};

TEST_F(Siblings, OneCpuOfEachCoreComesFirst) {
  for (int i = 0; i < 4; ++i) Write(i, std::to_string(i / 2 * 2) + "-" + std::to_string(i / 2 * 2 + 1));
  const Topology found = TopologyFrom(root_.string(), {0, 1, 2, 3});
  EXPECT_EQ(CpusOf(found), (List{0, 2, 1, 3}));
  EXPECT_EQ(CoresOf(found), (List{0, 2, 0, 2}));
}

// A cpuset may contain only the second CPU of a core.
TEST_F(Siblings, OnlyAllowedCpus) {
  for (int i = 0; i < 8; ++i) Write(i, std::to_string(i % 4) + "," + std::to_string(i % 4 + 4));
  const Topology found = TopologyFrom(root_.string(), {1, 2, 5, 7});
  EXPECT_EQ(CpusOf(found), (List{1, 2, 7, 5}));
  EXPECT_EQ(CoresOf(found), (List{1, 2, 3, 1}));
}

TEST_F(Siblings, WithoutFilesEachCpuIsACore) {
  Write(3, "nonsense");
  EXPECT_EQ(CoresOf(TopologyFrom(root_.string(), {3, 5})), (List{3, 5}));
}

struct Case {
  int cpus;
  int (*core)(int cpu);
  int most;  // calls
};

TEST(MeasuredTopology, FindsPairsWithFewCalls) {
  const Case cases[] = {{16, [](int i) { return i % 8; }, 8},   // siblings are half of all CPUs apart
                        {16, [](int i) { return i / 2; }, 10},  // neighbours
                        {64, [](int i) { return i; }, 64},      // none
                        {64, [](int i) { return i / 2; }, 36},
                        {12, [](int i) { return i < 6 ? i : 11 - i; }, 40}};
  for (const Case& c : cases) {
    List cpus(static_cast<size_t>(c.cpus));
    std::iota(cpus.begin(), cpus.end(), 100);
    int calls = 0;
    const Topology found = MeasuredTopology(cpus, [&](int a, int b) {
      ++calls;
      return c.core(a - 100) == c.core(b - 100);
    });
    EXPECT_LE(calls, c.most) << c.cpus;
    ASSERT_EQ(found.size(), cpus.size());
    for (const CpuOfCore& a : found)
      for (const CpuOfCore& b : found)
        EXPECT_EQ(a.core == b.core, c.core(a.cpu - 100) == c.core(b.cpu - 100)) << a.cpu << " " << b.cpu;
  }
}

// A busy machine makes one pair look like a core. The other CPUs then have no partner.
TEST(MeasuredTopology, ContradictionsMeanNoSiblings) {
  const auto shares = [](int a, int b) { return a == 0 && b == 2; };
  EXPECT_EQ(CoresOf(MeasuredTopology({0, 1, 2, 3, 4, 5}, shares)), (List{0, 1, 2, 3, 4, 5}));
}

TEST(CoreProbe, ForbiddenCpusShareNoCore) {
  CoreProbe probe;
  EXPECT_FALSE(probe.Shares(4094, 4095));
}

TEST(TheTopology, HasCpus) {
  const FoundTopology& found = TheTopology();
  ASSERT_FALSE(found.cpus.empty());
  EXPECT_EQ(&found, &TheTopology());
}

}  // namespace
}  // namespace tern::internal
