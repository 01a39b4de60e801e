// Replaces the optimizer in a mini build. `tern mini` optimizes models before the build, so models are run as
// they are.
#include "passes/batch/set_batch.h"
#include "passes/pipeline.h"

namespace tern {

Result<OptimizeReport> Optimize(Graph&, const OptimizeOptions&) { return OptimizeReport(); }

Status SetBatch(Graph&, int64_t batch) {
  return Unsupported("batch ", batch, ": a mini build of Tern cannot change the batch size of a model; use ",
                     "`tern convert --batch ", batch, "` before the build");
}

}  // namespace tern
