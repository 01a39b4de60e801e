// Compares the answers of ops (ir/op_answers.h) with the registered kernels.
#include <string_view>

#include "runtime/bind/cpu_kernels.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

bool SaysNoKernel(const char* reason) { return reason && std::string_view(reason) == kNoKernel.reason; }

// Only ops without kernels may answer kNoKernel, because plans never query these ops.
TEST(OpAnswers, OpsWithKernelsDoNotSayThatTheyHaveNone) {
  InitOps();
  for (const OpDef* op : AllOps()) {
    if (CpuKernels().Of(op->name).empty()) continue;
    EXPECT_FALSE(SaysNoKernel(op->flops.reason()) || SaysNoKernel(op->batch.reason()) ||
                 SaysNoKernel(op->axis_map.reason()))
        << "op " << op->name << " has kernels and answers kNoKernel in src/ops/" << op->family;
  }
}

}  // namespace
}  // namespace tern
