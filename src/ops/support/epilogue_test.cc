// Tests that an op with an activation has the same result as the op without it, followed by the activation's
// op.
#include "ops/support/epilogue.h"

#include <algorithm>
#include <cmath>

#include "ops/elementwise/activation_kind.h"
#include "ops/test_graph.h"

namespace tern {
namespace {

constexpr double kAlpha = 0.75, kBeta = 1.5;  // exact in f16 and bf16

bool HasParameters(const std::string& kind) {
  return std::count(ActivationNames().begin(), ActivationNames().end(), kind) > 0;
}

Tensor Alone(const std::string& kind, const Tensor& x) {
  if (kind == "none") return OutputOf("Identity", {x});
  if (kind == "clip")
    return OutputOf("Clip", {x, Tensor::Scalar(x.dtype(), kAlpha), Tensor::Scalar(x.dtype(), kBeta)});
  if (kind == "gelu" || kind == "gelu_tanh")
    return OutputOf("Gelu", {x}, {{"approximate", kind == "gelu" ? "none" : "tanh"}});
  if (!HasParameters(kind)) return OutputOf("Unary", {x}, {{"kind", kind}});
  return OutputOf("Activation", {x}, {{"kind", kind}, {"alpha", kAlpha}, {"beta", kBeta}});
}

AttrList With(const std::string& kind) {
  return {{"activation", kind}, {"act_alpha", kAlpha}, {"act_beta", kBeta}};
}

void ExpectSame(const Tensor& got, const Tensor& want, const std::string& kind) {
  ASSERT_EQ(got.size(), want.size());
  for (int64_t i = 0; i < want.size(); ++i) {
    const double a = LoadDouble(got, i), b = LoadDouble(want, i);
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
        << kind << ", element " << i << ": " << a << ", " << b;
  }
}

TEST(Epilogue, EveryFunctionIsThatOfItsOwnOp) {
  ASSERT_EQ(EpilogueNames().size(), 4u + 29u + ActivationNames().size());
  for (DType type : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64})
    for (const std::string kind : EpilogueNames()) {
      const std::vector<double> values = {-HUGE_VAL, -20, -2,  -0.75, -0.25, 0,        0.5,
                                          0.75,      1,   1.5, 7,     60,    HUGE_VAL, NAN};
      const auto n = static_cast<int64_t>(values.size());
      const Tensor x = Tensor::Of(type, {n, 1}, values), one = Tensor::Of(type, {1, 1}, {1});
      ExpectSame(OutputOf("MatMul", {x, one}, With(kind)), Alone(kind, x), kind);
    }
}

TEST(Epilogue, ResidualComesBeforeTheActivationAndSpreads) {
  const Tensor a = Tensor::Of(DType::kF32, {2, 1}, {1, 2}), b = Tensor::Of(DType::kF32, {1, 2}, {1, -1});
  const Tensor bias = Tensor::Of(DType::kF32, {2}, {10, 0}),
               residual = Tensor::Of(DType::kF32, {2, 1}, {-20, 5});
  EXPECT_EQ(ToDoubles(OutputOf("MatMul", {a, b, bias, residual}, {{"activation", "relu"}})),
            (std::vector<double>{0, 0, 17, 3}));
  EXPECT_EQ(ToDoubles(OutputOf("MatMul", {a, b, Tensor(), residual})), (std::vector<double>{-19, -21, 7, 3}));
}

TEST(Epilogue, HalfRoundsOnce) {
  // The exact sum is 2048 + 1 + 1. Rounding to f16 before the residual is added would lose both ones.
  const Tensor a = Tensor::Of(DType::kF16, {1, 2}, {2048, 1}), b = Tensor::Of(DType::kF16, {2, 1}, {1, 1}),
               residual = Tensor::Of(DType::kF16, {1}, {1});
  EXPECT_EQ(ToDoubles(OutputOf("MatMul", {a, b, Tensor(), residual}))[0], 2050);
}

TEST(Epilogue, IntegersTakeAResidualThatWraps) {
  const Tensor one = Tensor::Of(DType::kI32, {1, 1}, {1}), big = Tensor::Of(DType::kI32, {1}, {2147483647});
  EXPECT_EQ(ToLongs(OutputOf("MatMul", {one, one, Tensor(), big}))[0], -2147483648LL);
}

TEST(Epilogue, ContradictionsAreRefused) {
  const auto refusal = [](const std::vector<Tensor>& inputs, const AttrList& attrs) {
    return EvaluateOp("MatMul", inputs, attrs).status().message();
  };
  const Tensor i = Tensor::Of(DType::kI32, {1, 1}, {1}), f = Tensor::Of(DType::kF32, {1, 1}, {1});
  EXPECT_NE(
      refusal({i, i}, {{"activation", "relu"}}).find("activation \"relu\" needs a float result, got i32"),
      std::string::npos);
  EXPECT_NE(refusal({f, f, Tensor(), i}, {}).find("input 'residual' must be f32, got i32"),
            std::string::npos);
  EXPECT_NE(refusal({f, f, Tensor(), Tensor::Of(DType::kF32, {2}, {1, 1})}, {})
                .find("input 'residual' [2] does not broadcast to [1,1]"),
            std::string::npos);
}

}  // namespace
}  // namespace tern
