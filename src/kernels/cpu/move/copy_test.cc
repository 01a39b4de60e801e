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
// Matrices around the squares, few rows, few columns, pairs and fours that stay together, more axes.
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
                       {{3, 4, 5, 6}, {3, 1, 2, 0}}};

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
    int64_t rest = i, at = 0;
    for (size_t axis = out.size(); axis-- > 0; rest /= out[axis]) at += rest % out[axis] * from[c.perm[axis]];
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
    }
}

}  // namespace
}  // namespace tern::cpu
