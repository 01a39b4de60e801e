#include "base/topology.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

namespace tern {
namespace {

constexpr int kMaxCpus = 4096;

// Returns the CPUs in the affinity mask of the main thread; none if the mask cannot be read.
std::vector<int> AllowedCpus() {
  std::vector<cpu_set_t> set(kMaxCpus / CPU_SETSIZE);
  const size_t bytes = set.size() * sizeof(cpu_set_t);
  std::vector<int> cpus;
  if (sched_getaffinity(getpid(), bytes, set.data()) != 0) return cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu)
    if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.data())) cpus.push_back(cpu);
  return cpus;
}

// Returns whether the processor says that it is a virtual one.
bool InVirtualMachine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("flags", 0) == 0) return line.find(" hypervisor") != std::string::npos;
  return false;
}

bool EachIsACore(const Topology& cpus) {
  std::map<int, int> count;
  for (const CpuOfCore& c : cpus)
    if (++count[c.core] > 1) return false;
  return true;
}

FoundTopology FindTopology() {
  const std::vector<int> cpus = AllowedCpus();
  const Topology shown = internal::TopologyFrom("/sys/devices/system/cpu", cpus);
  if (cpus.size() <= 2 || !EachIsACore(shown) || !InVirtualMachine()) return {shown, false};
  internal::CoreProbe probe;
  const Topology measured =
      internal::MeasuredTopology(cpus, [&](int cpu, int other) { return probe.Shares(cpu, other); });
  return {measured, !EachIsACore(measured)};
}

}  // namespace

const FoundTopology& TheTopology() {
  static const FoundTopology* topology = new FoundTopology(FindTopology());
  return *topology;
}

namespace internal {

void SpreadOverCores(Topology& cpus) {
  std::map<int, int> count;
  std::vector<std::tuple<int, int, int>> keys;  // position within the core, CPU, core
  for (const CpuOfCore& c : cpus) keys.emplace_back(count[c.core]++, c.cpu, c.core);
  std::sort(keys.begin(), keys.end());
  for (size_t i = 0; i < cpus.size(); ++i) cpus[i] = {std::get<1>(keys[i]), std::get<2>(keys[i])};
}

Topology TopologyFrom(const std::string& root, const std::vector<int>& cpus) {
  Topology out;
  for (const int cpu : cpus) {
    // The list begins with the lowest CPU of the core: "3,11" or "6-7".
    std::ifstream file(root + "/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    int first = cpu;
    out.push_back({cpu, file >> first ? first : cpu});
  }
  SpreadOverCores(out);
  return out;
}

Topology MeasuredTopology(const std::vector<int>& cpus, const SharesCore& shares) {
  const size_t n = cpus.size();
  std::vector<size_t> partner(n, n);
  size_t distance = n % 2 == 0 ? n / 2 : 1;  // from a CPU to its partner, as a first guess
  const auto pair = [&](size_t i, size_t j) {
    if (j >= n || j == i || partner[j] != n || !shares(cpus[i], cpus[j])) return false;
    partner[i] = j, partner[j] = i;
    distance = j - i;
    return true;
  };
  Topology alone;
  for (const int cpu : cpus) alone.push_back({cpu, cpu});
  for (size_t i = 0; i < n; ++i) {
    if (partner[i] != n || pair(i, i + distance)) continue;
    size_t j = i + 1;
    while (j < n && !pair(i, j)) ++j;
    if (j == n) return alone;
  }
  Topology out;
  for (size_t i = 0; i < n; ++i) out.push_back({cpus[i], cpus[std::min(i, partner[i])]});
  SpreadOverCores(out);
  return out;
}

}  // namespace internal
}  // namespace tern
