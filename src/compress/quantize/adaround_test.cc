#include "compress/quantize/adaround.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/builder.h"
#include "ops/ops.h"
#include "runtime/exec/session.h"

namespace tern::compress {
namespace {

Tensor RandomWeights(const Dims& dims, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.3F, 1);
  Tensor t(DType::kF32, dims);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = normal(random);
  return t;
}

// A graph with one Conv or MatMul, whose weights are random numbers of dims `w`.
struct OneLayer {
  OneLayer(const char* op, Dims x, const Dims& w, const AttrList& attrs) {
    InitOps();
    Builder b(graph);
    Value* in = graph.AddInput("x", Type::TensorOf(DType::kF32, Shape::Of(x)));
    Value* y = b.Op(op, {in, b.Const(RandomWeights(w, 7))}, attrs);
    EXPECT_TRUE(b.status().ok()) << b.status().ToString();
    graph.SetOutputs({y});
    node = y->producer;
    dims = std::move(x);
  }
  Graph graph;
  Node* node;
  Dims dims;
};

using Ints = std::vector<int64_t>;

std::vector<std::unique_ptr<OneLayer>> Layers() {
  std::vector<std::unique_ptr<OneLayer>> made;
  const auto add = [&](const char* op, Dims x, Dims w, AttrList attrs) {
    made.push_back(std::make_unique<OneLayer>(op, std::move(x), w, attrs));
  };
  add("Conv", {1, 3, 7, 9}, {4, 3, 3, 2}, {{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}});
  add("Conv", {2, 4, 8, 8}, {6, 2, 3, 3},
      {{"group", 2}, {"dilations", Ints{2, 1}}, {"pads", Ints{2, 1, 2, 1}}});
  add("Conv", {1, 5, 6, 6}, {5, 1, 3, 3},
      {{"group", 5}, {"auto_pad", "same_upper"}, {"strides", Ints{2, 2}}});
  add("Conv", {1, 3, 11}, {4, 3, 3}, {{"pads", Ints{1, 1}}});
  add("MatMul", {5, 6}, {6, 3}, {});
  add("MatMul", {2, 3, 6}, {4, 6}, {{"transpose_b", true}});
  return made;
}

// Multiplying the sampled rows by the weights gives the layer's results. This shows that the rows are those
// of im2col.
TEST(Patches, RowsTimesWeightsAreResults) {
  for (const auto& layer : Layers()) {
    const auto patches = Patches::Of(*layer->node);
    ASSERT_TRUE(patches);
    const Tensor x = RandomWeights(layer->dims, 3);
    auto session = Session::Create(layer->graph.Clone(), {.threads = 1});
    const Tensor y = (*session)->Run(DatumList{Datum(x)})->front().tensor;
    const WeightRows w = RowsOf(*layer->node);
    const bool conv = layer->node->op->name == std::string("Conv");
    const int64_t positions = y.size() / w.rows, plane = conv ? positions / x.dim(0) : 1;
    const std::vector<float> rows = patches->Sample(x, positions, 1);
    const int64_t width = patches->groups() * patches->columns();
    for (int64_t p = 0; p < positions; ++p)
      for (int64_t r = 0; r < w.rows; ++r) {
        const int64_t group = r / (w.rows / patches->groups());
        double sum = 0;
        for (int64_t c = 0; c < w.columns; ++c)
          sum += w.row(r)[c] * rows[static_cast<size_t>(p * width + group * w.columns + c)];
        const int64_t at = conv ? (p / plane * w.rows + r) * plane + p % plane : p * w.rows + r;
        ASSERT_NEAR(sum, LoadDouble(y, at), 1e-4) << layer->node->Describe() << p << " " << r;
      }
  }
}

TEST(Patches, NotForThreeAxesAndTransposedOperands) {
  OneLayer volume("Conv", {1, 2, 4, 4, 4}, {3, 2, 1, 1, 1}, {});
  EXPECT_FALSE(Patches::Of(*volume.node));
  OneLayer transposed("MatMul", {6, 5}, {6, 3}, {{"transpose_a", true}});
  EXPECT_FALSE(Patches::Of(*transposed.node));
}

TEST(Patches, EmptyOperandHasNoRows) {
  OneLayer layer("MatMul", {5, 6}, {6, 3}, {});
  EXPECT_TRUE(Patches::Of(*layer.node)->Sample(Tensor(DType::kF32, {0, 6}), 4, 1).empty());
}

// Rows whose columns depend on each other, so that errors of weights can compensate each other.
std::vector<float> CorrelatedRows(int64_t count, int64_t columns, unsigned seed) {
  const Tensor hidden = RandomWeights({count, 4}, seed), mix = RandomWeights({4, columns}, 99),
               own = RandomWeights({count, columns}, seed + 1);
  std::vector<float> rows;
  for (int64_t r = 0; r < count; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      float v = 0.2F * own.data<float>()[r * columns + c];
      for (int64_t k = 0; k < 4; ++k)
        v += hidden.data<float>()[r * 4 + k] * mix.data<float>()[k * columns + c];
      rows.push_back(v);
    }
  return rows;
}

TEST(AdaRound, DecreasesTheErrorOfResultsOnOtherData) {
  OneLayer layer("MatMul", {5, 64}, {16, 64}, {{"transpose_b", true}});
  const WeightRows real = RowsOf(*layer.node);
  const Patches patches = *Patches::Of(*layer.node);
  Moments moments(patches), other(patches);
  moments.Add(CorrelatedRows(1000, 64, 1), Workers(2));
  other.Add(CorrelatedRows(1000, 64, 5), Workers(1));
  const IntegerWeights nearest = RoundWeights(real, {}, 1, {});
  IntegerWeights adapted = nearest;
  RoundAdaptively(real, moments, 0, Workers(2), adapted);
  const double gain = 10 * std::log10(ResultError(real, other, nearest) / ResultError(real, other, adapted));
  EXPECT_GT(gain, 4);
  for (int64_t r = 0; r < real.rows; ++r)
    for (int64_t c = 0; c < real.columns; ++c)
      EXPECT_LT(std::fabs(adapted.Real(r, c) - real.row(r)[c]),
                adapted.scales[static_cast<size_t>(r)] * 1.0001);
  IntegerWeights again = nearest;
  RoundAdaptively(real, moments, 0, Workers(1), again);
  EXPECT_EQ(again.values, adapted.values);  // threads do not matter
}

TEST(AdaRound, MeanErrorsAreThoseOfTheResults) {
  for (const auto& layer : Layers()) {
    const Patches patches = *Patches::Of(*layer->node);
    const WeightRows real = RowsOf(*layer->node);
    Moments moments(patches);
    const std::vector<float> rows = patches.Sample(RandomWeights(layer->dims, 4), 50, 2);
    moments.Add(rows, Workers(1));
    const IntegerWeights made = RoundWeights(real, {}, 1, {});
    const std::vector<double> errors = MeanErrors(real, moments, made);
    ASSERT_EQ(errors.size(), static_cast<size_t>(real.rows));
    const int64_t last = real.rows - 1, group = patches.groups() - 1,
                  width = patches.groups() * patches.columns();
    double sum = 0;
    for (int64_t r = 0; r < moments.rows(); ++r)
      for (int64_t c = 0; c < real.columns; ++c)
        sum += (made.Real(last, c) - real.row(last)[c]) *
               rows[static_cast<size_t>(r * width + group * real.columns + c)];
    EXPECT_NEAR(errors.back(), sum / static_cast<double>(moments.rows()), 1e-6);
  }
}

}  // namespace
}  // namespace tern::compress
