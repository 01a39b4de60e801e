// The hand-written kernels of the CPU.
#pragma once
#include "kernel_api/kernel_table.h"

namespace tern {

// Returns the table of these kernels. The TERN_KERNELS functions of runtime/bind fill it on first use.
const KernelTable& CpuKernels();
// Adds these kernels to another table. The build generates this function.
void CollectKernels(KernelTable& table);

}  // namespace tern
