// Computes the row copies that reorder the rows of a tensor in place.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

struct RowMove {
  size_t from = 0, to = 0;
};

// Returns a sequence of row copies after which row i has the value that row parents[i] had. Rows with
// parents[i] == i are not copied. Index parents.size() stands for a spare row. For example, {1, 0} becomes
// the copies 0->2, 1->0 and 2->1.
std::vector<RowMove> MovesFor(const std::vector<size_t>& parents);

}  // namespace tern
