// Replaces the module generate in a mini build whose models have no BeamSearch and no GreedySearch.
#include "generate/generate.h"

#include "ops/ops.h"

namespace tern {

void InitGenerate() { InitOps(); }

}  // namespace tern
