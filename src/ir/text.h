// The text form of graphs.
//
//   graph @mlp(%x: f32[N,784]) -> (%y) {
//     #w: f32[784,10] = (0.5, …)
//     %h = MatMul(%x, #w) + #b               // a + b is short for Binary(a, b) {kind="add"}
//     %y: f32[N,10] = Softmax(Relu(%h)) {axis=-1} as "probabilities"
//   }
//
// Floats parse back to the same bits. A NaN with a sign or payload is written nan(0x…) with all its bits.
// A state (GraphState) is a line of the body: state %past_k -> %present_k {axis=2}.
// The subgraphs of a node are in brackets: %y = If(%c) [then @t() -> (%a) { … } else @e() -> (%b) { … }].
#pragma once
#include <memory>
#include <string>

#include "ir/graph.h"

namespace tern {

struct PrintOptions {
  int64_t max_elements = 64;  // a longer constant is printed as `(...)`, which ParseGraph rejects
  bool types = true;          // prints the types of node outputs
  bool names = true;          // prints the names and origins of nodes
};
std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});
// Prints all elements of constants, so that ParseGraph returns the same graph.
std::string PrintGraphExactly(const Graph& graph);

// Parses a graph and infers the types that the text omits. Errors name line and column.
Result<std::unique_ptr<Graph>> ParseGraph(std::string_view text);

// Returns true if the graphs have the same names, ops, attributes, edges, types and constants, in the same
// order.
bool SameGraph(const Graph& a, const Graph& b);

}  // namespace tern
