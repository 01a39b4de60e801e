// The hand-written kernels of the CPU.
#pragma once
#include "kernel_api/kernel_table.h"

namespace tern {

// Filled by the TERN_KERNELS functions of runtime/bind on first use.
const KernelTable& CpuKernels();

}  // namespace tern
