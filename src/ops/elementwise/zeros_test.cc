// Tests that minimum, maximum and Clip order -0 below +0, as IEEE 754-2019 does, for any order of the
// operands.
#include <cmath>

#include "ops/test_graph.h"

namespace tern {
namespace {

std::string Signs(const Tensor& t) {
  std::string signs;
  for (double v : ToDoubles(t)) signs += v != 0 ? '?' : std::signbit(v) ? '-' : '+';
  return signs;
}

Tensor Zeros(DType type, const std::vector<double>& values) {
  return Tensor::Of(type, {static_cast<int64_t>(values.size())}, values);
}

class SignedZeros : public testing::TestWithParam<DType> {
 protected:
  const Tensor a_ = Zeros(GetParam(), {-0.0, -0.0, 0.0, 0.0}), b_ = Zeros(GetParam(), {-0.0, 0.0, -0.0, 0.0});
  const Tensor plus_ = Tensor::Scalar(GetParam(), 0.0), minus_ = Tensor::Scalar(GetParam(), -0.0);
};

TEST_P(SignedZeros, MinAndMax) {
  for (const char* op : {"Binary", "Eltwise"}) {
    EXPECT_EQ(Signs(OutputOf(op, {a_, b_}, {{"kind", "min"}})), "---+") << op;
    EXPECT_EQ(Signs(OutputOf(op, {a_, b_}, {{"kind", "max"}})), "-+++") << op;
  }
}

TEST_P(SignedZeros, ClipIsMinAndMax) {
  const Tensor x = Zeros(GetParam(), {-0.0, 0.0});
  for (const Tensor& bound : {plus_, minus_}) {
    EXPECT_EQ(Signs(OutputOf("Clip", {x, Tensor(), bound})),
              Signs(OutputOf("Binary", {x, bound}, {{"kind", "min"}})));
    EXPECT_EQ(Signs(OutputOf("Clip", {x, bound})), Signs(OutputOf("Binary", {x, bound}, {{"kind", "max"}})));
  }
  EXPECT_EQ(Signs(OutputOf("Clip", {x, plus_, minus_})), "--") << "the upper bound wins";
}

TEST_P(SignedZeros, ReluIsMaxWithZero) {
  const Tensor x = Zeros(GetParam(), {-0.0, 0.0}), one = Tensor::Of(GetParam(), {1, 1}, {1});
  EXPECT_EQ(Signs(OutputOf("Unary", {x}, {{"kind", "relu"}})), "++");
  const Tensor column = Tensor::Of(GetParam(), {2, 1}, {-0.0, 0.0});
  EXPECT_EQ(Signs(OutputOf("MatMul", {column, one}, {{"activation", "relu"}})), "++");
}

TEST_P(SignedZeros, ReductionsDoNotDependOnTheOrder) {
  for (const auto& values : {std::vector<double>{-0.0, 0.0}, std::vector<double>{0.0, -0.0}}) {
    EXPECT_EQ(Signs(OutputOf("Reduce", {Zeros(GetParam(), values)}, {{"kind", "min"}})), "-");
    EXPECT_EQ(Signs(OutputOf("Reduce", {Zeros(GetParam(), values)}, {{"kind", "max"}})), "+");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SignedZeros,
                         testing::Values(DType::kF32, DType::kF16, DType::kBF16, DType::kF64),
                         [](const auto& info) { return DTypeName(info.param); });

}  // namespace
}  // namespace tern
