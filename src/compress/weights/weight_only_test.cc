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

class RandomSamples : public Samples {
 public:
  explicit RandomSamples(Dims dims, float size = 1, size_t count = 8)
      : dims_(std::move(dims)), size_(size), count_(count) {}
  size_t size() const override { return count_; }
  Result<DatumList> Get(size_t i) override {
    Tensor t = Noise(dims_, static_cast<uint32_t>(100 + i));
    // Some inputs are larger than others.
    for (int64_t e = 0; e < t.size(); ++e) t.data<float>()[e] *= size_ * (e % 16 == 5 ? 12.0f : 1.0f);
    return DatumList{Datum(t)};
  }
  std::string NameOf(size_t i) const override { return StrCat("sample ", i); }

 private:
  Dims dims_;
  float size_;
  size_t count_;
};

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

TEST(WeightOnly, MethodsWithDataBeatRoundingToNearest) {
  const auto mean = [](WeightMethod method) {
    RandomSamples samples({64, 64});
    const auto before = Network(), graph = Network();
    WeightOnlyOptions options;
    options.method = method;
    const auto report = QuantizeWeights(*graph, options, &samples);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_GT(SqnrAgainst(*before, *graph), 14);
    return report.ok() ? (report->layers[0].sqnr + report->layers[1].sqnr) / 2 : 0;
  };
  const double nearest = mean(WeightMethod::kNearest);
  EXPECT_GT(mean(WeightMethod::kGptq), nearest + 1);
  EXPECT_GT(mean(WeightMethod::kAwq), nearest + 0.2);
  EXPECT_GT(mean(WeightMethod::kAdaRound), nearest + 1);
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
  const auto message = [&](Samples* samples) {
    const auto graph = Network();
    return QuantizeWeights(*graph, gptq, samples).status().ToString();
  };
  RandomSamples none({4, 64}, 1, 0), narrow({4, 63}), not_finite({4, 64}, NAN);
  EXPECT_NE(message(nullptr).find("needs calibration data"), std::string::npos);
  EXPECT_NE(message(&none).find("no calibration samples"), std::string::npos);
  EXPECT_NE(message(&narrow).find("sample 0"), std::string::npos) << message(&narrow);
  EXPECT_NE(message(&not_finite).find("sample 0"), std::string::npos) << message(&not_finite);
  const auto graph = Network();
  WeightOnlyOptions keep;
  keep.keep = {"nothing"};
  EXPECT_NE(QuantizeWeights(*graph, keep).status().ToString().find("'nothing'"), std::string::npos);
  auto small =
      ParseGraph("graph @g(%x: f32[2,2]) -> (%y) {\n  #w: f32[2,2] = (1, 2, 3, 4)\n  %y = MatMul(%x, #w)\n}");
  ASSERT_TRUE(small.ok());
  EXPECT_NE(QuantizeWeights(**small, {}).status().ToString().find("no product by a constant matrix"),
            std::string::npos);
}

}  // namespace
}  // namespace tern::compress
