#include "ir/text.h"

namespace tern {

// Compares the complete texts of the graphs. The text numbers values without a name in order, so that such
// values are compared by their positions.
bool SameGraph(const Graph& a, const Graph& b) { return PrintGraphExactly(a) == PrintGraphExactly(b); }

}  // namespace tern
