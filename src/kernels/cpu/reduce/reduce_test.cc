// Tests that sums stay accurate for any number of elements and any axes.
#include "kernels/cpu/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/strings.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class ReduceLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, ReduceLevels, testing::ValuesIn(LevelsHere()));

struct Sum {
  Dims dims;
  std::vector<bool> mask;  // the reduced axes
};

// Returns the largest relative error, in units of half an ulp of 1 in f32. Each result sums equal numbers.
// Equal numbers are the hardest case for a chain of additions, because every addition then rounds in the same
// direction.
double WorstError(ReduceKind kind, const Sum& sum) {
  int64_t inputs = 1, outputs = 1;
  for (size_t i = 0; i < sum.dims.size(); ++i) {
    inputs *= sum.dims[i];
    if (!sum.mask[i]) outputs *= sum.dims[i];
  }
  std::vector<float> value = Random(outputs, 7), x(static_cast<size_t>(inputs)), y(value.size());
  for (float& v : value) v = 0.55f + 0.45f * v;
  for (int64_t i = 0; i < inputs; ++i) {
    int64_t remaining = i, at = 0, step = 1;
    for (size_t axis = sum.dims.size(); axis-- > 0; remaining /= sum.dims[axis]) {
      if (sum.mask[axis]) continue;
      at += remaining % sum.dims[axis] * step;
      step *= sum.dims[axis];
    }
    x[static_cast<size_t>(i)] = value[static_cast<size_t>(at)];
  }
  Reduce(kind, DType::kF32, MakeReduce(sum.dims, sum.mask), x.data(), y.data(), Workers(2));
  double worst = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const double v = value[i],
                 exact = (kind == ReduceKind::kSumSquare ? v * v : v) * double(inputs / outputs);
    worst = std::max(worst, std::abs(y[i] / exact - 1) * 0x1p24);
  }
  return worst;
}

TEST_P(ReduceLevels, SumsOfManyRowsStayAccurate) {
  const Sum sums[] = {
      {{100, 77}, {true, false}},
      {{512, 77}, {true, false}},
      {{2, 512, 77}, {false, true, false}},
      {{2, 1000, 600}, {false, true, false}},
      {{20000, 9}, {true, false}},                     // rows are split into parts, for several threads
      {{100, 3, 40, 21}, {true, false, true, false}},  // rows without a constant stride
      {{3000, 3, 5}, {true, false, true}},             // short rows
      {{2, 300, 2, 3, 2, 9}, {false, true, false, true, false, true}},
  };
  for (const Sum& sum : sums)
    for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kL1, ReduceKind::kSumSquare})
      EXPECT_LT(WorstError(kind, sum), 12)
          << Describe(DType::kF32, sum.dims) << ", " << kReduceNames[static_cast<int>(kind)];
}

}  // namespace
}  // namespace tern::cpu
