// Ops that run a whole model word by word: BeamSearch and GreedySearch. src/ops declares them (schema,
// inference); they are executed here, above the runtime.
#pragma once
#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

// Fills the op table (InitOps) and lets the searches run. Every program that runs models calls it.
void InitGenerate();

Status RunBeamSearch(const BeamSearchAttrs& op, EvalContext& c);
Status RunGreedySearch(const GreedySearchAttrs& op, EvalContext& c);

}  // namespace tern
