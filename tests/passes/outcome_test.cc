// Tests the comparison of results that tern_random_graphs makes, because a comparison that accepts too much
// would hide faults of kernels.
#include "outcome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/text.h"
#include "ops/ops.h"

namespace tern {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Strictness kStrict{.infinities = false, .halves = true};

std::unique_ptr<Graph> Parse(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return std::move(*graph);
}

// Row 0 of %a has large terms that cancel. Row 1 has ordinary terms.
struct Products {
  std::unique_ptr<Graph> graph = Parse(R"(graph @g(%a: f32[2,3], %b: f32[3,2]) -> (%y, %z) {
      #one: f32[] = (1)
      %y: f32[2,2] = MatMul(%a, %b)
      %z: f32[2,2] = Binary(%y, #one) {kind="add"}
    })");
  DatumList inputs = {Tensor::Of(DType::kF32, {2, 3}, {3e38, 3e38, -3e38, 1, 2, 3}),
                      Tensor::Of(DType::kF32, {3, 2}, {1, 0, 1, 0, 1, 1})};
  Outcome outcome = *OutcomeOf(*graph, inputs);

  // Returns the message for the reference's outputs with one element replaced.
  std::string With(size_t output, int64_t element, double value) const {
    DatumList got = outcome.outputs;
    got[output].tensor = Tensor::Of(DType::kF32, {2, 2}, ToDoubles(got[output].tensor));
    StoreDouble(got[output].tensor, element, value);
    return Differs(*graph, outcome, got, kStrict);
  }
};

TEST(Outcome, AcceptsTheOverflowOfPartialSums) {
  const Products products;
  EXPECT_EQ(Differs(*products.graph, products.outcome, products.outcome.outputs, kStrict), "");
  EXPECT_EQ(products.With(0, 0, kInfinity), "") << "3e38 + 3e38 overflows before -3e38 is added";
  EXPECT_EQ(products.With(1, 0, kInfinity), "") << "the next node depends on it";
}

TEST(Outcome, RejectsInfinitiesBesideSumsThatMayOverflow) {
  const Products products;
  for (const size_t output : {0, 1}) {
    for (const int64_t element : {1, 2, 3}) {  // one large term, and row 1
      EXPECT_NE(products.With(output, element, kInfinity), "") << output << " " << element;
      EXPECT_NE(products.With(output, element, std::nan("")), "") << output << " " << element;
    }
  }
}

TEST(Outcome, RejectsAnInfiniteActivationOfALargeElement) {
  const auto graph = Parse("graph @g(%x: f32[2]) -> (%y) {\n  %y: f32[2] = Unary(%x) {kind=\"neg\"}\n}");
  const Outcome outcome = *OutcomeOf(*graph, {Tensor::Of(DType::kF32, {2}, {3e38, 1})});
  for (const auto& wrong : std::vector<std::vector<double>>{{-kInfinity, -1}, {-3e38, -kInfinity}})
    EXPECT_NE(Differs(*graph, outcome, {Tensor::Of(DType::kF32, {2}, wrong)}, kStrict), "");
}

TEST(Outcome, ActivationAmplifiesTheErrorOfTheSums) {
  const auto graph = Parse(R"(graph @g(%a: f32[1,2], %b: f32[2,1]) -> (%y) {
      %y: f32[1,1] = MatMul(%a, %b) {activation="tan"}
    })");
  // The sum is 1.57; the derivative of tan is 1.6e6 there.
  const DatumList inputs = {Tensor::Of(DType::kF32, {1, 2}, {1, 0.57}),
                            Tensor::Of(DType::kF32, {2, 1}, {1, 1})};
  const Outcome outcome = *OutcomeOf(*graph, inputs);
  const double y = LoadDouble(outcome.outputs[0].tensor, 0);
  const auto with = [&](double v) {
    return Differs(*graph, outcome, {Tensor::Of(DType::kF32, {1, 1}, {v})}, kStrict);
  };
  EXPECT_EQ(with(y * (1 + 1e-4)), "");
  EXPECT_NE(with(y * 1.5), "");
}

TEST(Outcome, AcceptsInfiniteWeightsTimesPadding) {
  const auto graph = Parse(R"(graph @g(%x: f32[1,1,2]) -> (%y) {
      #w: f32[2,1,3] = (inf, 2, 1, 1, 2, 1)
      %y: f32[1,2,2] = Conv(%x, #w) {pads=[1, 1]}
    })");
  const Outcome outcome = *OutcomeOf(*graph, {Tensor::Of(DType::kF32, {1, 1, 2}, {1, 3})});
  const auto with = [&](const std::vector<double>& y) {
    return Differs(*graph, outcome, {Tensor::Of(DType::kF32, {1, 2, 2}, y)}, kStrict);
  };
  EXPECT_EQ(with({5, kInfinity, 5, 7}), "");
  EXPECT_EQ(with({std::nan(""), kInfinity, 5, 7}), "") << "the first element is inf times padding";
  EXPECT_NE(with({5, kInfinity, 5, kInfinity}), "") << "the other channel has finite weights";
}

// Returns whether the outcome accepts a result that is larger by 1. The sum of the products is 0.49 of the
// result's scale, and the scale of the operands' product 0.04 of it.
bool AcceptsNextInteger(const char* bias) {
  const auto graph = Parse(StrCat(R"(graph @g(%a: u8[1,1]) -> (%y) {
      #w: i8[1,1] = (0)  #s: f32[] = (0.2)  #one: f32[] = (1)
      #b: f32[1] = (0.49)  #i: i32[1] = (49)  #t: f32[] = (0.01)
      %x: f32[1,1] = Dequantize(%a, #s)
      %v: f32[1,1] = Dequantize(#w, #s)
      %c: f32[1] = )",
                                  bias, R"(
      %m: f32[1,1] = MatMul(%x, %v, %c)
      %y: u8[1,1] = Quantize(%m, #one)
    })"));
  const Outcome outcome = *OutcomeOf(*graph, {Tensor::Of(DType::kU8, {1, 1}, {1})});
  EXPECT_EQ(LoadDouble(outcome.outputs[0].tensor, 0), 0);
  return Differs(*graph, outcome, {Tensor::Of(DType::kU8, {1, 1}, {1})}, kStrict).empty();
}

TEST(Outcome, AcceptsTheRoundingOfARealBias) { EXPECT_TRUE(AcceptsNextInteger("Unary(#b) {kind=\"abs\"}")); }

TEST(Outcome, RejectsAnErrorOfAnIntegerBias) { EXPECT_FALSE(AcceptsNextInteger("Dequantize(#i, #t)")); }

}  // namespace
}  // namespace tern
