// Properties of the processor and the machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tern {

struct CpuInfo {
  std::string model;                  // "Intel(R) Xeon(R) …"; empty if unknown
  std::vector<std::string> features;  // instruction sets of the CPU: sse4.2 avx avx2 fma avx512f … neon
  int cores = 1;                      // UsableCores()
  int64_t memory_bytes = 0;
};

const CpuInfo& Cpu();

// Returns the physical memory of the machine in bytes; SIZE_MAX / 4 if unknown.
size_t MachineMemory();

// Return the peak and the current resident memory of this process in bytes; 0 if unknown.
int64_t PeakMemory();
int64_t ResidentMemory();

}  // namespace tern
