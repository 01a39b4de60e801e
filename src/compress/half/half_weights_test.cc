#include "compress/half/half_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "ops/ops.h"
#include "runtime/exec/session.h"

namespace tern::compress {
namespace {

// x times a matrix of 8 x 4 numbers that all equal `weight`, but one is `odd`.
std::unique_ptr<Graph> Product(double weight, double odd) {
  InitOps();
  auto graph = std::make_unique<Graph>();
  Builder b(*graph);
  Value* x = graph->AddInput("x", Type::TensorOf(DType::kF32, Shape::Of({2, 8})));
  std::vector<double> w(32, weight);
  w[5] = odd;
  b.At("product", "");
  graph->SetOutputs({b.Op("MatMul", {x, b.Const(Tensor::Of(DType::kF32, {8, 4}, w), "w")})});
  return graph;
}

std::vector<double> RunOn(const Graph& graph) {
  auto session = Session::Create(graph.Clone(), {.threads = 1, .level = Level::kLayout});
  return ToDoubles((*session)
                       ->Run(DatumList{Datum(Tensor::Of(DType::kF32, {2, 8}, std::vector<double>(16, 1)))})
                       ->front()
                       .tensor);
}

TEST(HalfWeights, StoresWeightsInSixteenBits) {
  for (const DType to : {DType::kF16, DType::kBF16}) {
    const auto graph = Product(0.3, -2.7);
    const std::vector<double> before = RunOn(*graph);
    const auto report = StoreWeightsAsHalf(*graph, to);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(report->converted, 1);
    EXPECT_TRUE(report->kept.empty());
    size_t bytes = 0;
    for (const auto& v : graph->values())
      if (v->is_constant()) bytes += v->constant.bytes();
    EXPECT_EQ(bytes, 64U);
    const std::vector<double> after = RunOn(*graph);
    for (size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i], 0.01);
    EXPECT_NE(after, before);
  }
}

TEST(HalfWeights, KeepsWhatOverflows) {
  const auto graph = Product(0.3, 70000);
  const auto report = StoreWeightsAsHalf(*graph, DType::kF16);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->converted, 0);
  ASSERT_EQ(report->kept.size(), 1U);
  EXPECT_EQ(report->kept[0].constant, "w");
  EXPECT_EQ(report->kept[0].why, "element 5, 70000, overflows f16");
  EXPECT_NE(report->kept[0].node.find("product"), std::string::npos);
  EXPECT_EQ(StoreWeightsAsHalf(*graph, DType::kBF16)->converted, 1);
}

TEST(HalfWeights, KeepsWhatIsTooSmallForF16) {
  const auto graph = Product(1e-9, 2e-9);
  const auto report = StoreWeightsAsHalf(*graph, DType::kF16);
  ASSERT_EQ(report->kept.size(), 1U);
  EXPECT_EQ(report->kept[0].why, "rounding to f16 gives a signal-to-noise ratio of 0 dB, less than 40 dB");
}

}  // namespace
}  // namespace tern::compress
