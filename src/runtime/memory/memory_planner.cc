#include "runtime/memory/memory_planner.h"

#include <algorithm>
#include <numeric>

namespace tern {
namespace {

constexpr size_t kAlign = 64;

struct Placed {
  size_t begin, end;
  int first, last;
};

// Returns the lowest offset at which the block fits. `placed` must be sorted by begin.
size_t LowestGap(const std::vector<Placed>& placed, const Block& block, size_t bytes) {
  size_t at = 0;
  for (const Placed& p : placed) {
    if (p.last < block.first || block.last < p.first) continue;
    if (p.begin >= at + bytes) break;
    at = std::max(at, p.end);
  }
  return at;
}

}  // namespace

Offsets PlanOffsets(const std::vector<Block>& blocks) {
  Offsets out;
  out.at.resize(blocks.size());
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<Placed> placed;
  for (size_t i : order) {
    const size_t bytes = (blocks[i].bytes + kAlign - 1) / kAlign * kAlign;
    if (bytes == 0) continue;
    const size_t at = LowestGap(placed, blocks[i], bytes);
    const Placed p{at, at + bytes, blocks[i].first, blocks[i].last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), p,
                                   [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                  p);
    out.at[i] = at;
    out.total = std::max(out.total, p.end);
  }
  return out;
}

}  // namespace tern
