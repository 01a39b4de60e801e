// How many cores this process may keep busy.
#pragma once
#include <string>

namespace tern {

// TERN_CORES of the environment. Without it, or where it is wrong: the cores that the process's main thread
// may run on (taskset, cpusets), or the CPU quota of its control group where that is less. At least 1. Looked
// up once.
int UsableCores();

// What is wrong with TERN_CORES; empty when nothing is.
const char* CoresProblem();

namespace internal {

struct CoreCount {
  int count = 1;
  const char* problem = "";
};
CoreCount CountCores();  // now

// Whole cores in a quota: a process beyond its quota is stopped for the rest of the period, so a part of a
// core is none, but for the first. 0: no limit.
int CoresOfQuota(double quota, double period);

// The least quota of a process's control groups and those around them, in cores; 0: no limit. groups: as in
// /proc/self/cgroup. root: where the file systems of control groups are mounted, /sys/fs/cgroup.
int CoresOfGroups(const std::string& groups, const std::string& root);

}  // namespace internal
}  // namespace tern
