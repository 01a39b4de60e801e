// Executes the ops BeamSearch and GreedySearch, which run a decoder model token by token. src/ops declares
// their schema and shape inference. They are executed in this module, because a search needs the runtime.
#pragma once
#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

// Calls InitOps, which fills the op table, then registers the functions below as the execution of their ops.
// Every program that runs models must call InitGenerate. Thread-safe; later calls do nothing.
void InitGenerate();

Status RunBeamSearch(const BeamSearchAttrs& op, EvalContext& c);
Status RunGreedySearch(const GreedySearchAttrs& op, EvalContext& c);

}  // namespace tern
