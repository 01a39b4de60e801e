#include "ops/test_graph.h"

namespace tern {
namespace {

std::vector<double> Draw(const AttrList& attrs, const std::vector<int64_t>& shape) {
  return ToDoubles(OutputOf("Random", {Tensor::Ints(shape)}, attrs));
}

// The expected numbers come from numpy.random.RandomState(0).uniform and .normal.
TEST(Random, SeededNumbersAreNumpys) {
  const auto u = Draw({{"dtype", DType::kF64}, {"seeded", true}}, {3});
  EXPECT_DOUBLE_EQ(u[0], 0.5488135039273248);
  EXPECT_DOUBLE_EQ(u[2], 0.6027633760716439);
  const auto n = Draw({{"kind", "normal"}, {"dtype", DType::kF64}, {"seeded", true}}, {3});
  EXPECT_DOUBLE_EQ(n[0], 1.764052345967664);
  EXPECT_DOUBLE_EQ(n[1], 0.4001572083672233);
  EXPECT_DOUBLE_EQ(n[2], 0.9787379841057392);
}

TEST(Random, UnseededRunsDiffer) {
  EXPECT_NE(Draw({}, {8}), Draw({}, {8}));
  for (double v : Draw({{"a", 2.0}, {"b", 3.0}}, {100})) EXPECT_TRUE(v >= 2 && v <= 3) << v;
}

TEST(Random, BadShapesAreRefused) {
  EXPECT_FALSE(EvaluateOp("Random", {Tensor::Ints({2, -1})}).ok());
  EXPECT_FALSE(EvaluateOp("Random", {Tensor::Ints({int64_t{1} << 40, int64_t{1} << 40})}).ok());
}

}  // namespace
}  // namespace tern
