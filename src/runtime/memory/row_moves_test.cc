#include "runtime/memory/row_moves.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/memory/state_memory.h"

namespace tern {
namespace {

// Applies the moves to rows with the values 0, 1, 2, … and returns the values of the rows.
std::vector<size_t> Moved(const std::vector<size_t>& parents) {
  std::vector<size_t> rows(parents.size() + 1);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  for (const RowMove& move : MovesFor(parents)) rows[move.to] = rows[move.from];
  rows.pop_back();
  return rows;
}

TEST(RowMoves, ReadEachRowBeforeItIsWritten) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<size_t> parents(random() % 9);
    for (size_t& parent : parents) parent = random() % parents.size();
    EXPECT_EQ(Moved(parents), parents) << round;
  }
}

TEST(RowMoves, ConcernOnlyRowsThatMove) {
  EXPECT_TRUE(MovesFor({0, 1, 2}).empty());
  EXPECT_TRUE(MovesFor({}).empty());
  EXPECT_EQ(MovesFor({0, 0, 2}).size(), 1u);
  EXPECT_EQ(MovesFor({1, 2, 2}).size(), 2u);
  EXPECT_EQ(MovesFor({1, 0, 2}).size(), 3u) << "a swap copies one row to the spare row first";
}

// Returns a tensor of dims [2, rows, 2, length, 1] with the elements 0, 1, 2, …
Tensor Numbered(int64_t rows, int64_t length) {
  Tensor t(DType::kF32, {2, rows, 2, length, 1});
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i);
  return t;
}

TEST(StateMemory, SelectsRowsInEitherLayout) {
  const std::vector<size_t> parents{2, 0, 1, 1};
  for (const bool strided : {false, true})
    for (const int64_t length : {0, 1, 5, 64}) {
      StateMemory memory(DType::kF32, {2, 4, 2, 0, 1}, 3);
      const Tensor value = Numbered(4, length);
      ASSERT_TRUE(memory.Set(value).ok());
      memory.Reserve(std::max<int64_t>(1, length), strided);
      memory.MoveRows(1, MovesFor(parents));
      const Tensor got = memory.Value();
      ASSERT_EQ(got.dims(), value.dims());
      const int64_t row = 2 * length;
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t r = 0; r < 4; ++r)
          for (int64_t i = 0; i < row; ++i)
            EXPECT_EQ(
                got.data<float>()[(half * 4 + r) * row + i],
                value.data<float>()[(half * 4 + static_cast<int64_t>(parents[static_cast<size_t>(r)])) * row +
                                    i]);
    }
}

TEST(StateMemory, SelectsRowsOfAFixedSize) {
  StateMemory memory(DType::kI32, {3, 2}, -1);
  ASSERT_TRUE(memory.Set(Tensor::Of(DType::kI32, {3, 2}, {1, 2, 3, 4, 5, 6})).ok());
  memory.MoveRows(0, MovesFor({1, 2, 0}));
  EXPECT_EQ(ToLongs(memory.Value()), (std::vector<int64_t>{3, 4, 5, 6, 1, 2}));
}

}  // namespace
}  // namespace tern
