#include "kernels/cpu/move/copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class CopyLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, CopyLevels, testing::ValuesIn(LevelsHere()));

struct Case {
  Dims dims;
  std::vector<size_t> perm;
};
// The cases cover sizes around the side of a square, few rows, few columns, groups of 2 and 4 elements, and
// more than two axes.
const Case kCases[] = {{{16, 16}, {1, 0}},
                       {{17, 33}, {1, 0}},
                       {{2, 58}, {1, 0}},
                       {{3, 49}, {1, 0}},
                       {{4, 31}, {1, 0}},
                       {{58, 2}, {1, 0}},
                       {{50, 3}, {1, 0}},
                       {{37, 4}, {1, 0}},
                       {{5, 2, 58}, {0, 2, 1}},
                       {{1, 3, 40, 41}, {0, 2, 3, 1}},
                       {{1, 40, 41, 3}, {0, 3, 1, 2}},
                       {{9, 2, 16, 2}, {0, 2, 1, 3}},
                       {{9, 3, 5, 4}, {0, 2, 1, 3}},
                       {{2, 20, 18, 4}, {0, 3, 2, 1}},
                       {{300, 129}, {1, 0}},
                       {{130, 65}, {1, 0}},
                       {{70, 1100}, {1, 0}},
                       {{1100, 70}, {1, 0}},
                       {{3, 9001}, {1, 0}},
                       {{9001, 3}, {1, 0}},
                       {{1, 9001}, {1, 0}},
                       {{21, 3000}, {1, 0}},
                       {{3000, 21}, {1, 0}},
                       {{2, 40, 3, 70}, {0, 2, 3, 1}},
                       {{7, 30, 20, 8}, {0, 2, 1, 3}},
                       {{7, 30, 20, 16}, {0, 2, 1, 3}},
                       {{0, 5}, {1, 0}},
                       {{5, 0}, {1, 0}},
                       {{3, 4, 5, 6}, {3, 1, 2, 0}}};

struct Sixteen {
  Sixteen() = default;
  explicit Sixteen(size_t v) : low(v), high(~v) {}
  bool operator==(const Sixteen&) const = default;
  uint64_t low = 0, high = 0;
};

template <class T> void Check(const Case& c, int threads) {
  const Dims from = ContiguousStrides(c.dims);
  Dims out;
  for (size_t axis : c.perm) out.push_back(c.dims[axis]);
  const Dims to = ContiguousStrides(out);
  StridedCopy plan;
  for (size_t i = 0; i < out.size(); ++i) plan.Add({out[i], from[c.perm[i]], to[i]});
  std::vector<T> x(static_cast<size_t>(CountOf(out))), y(x.size(), T(77));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 7 + 1);
  Copy(plan, x.data(), y.data(), sizeof(T), Workers(threads));
  for (int64_t i = 0; i < CountOf(out); ++i) {
    int64_t remaining = i, at = 0;
    for (size_t axis = out.size(); axis-- > 0; remaining /= out[axis])
      at += remaining % out[axis] * from[c.perm[axis]];
    ASSERT_EQ(y[static_cast<size_t>(i)], x[static_cast<size_t>(at)])
        << "element " << i << " of " << sizeof(T);
  }
}

TEST_P(CopyLevels, Transposes) {
  for (const Case& c : kCases)
    for (int threads : {1, 3}) {
      Check<uint8_t>(c, threads);
      Check<uint16_t>(c, threads);
      Check<uint32_t>(c, threads);
      Check<uint64_t>(c, threads);
      Check<Sixteen>(c, threads);
    }
}

// Checks copies that are too large for the caches, with row strides that do and do not conflict in the cache.
template <class T> void CheckLarge() {
  const auto width = static_cast<int64_t>(sizeof(T)), cells = (int64_t{9} << 19) / width;
  for (int64_t rows : {int64_t{21}, 4096 / width})
    for (int64_t columns : {cells / rows / 1024 * 1024 + 1024, cells / rows + 7}) {
      Check<T>({{rows, columns}, {1, 0}}, 1);
      Check<T>({{columns, rows}, {1, 0}}, 3);
    }
}
TEST_P(CopyLevels, TransposesLargeOnes) {
  CheckLarge<uint8_t>();
  CheckLarge<uint16_t>();
  CheckLarge<uint32_t>();
  CheckLarge<uint64_t>();
}

// Checks copies with offsets and with row strides that are larger than the rows, or negative. The copy must
// not write the gaps between the rows of y.
template <class T> void CheckSteps(int64_t rows, int64_t columns, bool reversed) {
  const int64_t from_row = columns + 3, to_row = rows + 5;
  StridedCopy plan;
  plan.from = reversed ? 1 + (rows - 1) * from_row : 1, plan.to = 2;
  plan.Add({columns, 1, to_row});
  plan.Add({rows, reversed ? -from_row : from_row, 1});
  std::vector<T> x(static_cast<size_t>(rows * from_row + 1)), y(static_cast<size_t>(columns * to_row + 2));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 7 + 1);
  std::vector<T> expected(y.size(), T(77));
  y = expected;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      expected[static_cast<size_t>(2 + j * to_row + i)] =
          x[static_cast<size_t>(1 + (reversed ? rows - 1 - i : i) * from_row + j)];
  Copy(plan, x.data(), y.data(), sizeof(T), Workers(1));
  ASSERT_EQ(y, expected) << rows << " x " << columns << " of " << sizeof(T);
}
TEST_P(CopyLevels, TransposesPartsOfMatrices) {
  const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130};
  for (int64_t rows : sizes)
    for (int64_t columns : sizes)
      for (bool reversed : {false, true}) {
        CheckSteps<uint8_t>(rows, columns, reversed);
        CheckSteps<uint16_t>(rows, columns, reversed);
        CheckSteps<uint32_t>(rows, columns, reversed);
        CheckSteps<uint64_t>(rows, columns, reversed);
      }
}

// Groups of bytes are copied as one element at any address. A sanitizer finds loads that assume too strict an
// alignment.
TEST(Copy, GroupsOfBytesAtAnyAddress) {
  for (int64_t group : {2, 4, 8, 16})
    for (int64_t rows : {3, 5})
      for (int64_t off : {0, 1, 3}) {
        const int64_t columns = 7, all = rows * columns * group;
        std::vector<unsigned char> x(static_cast<size_t>(2 * all + off)), y(x.size());
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 7);
        StridedCopy plan;
        plan.Add({2, all, all});
        plan.Add({columns, group, rows * group});
        plan.Add({rows, columns * group, group});
        plan.Add({group, 1, 1});
        Copy(plan, x.data() + off, y.data() + off, 1, Workers(1));
        for (int64_t i = 0; i < 2 * all; ++i) {
          const int64_t k = i % group, r = i / group % rows, c = i / group / rows % columns, o = i / all;
          ASSERT_EQ(y[static_cast<size_t>(off + i)],
                    x[static_cast<size_t>(off + ((o * rows + r) * columns + c) * group + k)])
              << group << " bytes, " << rows << " rows, from " << off;
        }
      }
}

}  // namespace
}  // namespace tern::cpu
