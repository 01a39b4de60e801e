// Valid graphs from a seed: grown from nothing, or a graph of the rules' cases with small changes, so that
// rules see their patterns and near misses.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "random.h"

namespace tern {

struct SeedGraph {
  std::string text;
  std::map<std::string, int64_t> symbols;  // sizes it runs with
};

struct RandomGraph {
  std::unique_ptr<Graph> graph;
  std::map<std::string, int64_t> symbols;
};
// The result always has a graph.
RandomGraph MakeRandomGraph(uint64_t seed, const std::vector<SeedGraph>& seeds);

// One small change: another number, attribute, operand, a node between two others, an open dim, an input for
// a constant. The graph may be illegal afterwards.
void MutateGraph(Graph& graph, Random& random);
// Clears inferred types, so that inference starts again.
void ForgetTypes(Graph& graph);

}  // namespace tern
