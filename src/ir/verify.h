// Checks that a graph keeps the promises the rest of Tern relies on.
#pragma once
#include "ir/graph.h"

namespace tern {

// Values are made before they are read and are in scope, use lists and back pointers are right, counts of
// inputs and outputs fit the ops, constants have the types they claim, subgraphs are there, states lead
// from inputs to outputs of the same type. The error names node and value.
Status VerifyGraph(const Graph& graph);

}  // namespace tern
