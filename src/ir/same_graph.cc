#include "ir/text.h"

namespace tern {

// Printing normalises names: equal texts with all elements mean equal graphs.
bool SameGraph(const Graph& a, const Graph& b) { return PrintGraphExactly(a) == PrintGraphExactly(b); }

}  // namespace tern
