// Which CPUs this process may use, and which of them share a physical core.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace tern {

struct CpuOfCore {
  int cpu = 0;   // the number of the CPU in the system
  int core = 0;  // CPUs with the same number are hyperthreads of one core
};
// All CPUs in the affinity mask of the main thread. The first CPU of each core comes first, then the second
// of each core, and so on.
using Topology = std::vector<CpuOfCore>;

struct FoundTopology {
  Topology cpus;
  bool hidden = false;  // CPUs share cores, but the system does not show it
};
// Computed at the first call. If a virtual machine shows each CPU as a core of its own, measures which CPUs
// share a core. This takes about 0.2 ms per CPU, more if the machine is busy.
const FoundTopology& TheTopology();

namespace internal {

// Returns the CPUs with their cores as the system shows them. `root` is usually /sys/devices/system/cpu. A
// CPU whose files are missing is a core of its own.
Topology TopologyFrom(const std::string& root, const std::vector<int>& cpus);

// Returns whether two CPUs share a core.
using SharesCore = std::function<bool(int cpu, int other)>;
// Finds out, with few calls of `shares`, which pairs of CPUs share a core. If the first CPU shares its core
// with no other CPU, no CPU does. If the pairs do not cover all CPUs, the answers contradict each other, and
// each CPU counts as a core.
Topology MeasuredTopology(const std::vector<int>& cpus, const SharesCore& shares);

// Orders the CPUs as in Topology.
void SpreadOverCores(Topology& cpus);

// Runs a loop of multiplications on both CPUs at the same time and compares its speed with the speed on one
// CPU. Other programs slow some runs down, so Shares returns true only if all of several runs are slow on
// both CPUs.
class CoreProbe {
 public:
  CoreProbe();
  bool Shares(int cpu, int other);

 private:
  double alone_;  // nanoseconds of the loop on an undisturbed CPU
};

}  // namespace internal
}  // namespace tern
