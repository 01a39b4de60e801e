// Nodes that compute in f16 or bf16.
#pragma once
#include "ir/graph.h"

namespace tern {

bool IsHalf(const Type& type);

// The op is marked kKeep, or its types also appear in nested graphs, sequences or optionals.
bool StaysHalf(const Node& node);

// The op takes the node's f16 and bf16 operands as f32 too, and then gives f32 where it gives f16 or bf16
// now.
bool AcceptsF32(const Node& node);

// WidenHalf computes this node in f32. Once it has run there are none, and no rule may make one: the two
// would undo each other.
bool ComputesInHalf(const Node& node);

}  // namespace tern
