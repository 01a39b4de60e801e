// Counts the arithmetic and the memory traffic of a node from its types, for reports and rooflines.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern {

// A multiply-accumulate is one MAC and two FLOPs. Any other arithmetic operation, including transcendental
// functions, is one FLOP per element. Moving data takes no FLOPs. Bytes are the sizes of inputs, weights and
// outputs, each counted once. Views, control flow and ops that read only dims have no bytes. Ops that read a
// part of an input (Gather, Slice) count only that part.
struct Cost {
  double macs = 0;
  double flops = 0;
  double bytes = 0;

  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  Cost& operator+=(const Cost& other);
};

// Returns the cost of a node, or nullopt if a dim that the cost depends on is unknown. The cost does not
// include the bodies of control flow.
std::optional<Cost> CostOf(const Node& node);
// Returns the cost of two nodes that run as one step. The step neither writes nor reads the value between the
// nodes.
std::optional<Cost> CostOfFused(const Node& first, const Node& next);

// Returns the op's name, followed by the attribute `kind` if the node has one: "Binary.add", "Pool.max".
std::string KindOf(const Node& node);

// Returns whether a constant is a parameter of the model. A parameter is a constant that a node reads as
// weights, or as data for a floating-point or quantized result. Settings of ops (axes, shapes, indices,
// bounds) and operands of integer shape arithmetic are not parameters. A constant without readers is a
// parameter if its type is floating-point, complex or an integer of at most 16 bits.
bool IsParameter(const Value& value);

}  // namespace tern
