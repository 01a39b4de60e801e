// Executes the ops BeamSearch and GreedySearch, which run a decoder model token by token. Their schema and
// shape inference are in src/ops. Their execution is in this module, because a search needs the runtime.
#pragma once
#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

// Calls InitOps, which fills the op table. Then registers the functions below to execute BeamSearch and
// GreedySearch. Every program that runs models must call InitGenerate. Thread-safe; later calls do nothing.
void InitGenerate();

Status RunBeamSearch(const BeamSearchAttrs& op, EvalContext& c);
Status RunGreedySearch(const GreedySearchAttrs& op, EvalContext& c);

}  // namespace tern
