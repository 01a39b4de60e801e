// Half precision is a way to store numbers; this CPU computes in f32.
#pragma once
#include "passes/context.h"

namespace tern {

// What a graph computes in f16 or bf16 it computes in f32 afterwards, rounded where the caller sees it and
// where the model itself says Cast, and nowhere between. Inputs and outputs keep their types, those of nested
// graphs too. Data that is only moved stays narrow until somebody computes with it. Returns how many nodes
// changed.
Result<int> WidenHalf(Graph& graph, PassContext& context);

}  // namespace tern
