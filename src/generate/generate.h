// Ops that run a decoder model token by token: BeamSearch and GreedySearch. src/ops declares them (schema,
// shape inference); this module executes them, above the runtime.
#pragma once
#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

// Fills the op table (InitOps) and registers the execution of the searches. Every program that runs models
// calls it. Thread-safe; later calls do nothing.
void InitGenerate();

Status RunBeamSearch(const BeamSearchAttrs& op, EvalContext& c);
Status RunGreedySearch(const GreedySearchAttrs& op, EvalContext& c);

}  // namespace tern
