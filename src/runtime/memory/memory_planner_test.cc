#include "runtime/memory/memory_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tern {
namespace {

// Expects that blocks which are alive at the same step do not overlap.
void ExpectDisjoint(const std::vector<Block>& blocks, const Offsets& offsets) {
  for (size_t a = 0; a < blocks.size(); ++a) {
    EXPECT_EQ(offsets.at[a] % 64, 0u);
    EXPECT_LE(offsets.at[a] + blocks[a].bytes, offsets.total);
    for (size_t b = 0; b < a; ++b) {
      const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
      const bool overlap =
          offsets.at[a] < offsets.at[b] + blocks[b].bytes && offsets.at[b] < offsets.at[a] + blocks[a].bytes;
      EXPECT_FALSE(together && overlap && blocks[a].bytes && blocks[b].bytes) << a << " and " << b;
    }
  }
}

size_t PeakOfLive(const std::vector<Block>& blocks) {
  size_t peak = 0;
  for (const Block& at : blocks) {
    size_t live = 0;
    for (const Block& b : blocks)
      if (b.first <= at.first && at.first <= b.last) live += (b.bytes + 63) / 64 * 64;
    peak = std::max(peak, live);
  }
  return peak;
}

TEST(MemoryPlanner, LiveBlocksNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Block> blocks(random() % 60);
    for (Block& b : blocks) {
      b.bytes = random() % 5 ? random() % 5000 : 0;
      b.first = static_cast<int>(random() % 50);
      b.last = b.first + static_cast<int>(random() % 12);
    }
    const Offsets offsets = PlanOffsets(blocks);
    ExpectDisjoint(blocks, offsets);
    EXPECT_GE(offsets.total, PeakOfLive(blocks));
    EXPECT_LE(offsets.total, 2 * PeakOfLive(blocks) + 64);
  }
}

TEST(MemoryPlanner, ReusesTheMemoryOfAChain) {
  std::vector<Block> chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(PlanOffsets(chain).total, 2048u);
}

TEST(MemoryPlanner, FillsAGapBetweenBlocks) {
  // The two large blocks are alive together. The small block reuses the memory of the first large block,
  // which is dead by then.
  const std::vector<Block> blocks = {{4096, 0, 1}, {2048, 1, 3}, {1024, 2, 3}};
  EXPECT_EQ(PlanOffsets(blocks).total, 4096u + 2048u);
}

}  // namespace
}  // namespace tern
