// The number of cores that this process may use.
#pragma once
#include <string>

namespace tern {

// Returns the value of the environment variable TERN_CORES. If it is unset or invalid, returns the number of
// cores in the affinity mask of the main thread (taskset, cpusets), limited by the CPU quota of the control
// group. The result is from 1 to 1024 and is computed once.
int UsableCores();

// Says what is wrong with the value of TERN_CORES. Returns "" if the variable is valid or not set.
const char* CoresProblem();

namespace internal {

struct CoreCount {
  int count = 1;
  const char* problem = "";
};
CoreCount CountCores();  // computes UsableCores() and CoresProblem() again

// Returns how many cores correspond to `quota` microseconds of CPU time in each `period` microseconds. The
// result is rounded down, but is at least 1. It is not rounded up: if a process exceeds its quota, the system
// stops the process until the period ends. If `quota` or `period` is not positive, there is no limit, and the
// result is 0.
int CoresOfQuota(double quota, double period);

// Returns the smallest CPU quota of the given control groups and their parents, in cores; 0 if there is none.
// `groups` is the text of /proc/self/cgroup. `root` is the mount point of the control groups, usually
// /sys/fs/cgroup.
int CoresOfGroups(const std::string& groups, const std::string& root);

}  // namespace internal
}  // namespace tern
