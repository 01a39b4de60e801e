#include "ir/text.h"

namespace tern {

// Compares the complete texts of the graphs. In the text, values without a name are numbered in
// order.
bool SameGraph(const Graph& a, const Graph& b) { return PrintGraphExactly(a) == PrintGraphExactly(b); }

}  // namespace tern
