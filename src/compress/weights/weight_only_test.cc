#include "compress/weights/weight_only.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "runtime/test_support.h"

namespace tern::compress {
namespace {

// Two layers with a bias and an activation, and a product that is too small to be quantized.
std::unique_ptr<Graph> Network() {
  InitOps();
  auto parsed = ParseGraph(
      R"(graph @g(%x: f32[N,64], %w1: f32[64,96], %b1: f32[96], %w2: f32[96,64], %w3: f32[64,4]) -> (%y, %z) {
  %h = Relu(MatMul(%x, %w1) + %b1)
  %y = MatMul(%h, %w2)
  %z = MatMul(%y, %w3)
})");
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  uint32_t seed = 3;
  const std::vector<Value*> inputs = (*parsed)->inputs();
  for (Value* v : inputs)
    if (v->name != "x") (*parsed)->InputToConstant(v, Noise(v->type.shape.Concrete(), seed++));
  return std::move(*parsed);
}

int CountOf(const Graph& graph, std::string_view op) {
  int count = 0;
  for (const auto& node : graph.nodes()) count += node->op->name == op;
  return count;
}

CalibrationData SamplesOf(const Dims& dims, float size = 1) {
  return {8, [=](size_t i) -> Result<DatumList> {
            Tensor t = Noise(dims, static_cast<uint32_t>(100 + i));
            for (int64_t e = 0; e < t.size(); ++e) t.data<float>()[e] *= size;
            return DatumList{Datum(t)};
          }};
}

double SqnrAgainst(const Graph& want_graph, const Graph& got_graph) {
  const DatumList feeds = {Datum(Noise({16, 64}, 77))};
  auto want = EvaluateGraph(want_graph, feeds), got = EvaluateGraph(got_graph, feeds);
  EXPECT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
  double signal = 0, noise = 0;
  for (int64_t i = 0; i < (*want)[0].tensor.size(); ++i) {
    const double a = LoadDouble((*want)[0].tensor, i), b = LoadDouble((*got)[0].tensor, i);
    signal += a * a, noise += (a - b) * (a - b);
  }
  return 10 * std::log10(signal / noise);
}

TEST(WeightOnly, ReplacesProductsAndKeepsResults) {
  struct Row {
    WeightOnlyOptions options;
    double decibels;
  };
  std::vector<Row> rows(4);
  rows[0] = {{.format = {4, 32, true}}, 16};
  rows[1] = {{.format = {8, 0, false}}, 38};
  rows[2] = {{.format = {8, 32, false}}, 40};
  rows[3] = {{.format = {8, 0, false}, .dynamic = true}, 34};
  for (const Row& row : rows) {
    const auto before = Network(), graph = Network();
    const auto report = QuantizeWeights(*graph, row.options);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(CountOf(*graph, "MatMulNBits"), 2);
    EXPECT_EQ(CountOf(*graph, "MatMul"), 1);
    EXPECT_EQ(report->layers.size(), 2u);
    EXPECT_LT(report->bytes_after, 0.27 * static_cast<double>(report->bytes_before));
    EXPECT_GT(SqnrAgainst(*before, *graph), row.decibels) << row.options.format.bits << " bits";
    EXPECT_EQ(graph->outputs()[0]->name, "y");
  }
}

TEST(WeightOnly, GptqBeatsRoundingToNearest) {
  const CalibrationData data = SamplesOf({64, 64});
  double mean[2] = {};
  for (int i : {0, 1}) {
    const auto graph = Network();
    WeightOnlyOptions options;
    options.method = i ? WeightMethod::kGptq : WeightMethod::kNearest;
    const auto report = QuantizeWeights(*graph, options, data);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    mean[i] = (report->layers[0].sqnr + report->layers[1].sqnr) / 2;
  }
  EXPECT_GT(mean[1], mean[0]);
}

TEST(WeightOnly, KeepsNamedNodesFloat) {
  const auto graph = Network();
  graph->nodes().front()->name = "first";
  for (const auto& node : graph->nodes())
    if (node->op->name == "MatMul" && node->input(0) == graph->inputs()[0]) node->name = "first";
  WeightOnlyOptions options;
  options.keep = {"first"};
  const auto report = QuantizeWeights(*graph, options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->layers.size(), 1u);
}

TEST(WeightOnly, RefusesWhatItCannotUse) {
  WeightOnlyOptions gptq;
  gptq.method = WeightMethod::kGptq;
  const auto message = [&](const CalibrationData& data) {
    const auto graph = Network();
    return QuantizeWeights(*graph, gptq, data).status().ToString();
  };
  EXPECT_NE(message({}).find("needs calibration data"), std::string::npos);
  EXPECT_NE(message(SamplesOf({4, 63})).find("calibration sample 0"), std::string::npos);
  EXPECT_NE(message(SamplesOf({4, 64}, NAN)).find("not finite"), std::string::npos);
  auto small =
      ParseGraph("graph @g(%x: f32[2,2]) -> (%y) {\n  #w: f32[2,2] = (1, 2, 3, 4)\n  %y = MatMul(%x, #w)\n}");
  ASSERT_TRUE(small.ok());
  EXPECT_NE(QuantizeWeights(**small, {}).status().ToString().find("no product by a constant matrix"),
            std::string::npos);
}

}  // namespace
}  // namespace tern::compress
