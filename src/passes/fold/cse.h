// Common subexpression elimination for constants and nodes.
#pragma once
#include "passes/context.h"

namespace tern {

// Merges constants with equal type, dims and bytes. Returns the number of constants removed.
Result<int> ShareConstants(Graph& graph, PassContext& context);
// Merges pure nodes with the same op, attributes and inputs. A node of a nested graph may also be merged into
// an equal node of an enclosing graph. Returns the number of nodes removed.
Result<int> ShareNodes(Graph& graph, PassContext& context);

}  // namespace tern
