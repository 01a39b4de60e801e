// Weights in the form that kernels want, kept in a model's file: they are mapped instead of made again.
// In a graph they travel as constants that no node reads, under names that say what they are.
#pragma once
#include <map>
#include <string>

#include "ir/graph.h"

namespace tern {

using Packs = std::map<std::string, Tensor>;  // by name

// kernel: its name in the table. The name tells the instruction set, the node's attributes and the weight.
std::string PackName(const std::string& kernel, const Node& node, int input);

// Names tell weights apart: gives one of its own to every constant that has none or shares it.
void NameConstants(Graph& graph);

// Those that a graph carries. None where two constants share a name: whose they are cannot be told.
Packs PacksOf(const Graph& graph);
// Replaces what the graph carries, whose constants NameConstants has named.
void SetPacks(Graph& graph, const Packs& packs);

}  // namespace tern
