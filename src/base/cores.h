// The number of cores that this process may use.
#pragma once
#include <string>

namespace tern {

// The value of the environment variable TERN_CORES. If it is unset or invalid: the number of cores in the
// affinity mask of the main thread (taskset, cpusets), limited by the CPU quota of the control group. At
// least 1. Computed once.
int UsableCores();

// The error in TERN_CORES as text; empty if there is none.
const char* CoresProblem();

namespace internal {

struct CoreCount {
  int count = 1;
  const char* problem = "";
};
CoreCount CountCores();  // computed at each call

// Cores that a CPU quota pays for, rounded down but at least 1: a process that exceeds its quota is stopped
// for the rest of the period. 0: no limit.
int CoresOfQuota(double quota, double period);

// The smallest CPU quota of the given control groups and their parents, in cores; 0: no limit. groups: the
// text of /proc/self/cgroup. root: the mount point of the control groups, /sys/fs/cgroup.
int CoresOfGroups(const std::string& groups, const std::string& root);

}  // namespace internal
}  // namespace tern
