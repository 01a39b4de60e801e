// Predicates that find nodes which compute in f16 or bf16.
#pragma once
#include "ir/graph.h"

namespace tern {

bool IsHalf(const Type& type);

// True if WidenHalf must not widen the node. Its op is marked kKeep, or the node has nested graphs, sequences
// or optionals. Their types would have to change too.
bool StaysHalf(const Node& node);

// True if the op accepts the node's inputs with f32 in place of f16 and bf16. The results must then be f32 in
// place of f16 and bf16.
bool AcceptsF32(const Node& node);

// True if WidenHalf makes this node compute in f32. False for a node whose float results are already f32 or
// f64. After WidenHalf no such node is left. No rule may emit such a node then, because the rule and
// WidenHalf would undo each other.
bool ComputesInHalf(const Node& node);

}  // namespace tern
