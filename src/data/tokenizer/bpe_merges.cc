#include "data/tokenizer/bpe_merges.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <random>
#include <tuple>

namespace tern::data {
namespace {

constexpr size_t kShort =
    48;  // symbols; up to here a linear search for the lowest rank is faster than a heap
constexpr uint32_t kNoSymbol = 0xffffffff;

uint64_t RandomOdd() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

MergeTable::MergeTable(size_t merges)
    : multiplier_(RandomOdd()),
      mask_(std::bit_ceil(2 * merges + 2) - 1),
      shift_(64 - std::countr_one(mask_)),
      slots_(mask_ + 1) {}

void MergeTable::Add(uint32_t left, uint32_t right, Found found) {
  const uint64_t key = Key(left, right);
  size_t slot = First(key);
  while (slots_[slot].key != kEmpty && slots_[slot].key != key) slot = (slot + 1) & mask_;
  slots_[slot] = {key, found};
}

void MergeTable::Apply(std::vector<Symbol>& symbols) const {
  if (symbols.size() <= kShort)
    ApplyShort(symbols);
  else
    ApplyLong(symbols);
}

void MergeTable::ApplyShort(std::vector<Symbol>& symbols) const {
  Found pairs[kShort];  // pairs[i] is the merge of symbols i and i + 1
  size_t n = symbols.size();
  for (size_t i = 0; i + 1 < n; ++i) pairs[i] = Find(symbols[i].index, symbols[i + 1].index);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i)
      if (pairs[i].rank < pairs[best].rank) best = i;
    if (!pairs[best].ok()) break;
    symbols[best] = {pairs[best].result, symbols[best].bytes + symbols[best + 1].bytes};
    std::copy(symbols.begin() + static_cast<ptrdiff_t>(best) + 2, symbols.begin() + static_cast<ptrdiff_t>(n),
              symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
    if (best + 2 < n) std::copy(pairs + best + 2, pairs + n - 1, pairs + best + 1);
    --n;
    if (best > 0) pairs[best - 1] = Find(symbols[best - 1].index, symbols[best].index);
    if (best + 1 < n) pairs[best] = Find(symbols[best].index, symbols[best + 1].index);
  }
  symbols.resize(n);
}

// A linked list of symbols and a heap of merges. An entry of the heap is out of date if one of its two
// symbols has changed since.
void MergeTable::ApplyLong(std::vector<Symbol>& symbols) const {
  struct Candidate {
    uint32_t rank, at, left, right, result;
    bool operator>(const Candidate& o) const { return std::tie(rank, at) > std::tie(o.rank, o.at); }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
  const auto count = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> next(count), previous(count);
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : kNoSymbol;
    previous[i] = i - 1;  // kNoSymbol for the first
  }
  const auto consider = [&](uint32_t i) {
    if (i == kNoSymbol || next[i] == kNoSymbol) return;
    const uint32_t left = symbols[i].index, right = symbols[next[i]].index;
    if (const Found f = Find(left, right); f.ok()) heap.push({f.rank, i, left, right, f.result});
  };
  for (uint32_t i = 0; i + 1 < count; ++i) consider(i);
  while (!heap.empty()) {
    const Candidate c = heap.top();
    heap.pop();
    if (symbols[c.at].bytes == 0 || symbols[c.at].index != c.left || next[c.at] == kNoSymbol) continue;
    const uint32_t right = next[c.at];
    if (symbols[right].index != c.right) continue;
    symbols[c.at] = {c.result, symbols[c.at].bytes + symbols[right].bytes};
    symbols[right].bytes = 0;
    next[c.at] = next[right];
    if (next[right] != kNoSymbol) previous[next[right]] = c.at;
    consider(previous[c.at]);
    consider(c.at);
  }
  std::erase_if(symbols, [](const Symbol& s) { return s.bytes == 0; });
}

}  // namespace tern::data
