#include "compress/weights/block_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/dtype.h"

namespace tern::compress {
namespace {

std::vector<float> RandomFloats(int64_t count, uint32_t seed, float size = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, size);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = normal(random);
  return v;
}

double ErrorOf(const std::vector<float>& w, const BlockMatrix& m) {
  double sum = 0;
  for (int64_t o = 0; o < m.outputs; ++o)
    for (int64_t i = 0; i < m.inputs; ++i)
      sum += std::pow(m.At(o, i) - w[static_cast<size_t>(o * m.inputs + i)], 2);
  return sum;
}

TEST(BlockMatrix, RoundsToNearestWithinHalfAStep) {
  const Workers workers(1);
  for (int bits : {4, 8})
    for (int64_t block : {0, 32, 64}) {
      const auto w = RandomFloats(3 * 100, 1);
      const BlockMatrix m = RoundToNearest(w, 3, {bits, block, false}, nullptr, workers);
      ASSERT_EQ(m.blocks, block ? (100 + block - 1) / block : 1);
      for (int64_t o = 0; o < 3; ++o)
        for (int64_t i = 0; i < 100; ++i) {
          const float scale = m.scale[static_cast<size_t>(o * m.blocks + m.block_of(i))];
          EXPECT_LE(std::fabs(m.At(o, i) - w[static_cast<size_t>(o * 100 + i)]), 0.5001f * scale);
        }
    }
}

TEST(BlockMatrix, SearchReducesTheError) {
  const Workers workers(1);
  const auto w = RandomFloats(64 * 256, 2);
  const double plain = ErrorOf(w, RoundToNearest(w, 64, {4, 32, false}, nullptr, workers)),
               searched = ErrorOf(w, RoundToNearest(w, 64, {4, 32, true}, nullptr, workers));
  EXPECT_LT(searched, 0.9 * plain);
}

TEST(BlockMatrix, ScalesAreExactInF16AndNeverZero) {
  for (const float size : {0.0f, 1e-30f, 1e-6f, 1.0f, 1e4f}) {
    const auto w = RandomFloats(32, 3, size);
    for (bool search : {false, true}) {
      const float scale = BlockScale(w.data(), 32, {4, 32, search});
      EXPECT_GT(scale, 0);
      EXPECT_EQ(scale, HalfToFloat(static_cast<uint16_t>(EncodeFloat(DType::kF16, scale))));
    }
  }
}

TEST(BlockMatrix, ImportanceShiftsTheErrorToUnimportantWeights) {
  std::vector<float> w = RandomFloats(32, 9), importance(32, 1);
  w[0] = 6;
  importance[0] = 1e-6f;
  const float plain = BlockScale(w.data(), 32, {4, 32, true}),
              weighted = BlockScale(w.data(), 32, {4, 32, true}, importance.data());
  EXPECT_LT(weighted, plain);
}

}  // namespace
}  // namespace tern::compress
