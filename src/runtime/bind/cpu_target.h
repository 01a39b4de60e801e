// The CPU as a target.
#pragma once
#include "kernel_api/target.h"

namespace tern {

// isa() describes the active instruction set. fast_bf16() is measured once per process (cpu::Bf16Pays).
// `kernels` and `tables` replace the hand-written kernels.
class CpuTarget : public Target {
 public:
  CpuTarget();
  explicit CpuTarget(const KernelTable& kernels) : CpuTarget(std::vector<const KernelTable*>{&kernels}) {}
  explicit CpuTarget(std::vector<const KernelTable*> tables);
  // `others` are devices that plans prefer to the CPU.
  explicit CpuTarget(std::vector<Device> others, std::vector<const KernelTable*> tables);

  std::string isa() const override;
  bool fast_bf16() const override;
};

// Returns the CPU with the hand-written kernels.
const Target& DefaultTarget();
// Returns the CPU without kernels, so that the reference evaluator runs every node.
const Target& ReferenceTarget();

}  // namespace tern
