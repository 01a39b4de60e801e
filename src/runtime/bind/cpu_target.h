// The CPU as a target.
#pragma once
#include "kernel_api/target.h"

namespace tern {

// For the instruction set that is active when it is asked. `kernels`: in place of the hand-written ones.
class CpuTarget : public Target {
 public:
  CpuTarget();
  explicit CpuTarget(const KernelTable& kernels) : CpuTarget(std::vector<const KernelTable*>{&kernels}) {}
  explicit CpuTarget(std::vector<const KernelTable*> tables);
  // With other devices before the CPU.
  explicit CpuTarget(std::vector<Device> others, std::vector<const KernelTable*> tables);

  std::string isa() const override;
  bool fast_bf16() const override;
};

// With the hand-written kernels.
const Target& DefaultTarget();
// With no kernels at all: every node runs by its reference evaluator.
const Target& ReferenceTarget();

}  // namespace tern
