#include "base/cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace tern {
namespace {

constexpr int kMaxCores = 1024;  // upper limit of UsableCores(); a larger TERN_CORES is invalid

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns how many cores the text "QUOTA PERIOD" allows, such as 2 for "200000 100000". Returns 0 if there is
// no limit; the quota is then "max" or -1.
int Limit(const std::string& quota_and_period) {
  double quota = 0, period = 0;
  std::istringstream text(quota_and_period);
  text >> quota >> period;
  return text ? internal::CoresOfQuota(quota, period) : 0;
}
int LimitOfV2(const std::string& folder) { return Limit(TextOf(folder + "/cpu.max")); }
int LimitOfV1(const std::string& folder) {
  return Limit(TextOf(folder + "/cpu.cfs_quota_us") + " " + TextOf(folder + "/cpu.cfs_period_us"));
}

int SmallerLimit(int a, int b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

// Returns the smallest limit of the control group `path` and of all its parents, or 0 if there is no limit.
// Also reads the limit of `root`. Inside a container, `path` may exist only on the host, and the files of the
// group are then in `root`.
int LimitAlong(const std::string& root, std::string path, int (*limit)(const std::string&)) {
  int cores = limit(root);
  while (!path.empty() && path != "/") {
    cores = SmallerLimit(cores, limit(root + path));
    const size_t end = path.rfind('/');
    path.resize(end == std::string::npos ? 0 : end);
  }
  return cores;
}

bool NamesCpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == "cpu") return true;
  return false;
}

// Counts the cores in the affinity mask of the main thread. The mask of the calling thread is not used,
// because a server may have pinned that thread.
int AllowedCores() {
  for (size_t sets = 1; sets <= 64; sets *= 2) {  // more than 1024 CPUs need more than one cpu_set_t
    std::vector<cpu_set_t> set(sets);
    const size_t bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(getpid(), bytes, set.data()) == 0) return CPU_COUNT_S(bytes, set.data());
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

namespace internal {

int CoresOfQuota(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return 0;
  return static_cast<int>(std::clamp(std::floor(quota / period), 1.0, 1e6));
}

int CoresOfGroups(const std::string& groups, const std::string& root) {
  int cores = 0;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "0::/path" or "4:cpu,cpuacct:/path"
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty())
      cores = SmallerLimit(cores, LimitAlong(root, path, LimitOfV2));
    else if (NamesCpu(controllers))
      for (const std::string& folder : {root + "/" + controllers, root + "/cpu"})
        cores = SmallerLimit(cores, LimitAlong(folder, path, LimitOfV1));
  }
  return cores;
}

CoreCount CountCores() {
  CoreCount cores;
  if (const char* text = std::getenv("TERN_CORES")) {
    const char* end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, cores.count);
    if (read.ec == std::errc() && read.ptr == end && cores.count >= 1 && cores.count <= kMaxCores)
      return cores;
    cores.problem = "TERN_CORES is not a number from 1 to 1024";
  }
  const int quota = CoresOfGroups(TextOf("/proc/self/cgroup"), "/sys/fs/cgroup");
  cores.count = std::clamp(SmallerLimit(AllowedCores(), quota), 1, kMaxCores);
  return cores;
}

}  // namespace internal

static const internal::CoreCount& Cores() {
  static const internal::CoreCount cores = internal::CountCores();
  return cores;
}

int UsableCores() { return Cores().count; }
const char* CoresProblem() { return Cores().problem; }

}  // namespace tern
