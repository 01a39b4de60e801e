// The hand-written kernels of the CPU.
#pragma once
#include "kernel_api/kernel_table.h"

namespace tern {

// The TERN_KERNELS functions of runtime/bind fill the table on first use.
const KernelTable& CpuKernels();

}  // namespace tern
