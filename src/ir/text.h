// The text form of graphs.
//
//   graph @mlp(%x: f32[N,784]) -> (%y) {
//     #w: f32[784,10] = (0.5, …)
//     %h = MatMul(%x, #w) + #b               // operators and kinds are sugar: Binary{kind="add"}
//     %y: f32[N,10] = Softmax(Relu(%h)) {axis=-1} as "probabilities"
//   }
//
// Floats parse back to the same bits; a NaN with a sign or payload is written nan(0x…) with all its bits.
// A state (GraphState) is a line of the body: state %past_k -> %present_k {axis=2}.
// Nodes with subgraphs carry them in brackets: %y = If(%c) [then @t() -> (%a) { … } else @e() -> (%b) { … }].
#pragma once
#include <memory>
#include <string>

#include "ir/graph.h"

namespace tern {

struct PrintOptions {
  int64_t max_elements = 64;  // longer constants print as `(...)`, which cannot be parsed
  bool types = true;          // of node outputs
  bool names = true;          // of nodes, with their origins
};
std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});
// Prints everything, so that ParseGraph returns the same graph.
std::string PrintGraphExactly(const Graph& graph);

// Infers types that are not given. Errors name line and column.
Result<std::unique_ptr<Graph>> ParseGraph(std::string_view text);

// True if the graphs differ at most in the names of unnamed values: same ops, attributes, edges, types and
// constants, in the same order.
bool SameGraph(const Graph& a, const Graph& b);

}  // namespace tern
