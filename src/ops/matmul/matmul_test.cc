#include "ops/test_graph.h"

namespace tern {
namespace {

Tensor F32(const Dims& dims, const std::vector<double>& values) {
  return Tensor::Of(DType::kF32, dims, values);
}

TEST(MatMul, TransposesScaleAndBias) {
  const Tensor a = F32({2, 3}, {1, 2, 3, 4, 5, 6}), b = F32({2, 2}, {1, 0, 0, 1}),
               bias = F32({2}, {100, 200});
  const Tensor y = OutputOf("MatMul", {a, b, bias}, {{"transpose_a", true}, {"alpha", 2.0}});
  EXPECT_EQ(y.dims(), (Dims{3, 2}));
  EXPECT_EQ(ToDoubles(y), (std::vector<double>{102, 208, 104, 210, 106, 212}));
}

TEST(MatMul, VectorsAndBatches) {
  EXPECT_EQ(OutputOf("MatMul", {F32({3}, {1, 2, 3}), F32({3}, {4, 5, 6})}).dims(), Dims{});
  const Tensor y = OutputOf("MatMul", {F32({2, 1, 1, 2}, {1, 2, 3, 4}), F32({3, 2, 1}, {1, 1, 2, 2, 3, 3})});
  EXPECT_EQ(y.dims(), (Dims{2, 3, 1, 1}));
  EXPECT_EQ(ToDoubles(y), (std::vector<double>{3, 6, 9, 7, 14, 21}));
}

TEST(MatMul, EmptyInnerGivesZeros) {
  EXPECT_EQ(ToDoubles(OutputOf("MatMul", {Tensor(DType::kF32, {2, 0}), Tensor(DType::kF32, {0, 1})})),
            (std::vector<double>{0, 0}));
}

TEST(MatMul, IntegersWrapAndWiden) {
  const Tensor big = Tensor::Of(DType::kI32, {1, 2}, {2147483647, 1}),
               one = Tensor::Of(DType::kI32, {2, 1}, {1, 1});
  EXPECT_EQ(ToLongs(OutputOf("MatMul", {big, one}))[0], -2147483648LL);
  const Tensor bytes =
      OutputOf("MatMul", {Tensor::Of(DType::kU8, {1, 1}, {255}), Tensor::Of(DType::kI8, {1, 1}, {-128})});
  EXPECT_EQ(bytes.dtype(), DType::kI32);
  EXPECT_EQ(ToLongs(bytes)[0], -255 * 128);
}

TEST(MatMul, HalfRoundsOnce) {
  // The exact sum is 2048 + 1 + 1. Rounding to f16 after each addition would lose both ones.
  const Tensor a = Tensor::Of(DType::kF16, {1, 3}, {2048, 1, 1}),
               b = Tensor::Of(DType::kF16, {3, 1}, {1, 1, 1});
  EXPECT_EQ(ToDoubles(OutputOf("MatMul", {a, b}))[0], 2050);
}

TEST(MatMul, ContradictionsAreRefused) {
  const auto refusal = EvaluateOp("MatMul", {F32({1, 2}, {1, 2}), F32({3, 1}, {1, 2, 3})});
  ASSERT_FALSE(refusal.ok());
  EXPECT_NE(refusal.status().message().find("2 columns of a against 3 rows of b"), std::string::npos);
  EXPECT_FALSE(EvaluateOp("MatMul", {F32({}, {1}), F32({1}, {1})}).ok());
  EXPECT_FALSE(EvaluateOp("MatMul", {F32({1, 1}, {1}), F32({1, 1}, {1}), F32({2}, {1, 1})}).ok());
}

TEST(Einsum, EllipsisDiagonalAndPermutation) {
  const Tensor m = F32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(ToDoubles(OutputOf("Einsum", {m}, {{"equation", "ii->i"}})), (std::vector<double>{1, 4}));
  EXPECT_EQ(ToDoubles(OutputOf("Einsum", {m}, {{"equation", "ij"}})), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(ToDoubles(OutputOf("Einsum", {m}, {{"equation", "ji"}})), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(ToDoubles(OutputOf("Einsum", {m, m, m}, {{"equation", "...j, jk, k... -> ..."}})),
            (std::vector<double>{37, 118}));
}

TEST(Einsum, BadEquationsAreRefused) {
  const Tensor m = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const char* equation :
       {"ijk->i", "ij,jk->ik", "ij->ii", "ij->k", "i..j", "......ij", "ii->i", "i1->i", ""})
    EXPECT_FALSE(EvaluateOp("Einsum", {m}, {{"equation", equation}}).ok()) << equation;
}

}  // namespace
}  // namespace tern
