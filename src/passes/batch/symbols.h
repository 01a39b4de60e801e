// The symbols and dims of the values of a graph.
#pragma once
#include <string>

#include "ir/graph.h"

namespace tern {

// Returns `name`, or `name` with underscores if a symbol of the graph has this name.
std::string FreshSymbol(const Graph& graph, std::string name);
// Clears dims and contents that were inferred or declared for the present inputs. Ranks stay, because they do
// not depend on the batch size.
void ForgetDims(Graph& graph);

}  // namespace tern
