// The number of cores that this process may use.
#pragma once
#include <string>

namespace tern {

// Returns the value of the environment variable TERN_CORES. If it is unset or invalid, returns the number of
// cores in the affinity mask of the main thread (taskset, cpusets), limited by the CPU quota of the control
// group. The result is at least 1 and is computed once.
int UsableCores();

// Returns the error in TERN_CORES as text; empty if there is none.
const char* CoresProblem();

namespace internal {

struct CoreCount {
  int count = 1;
  const char* problem = "";
};
CoreCount CountCores();  // computed again at each call

// Returns how many cores a CPU quota allows; 0 if there is no limit. A limit is rounded down, because a
// process that exceeds its quota is stopped until the period ends. A limit is at least 1.
int CoresOfQuota(double quota, double period);

// Returns the smallest CPU quota of the given control groups and their parents, in cores; 0 if there is none.
// groups: the text of /proc/self/cgroup. root: the mount point of the control groups, /sys/fs/cgroup.
int CoresOfGroups(const std::string& groups, const std::string& root);

}  // namespace internal
}  // namespace tern
