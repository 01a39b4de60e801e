// Merges neighbouring symbols of a word by rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tern::data {

struct Symbol {
  uint32_t index;  // of the vocabulary
  uint32_t bytes;  // of the word
};

// A hash map from pairs of symbols to their rank and to the symbol that replaces them.
class MergeTable {
 public:
  struct Found {
    uint32_t rank = 0xffffffff, result = 0;
    bool ok() const { return rank != 0xffffffff; }
  };

  explicit MergeTable(size_t merges);
  // Replaces an earlier Add of the same pair.
  void Add(uint32_t left, uint32_t right, Found found);
  Found Find(uint32_t left, uint32_t right) const {
    const uint64_t key = Key(left, right);
    for (size_t slot = First(key);; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].found;
      if (slots_[slot].key == kEmpty) return {};
    }
  }
  // Merges until no pair of neighbours has a rank. Each step merges the pair with the lowest rank, and the
  // leftmost of pairs with equal ranks.
  void Apply(std::vector<Symbol>& symbols) const;

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  struct Slot {
    uint64_t key = kEmpty;
    Found found;
  };
  static uint64_t Key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  size_t First(uint64_t key) const { return static_cast<size_t>((key * multiplier_) >> shift_); }
  void ApplyShort(std::vector<Symbol>& symbols) const;
  void ApplyLong(std::vector<Symbol>& symbols) const;

  uint64_t multiplier_;  // random, so that a file cannot be made of pairs that collide
  size_t mask_;
  int shift_;
  std::vector<Slot> slots_;
};

}  // namespace tern::data
