// What the processor and the machine offer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tern {

struct CpuInfo {
  std::string model;  // "Intel(R) Xeon(R) …"; empty when the system does not say
  std::vector<std::string>
      features;     // of those that matter for kernels: sse4.2 avx avx2 fma f16c avx512f … neon
  std::string isa;  // the best instruction set among them: avx512_vnni, avx512, avx2, sse4.2, neon, scalar
  int cores = 1;    // UsableCores()
  int64_t memory_bytes = 0;
};

const CpuInfo& Cpu();

// Of the whole machine, in bytes; more than anybody needs when the system does not say.
size_t MachineMemory();

// The most memory this process has held so far, in bytes; 0 when the system does not say.
int64_t PeakMemory();
int64_t HeldMemory();  // now

}  // namespace tern
