// Reordering the rows of a tensor in place.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

struct RowMove {
  size_t from = 0, to = 0;
};

// A sequence of row copies after which row i has the value that row parents[i] had. Rows with parents[i] == i
// are not copied. Index parents.size() is a spare row, which breaks cycles.
std::vector<RowMove> MovesFor(const std::vector<size_t>& parents);

}  // namespace tern
