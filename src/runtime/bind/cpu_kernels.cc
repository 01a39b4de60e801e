#include "runtime/bind/cpu_kernels.h"

#include "runtime/cost/cost_model.h"

namespace tern {

const KernelTable& CpuKernels() {
  static const KernelTable* table = [] {
    auto* t = new KernelTable(CpuRates());
    CollectKernels(*t);
    return t;
  }();
  return *table;
}

}  // namespace tern
