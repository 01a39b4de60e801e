// Makes valid random graphs from a seed. A graph is built from random nodes, or it is a graph of the rules'
// cases with small changes. Rules thus see their patterns and graphs that almost match.
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
  std::map<std::string, int64_t> symbols;  // sizes with which the graph runs
};

struct RandomGraph {
  std::unique_ptr<Graph> graph;
  std::map<std::string, int64_t> symbols;
};
// The graph of the result is never null.
RandomGraph MakeRandomGraph(uint64_t seed, const std::vector<SeedGraph>& seeds);

// Makes one small change: changes a number, an attribute or an operand, inserts a node, makes a dim open, or
// replaces a constant by an input. The graph may be invalid afterwards.
void MutateGraph(Graph& graph, Random& random);
// Clears inferred types, so that inference starts again.
void ForgetTypes(Graph& graph);

}  // namespace tern
