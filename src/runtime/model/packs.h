// Weights in the form that kernels want, kept in a model's file: they are mapped instead of made again.
// In a graph they travel as derived constants (ir/derived.h). Only nodes of a model's own graph have them:
// names of nested graphs' weights tell nothing.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// Of everything that is packed: raised when any kernel lays its weights out in another way, or when keys tell
// something else. What files hold in other formats is packed anew.
inline constexpr int kPackFormat = 3;

struct Pack {
  Tensor data;
  std::vector<const void*> made_from;  // where the bytes of the weights lie, or lay
  std::vector<Buffer> kept;            // of loaded ones: no other bytes come to lie there
};
using Packs = std::map<std::string, Pack>;  // by PackKey

// isa: of the target. layout: the kernel's KernelEntry::pack. The key tells it, the format, architecture and
// instruction set by name, the node's attributes, and the numbers and names of the inputs that were packed
// together. Empty where one of these has no name.
std::string PackKey(const std::string& layout, const std::string& isa, const Node& node,
                    const std::vector<int>& inputs);

// Of names and values: two nodes may read one weight with different strides or factors. What is done to
// results (activation, act_alpha, act_beta) does not matter to weights.
uint64_t HashOf(const Attrs& attrs);

// Names tell weights apart: gives one of its own to every constant that has none or shares it.
void NameConstants(Graph& graph);

// Those that a graph carries and that were made from its constants as they are now. None where two constants
// share a name: whose they are cannot be told. What came with the weights from one file was compared when
// that was read, so a mapped file is not read for this; anything else is.
Packs PacksOf(const Graph& graph);
// Replaces what the graph carries by those packs that were made from its constants, whose names NameConstants
// has given. Returns how many these are.
int SetPacks(Graph& graph, const Packs& packs);

}  // namespace tern
