// Processor time and memory of the machine and of this process, from /proc.
#pragma once
#include <cstdint>
#include <string_view>

namespace tern::server {

struct CpuTicks {
  uint64_t busy = 0, total = 0;
};

struct MemoryBytes {
  uint64_t total = 0, available = 0;
};

// These functions parse the text of /proc/stat and /proc/meminfo. A missing field is 0.
CpuTicks ParseCpuTicks(std::string_view stat);
MemoryBytes ParseMemory(std::string_view meminfo);

CpuTicks MachineTicks();
MemoryBytes MachineMemory();

// Returns the share of time in which the processors were busy between two samples, from 0 to 1.
double Utilization(const CpuTicks& before, const CpuTicks& now);

struct ProcessFacts {
  double cpu_seconds = 0;
  uint64_t resident_bytes = 0, virtual_bytes = 0;
  uint64_t open_files = 0, max_files = 0;
  int threads = 0;
};
ProcessFacts ThisProcess();
// Returns the resident memory of a process, or 0 if there is no such process.
uint64_t ResidentBytes(int64_t pid);

}  // namespace tern::server
