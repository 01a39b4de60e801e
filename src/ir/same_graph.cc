#include "ir/text.h"

namespace tern {

// Printing numbers the unnamed values, so two graphs are the same if their complete texts are equal.
bool SameGraph(const Graph& a, const Graph& b) { return PrintGraphExactly(a) == PrintGraphExactly(b); }

}  // namespace tern
