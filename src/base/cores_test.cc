#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tern::internal {
namespace {

TEST(Cores, OfQuota) {
  EXPECT_EQ(CoresOfQuota(200000, 100000), 2);
  EXPECT_EQ(CoresOfQuota(250000, 100000), 2);
  EXPECT_EQ(CoresOfQuota(50000, 100000), 1);
  EXPECT_EQ(CoresOfQuota(-1, 100000), 0);
  EXPECT_EQ(CoresOfQuota(0, 0), 0);
  EXPECT_EQ(CoresOfQuota(100000, 0), 0);
  EXPECT_EQ(CoresOfQuota(1e300, 1), 1000000);
}

class Groups : public testing::Test {
 protected:
  Groups() { root_ = std::filesystem::temp_directory_path() / ("tern_cores." + std::to_string(getpid())); }
  ~Groups() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  int Cores(const std::string& groups) { return CoresOfGroups(groups, root_.string()); }
  std::filesystem::path root_;
};

TEST_F(Groups, V2) {
  EXPECT_EQ(Cores("0::/a/b\n"), 0);
  Write("a/b/cpu.max", "max 100000");
  EXPECT_EQ(Cores("0::/a/b\n"), 0);
  Write("a/b/cpu.max", "400000 100000");
  EXPECT_EQ(Cores("0::/a/b\n"), 4);
  EXPECT_EQ(Cores("0::/a\n"), 0);
  Write("a/cpu.max", "150000 50000");  // the parent has a smaller quota
  EXPECT_EQ(Cores("0::/a/b\n"), 3);
}

TEST_F(Groups, V2InAContainer) {
  Write("cpu.max", "200000 100000");
  EXPECT_EQ(Cores("0::/\n"), 2);
  EXPECT_EQ(Cores("0::/docker/1234\n"), 2);
  EXPECT_EQ(Cores("0::/../..\n"), 2);
}

TEST_F(Groups, V1) {
  Write("cpu,cpuacct/x/cpu.cfs_quota_us", "-1");
  Write("cpu,cpuacct/x/cpu.cfs_period_us", "100000");
  const std::string groups = "5:cpuset:/x\n4:cpu,cpuacct:/x\n1:name=systemd:/x\n0::/x\n";
  EXPECT_EQ(Cores(groups), 0);
  Write("cpu,cpuacct/x/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(Cores(groups), 3);
  EXPECT_EQ(Cores("5:cpuset:/x\n"), 0);
  // Inside a container, the folder of the controller is "cpu" instead of "cpu,cpuacct".
  Write("cpu/cpu.cfs_quota_us", "100000");
  Write("cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Cores("3:cpu:/docker/1234\n"), 1);
}

TEST_F(Groups, Nonsense) {
  Write("a/cpu.max", "many");
  for (const char* groups :
       {"", "\n", "0", "0:", "0::", ":::::", "0::/a", "4:cpu", "4:cpu:", "4:,,cpu:/a/b/"})
    EXPECT_EQ(Cores(groups), 0) << groups;
}

// Runs CountCores in a child process that is pinned to `allowed` cores and has TERN_CORES set to `cores`. If
// `cores` is null, TERN_CORES is not set. Returns the count, plus 100 if CountCores reports a problem.
int InProcess(const char* cores, int allowed) {
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0, kept = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set) && ++kept > allowed) CPU_CLR(i, &set);
    sched_setaffinity(0, sizeof set, &set);
    if (cores)
      setenv("TERN_CORES", cores, 1);
    else
      unsetenv("TERN_CORES");
    const CoreCount found = CountCores();
    _exit(found.count + (*found.problem ? 100 : 0));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Cores, OfAffinity) { EXPECT_EQ(InProcess(nullptr, 1), 1); }

TEST(Cores, OfEnvironment) {
  EXPECT_EQ(InProcess("3", 1), 3);
  for (const char* wrong : {"", "0", "-1", "1025", "2 ", "two", "99999999999"})
    EXPECT_EQ(InProcess(wrong, 1), 101) << wrong;
}

}  // namespace
}  // namespace tern::internal
