#include "generate/generate.h"

#include <mutex>

#include "ir/op_execution.h"
#include "ops/ops.h"

namespace tern {

void InitGenerate() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitOps();
    SetExecution(
        "BeamSearch",
        [](const Attrs& a, EvalContext& c) { return RunBeamSearch(a.As<BeamSearchAttrs>(), c); },
        [](const Attrs& a, int) { return DecoderStates(a.As<BeamSearchAttrs>()); });
    SetExecution(
        "GreedySearch",
        [](const Attrs& a, EvalContext& c) { return RunGreedySearch(a.As<GreedySearchAttrs>(), c); },
        [](const Attrs& a, int) { return DecoderStates(a.As<GreedySearchAttrs>()); });
  });
}

}  // namespace tern
