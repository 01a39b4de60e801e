#include "runtime/memory/row_moves.h"

namespace tern {

std::vector<RowMove> MovesFor(const std::vector<size_t>& parents) {
  const size_t spare = parents.size();
  std::vector<size_t> readers(parents.size());  // pending moves that read the row
  std::vector<bool> done(parents.size());
  for (size_t i = 0; i < parents.size(); ++i) {
    done[i] = parents[i] == i;
    if (!done[i]) ++readers[parents[i]];
  }
  std::vector<RowMove> moves;
  // A row that no pending move reads can be overwritten. Then its parent has one reader fewer and may be the
  // next row to overwrite.
  for (size_t first = 0; first < parents.size(); ++first)
    for (size_t to = first; !done[to] && readers[to] == 0; to = parents[to]) {
      moves.push_back({parents[to], to});
      done[to] = true;
      --readers[parents[to]];
    }
  // Each remaining row has exactly one reader, so the remaining rows form cycles.
  for (size_t first = 0; first < parents.size(); ++first) {
    if (done[first]) continue;
    moves.push_back({first, spare});
    size_t to = first;
    for (; parents[to] != first; to = parents[to]) {
      moves.push_back({parents[to], to});
      done[to] = true;
    }
    moves.push_back({spare, to});
    done[to] = true;
  }
  return moves;
}

}  // namespace tern
