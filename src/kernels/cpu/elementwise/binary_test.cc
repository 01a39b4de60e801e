#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/cpu/elementwise/elementwise.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class BinaryLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, BinaryLevels, testing::ValuesIn(LevelsHere()));

struct Shapes {
  Dims a, b, y;
};
const Shapes kShapes[] = {{{5}, {5}, {5}},
                          {{}, {33}, {33}},
                          {{40, 7}, {7}, {40, 7}},
                          {{3, 19, 33}, {3, 1, 33}, {3, 19, 33}},
                          {{9, 1}, {1, 21}, {9, 21}},
                          {{2, 3, 4, 5}, {3, 1, 5}, {2, 3, 4, 5}},
                          {{1, 3, 1, 17}, {2, 1, 6, 1}, {2, 3, 6, 17}},
                          {{300, 128}, {300, 1}, {300, 128}},
                          {{0, 4}, {4}, {0, 4}}};

std::vector<float> Numbers(const Dims& dims, float start) {
  std::vector<float> v(static_cast<size_t>(CountOf(dims)));
  for (size_t i = 0; i < v.size(); ++i) v[i] = start + static_cast<float>(i % 97) * 0.25f;
  return v;
}

float Value(BinaryKind kind, float a, float b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSub:
      return a - b;
    case BinaryKind::kMul:
      return a * b;
    default:
      return a / b;
  }
}

TEST_P(BinaryLevels, BroadcastsInPlanes) {
  for (const Shapes& s : kShapes) {
    const auto plan = MakeBroadcast<2>(s.y, {s.a, s.b});
    const auto a = Numbers(s.a, -3), b = Numbers(s.b, 1.5f);
    for (auto kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kDiv})
      for (int threads : {1, 3}) {
        std::vector<float> y(static_cast<size_t>(plan.count), 7.f);
        Binary(kind, DType::kF32, plan, a.data(), b.data(), y.data(), Workers(threads));
        if (plan.count == 0) continue;
        EachRow<2>(plan, 0, plan.count, [&](const std::array<int64_t, 2>& at, int64_t to, int64_t n) {
          const auto& step = plan.steps[static_cast<size_t>(plan.rank - 1)];
          for (int64_t i = 0; i < n; ++i)
            ASSERT_EQ(y[static_cast<size_t>(to + i)], Value(kind, a[static_cast<size_t>(at[0] + i * step[0])],
                                                            b[static_cast<size_t>(at[1] + i * step[1])]));
        });
      }
  }
}

TEST_P(BinaryLevels, KeepsTheSignOfZero) {
  const float x[3] = {1, 2, 3}, zero = -0.f;
  float y[3];
  const Dims three{3}, one;
  Binary(BinaryKind::kDiv, DType::kF32, MakeBroadcast<2>(three, {three, one}), x, &zero, y, Workers(1));
  for (float v : y) EXPECT_EQ(v, -INFINITY);
}

}  // namespace
}  // namespace tern::cpu
