// What a node costs: arithmetic and memory traffic, counted from its types. Feeds reports and rooflines.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern {

// A multiply-accumulate counts as one MAC and two FLOPs. Everything else counts one FLOP per arithmetic step
// and element, transcendental functions too; moving data counts none. Bytes are what must be read and written
// at least once: inputs, weights, outputs; ops that only reinterpret bytes have none, ops that pick from an
// input (Gather, Slice) read what they pick.
struct Cost {
  double macs = 0;
  double flops = 0;
  double bytes = 0;

  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  Cost& operator+=(const Cost& other);
};

// Nothing when a dim it depends on is not known. Bodies of control flow are not included.
std::optional<Cost> CostOf(const Node& node);
// Of two that are done in one step: what lies between them is neither written nor read.
std::optional<Cost> CostOfBoth(const Node& first, const Node& next);

// The node's kind where its op is a family: "Binary.add", "Pool.max", else the op's name.
std::string KindOf(const Node& node);

// A constant that a node reads as weights, or as data from which it computes real numbers. Not those that ops
// declare as settings (axes, shapes, indices, bounds), nor arithmetic with indices and shapes.
bool IsParameter(const Value& value);

}  // namespace tern
