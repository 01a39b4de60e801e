#include "compress/quantize/quantizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compress/quantize/mixed.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "passes/pipeline.h"
#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

Tensor Random(const Dims& dims, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  Tensor t(DType::kF32, dims);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = normal(random);
  return t;
}

class RandomSamples : public Samples {
 public:
  RandomSamples(Dims dims, size_t count) : dims_(std::move(dims)), count_(count) {}
  size_t size() const override { return count_; }
  Result<DatumList> Get(size_t i) override {
    return DatumList{Datum(Random(dims_, 100 + static_cast<unsigned>(i)))};
  }
  std::string NameOf(size_t i) const override { return StrCat("sample ", i); }

 private:
  Dims dims_;
  size_t count_;
};

// A small residual network with a bottleneck, a Concat and a classifier.
class Net {
 public:
  Net() : graph_(std::make_unique<Graph>()), b_(*graph_) {
    InitOps();
    Value* x = graph_->AddInput("x", Type::TensorOf(DType::kF32, Shape::Of({1, 3, 12, 12})));
    Value* a = Relu(Conv(x, 8, 3, 3, "first"));
    Value* c = Relu(Add(Conv(Relu(Conv(a, 8, 8, 3, "inner")), 8, 8, 1, "last_of_block"), a));
    Value* p = b_.Op(
        "Pool", {c},
        {{"kind", "max"}, {"kernel", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
    Value* left = Relu(Conv(p, 4, 8, 1, "left"));
    Value* right = Relu(Conv(p, 4, 8, 3, "right"));
    Value* joined = Relu(Conv(b_.Op("Concat", {left, right}, {{"axis", 1}}), 16, 8, 1, "joined"));
    Value* pooled = b_.Op("Flatten", {b_.Op("GlobalPool", {joined}, {{"kind", "average"}})}, {{"axis", 1}});
    b_.At("classifier", "");
    Value* y =
        b_.Op("MatMul", {pooled, b_.Const(Random({10, 16}, 50), "w"), b_.Const(Random({10}, 51), "bias")},
              {{"transpose_b", true}});
    y->name = "y";
    graph_->SetOutputs({y});
  }
  std::unique_ptr<Graph> Take() {
    EXPECT_TRUE(b_.status().ok()) << b_.status().ToString();
    return std::move(graph_);
  }

 private:
  Value* Conv(Value* x, int64_t out, int64_t in, int64_t kernel, const char* name) {
    b_.At(name, "");
    const float scale = 1 / std::sqrt(static_cast<float>(in * kernel * kernel));
    const int64_t pad = kernel / 2;
    return b_.Op("Conv",
                 {x, b_.Const(Random({out, in, kernel, kernel}, ++seed_, scale), StrCat(name, "_w")),
                  b_.Const(Random({out}, ++seed_, 0.1F), StrCat(name, "_b"))},
                 {{"pads", std::vector<int64_t>{pad, pad, pad, pad}}});
  }
  Value* Relu(Value* x) { return b_.Op("Unary", {x}, {{"kind", "relu"}}); }
  Value* Add(Value* a, Value* b) { return b_.Op("Binary", {a, b}, {{"kind", "add"}}); }

  std::unique_ptr<Graph> graph_;
  Builder b_;
  unsigned seed_ = 0;
};

std::unique_ptr<Quantizer> Fresh(const QuantizeOptions& options = {}) {
  auto quantizer = Quantizer::Make(Net().Take(), options);
  EXPECT_TRUE(quantizer.ok()) << quantizer.status().ToString();
  return std::move(*quantizer);
}

std::unique_ptr<Quantizer> Observed(const QuantizeOptions& options = {}) {
  std::unique_ptr<Quantizer> quantizer = Fresh(options);
  RandomSamples samples({1, 3, 12, 12}, 8);
  EXPECT_TRUE(quantizer->Observe(samples, {}).ok());
  return quantizer;
}

std::vector<double> RunOn(const Graph& graph, unsigned seed) {
  auto session = Session::Create(graph.Clone(), {.threads = 1, .level = Level::kLayout});
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  auto run = (*session)->Run(DatumList{Datum(Random({1, 3, 12, 12}, seed))});
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  return ToDoubles(run->front().tensor);
}

// Returns the signal-to-noise ratio of the quantized graph's outputs in dB.
double Sqnr(const Graph& real, const Graph& quantized) {
  double signal = 0, noise = 0;
  for (unsigned seed = 200; seed < 210; ++seed) {
    const std::vector<double> a = RunOn(real, seed), b = RunOn(quantized, seed);
    for (size_t i = 0; i < a.size(); ++i) signal += a[i] * a[i], noise += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return 10 * std::log10(signal / noise);
}

int CountOps(const Graph& graph, const char* op) {
  int n = 0;
  for (const auto& node : graph.nodes()) n += IsOp(*node, op);
  return n;
}

TEST(Quantizer, KeepsResultsCloseByEachMethod) {
  for (const std::string& name : MethodNames()) {
    QuantizeOptions options;
    options.activations.method = *ParseMethod(name);
    const auto quantizer = Observed(options);
    const auto made = quantizer->Write();
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    EXPECT_GT(Sqnr(quantizer->graph(), *made->graph), 20) << name;
  }
}

TEST(Quantizer, SixteenBitsAreMorePrecise) {
  QuantizeOptions options;
  const double eight = Sqnr(*Net().Take(), *Observed(options)->Write()->graph);
  options.activations.kind.bits = 16;
  for (const bool symmetric : {false, true}) {
    options.activations.kind.symmetric = symmetric;
    EXPECT_GT(Sqnr(*Net().Take(), *Observed(options)->Write()->graph), eight) << symmetric;
  }
}

TEST(Quantizer, EqualizationKeepsTheFunction) {
  QuantizeOptions options;
  options.equalize = true;
  const auto quantizer = Observed(options);
  EXPECT_GT(Sqnr(*Net().Take(), quantizer->graph()), 100);
  EXPECT_GT(Sqnr(*Net().Take(), *quantizer->Write()->graph), 20);
}

TEST(Quantizer, AdaRoundAndBiasCorrectionReduceErrors) {
  QuantizeOptions options;
  options.activations.kind.bits = 16;  // so that the errors of weights dominate
  options.adaround = options.correct_bias = false;
  const double nearest = Sqnr(*Net().Take(), *Observed(options)->Write()->graph);
  options.correct_bias = true;
  EXPECT_GT(Sqnr(*Net().Take(), *Observed(options)->Write()->graph), nearest);
  options.adaround = true;
  const auto made = Observed(options)->Write();
  EXPECT_GT(Sqnr(*Net().Take(), *made->graph),
            nearest - 0.5);  // the inputs of this test are independent numbers
  for (const LayerReport& layer : made->layers) EXPECT_LT(layer.error, layer.nearest_error) << layer.name;
}

TEST(Quantizer, WeightsAreIntegersAndBiasesHaveTheProductOfScales) {
  const auto made = Observed()->Write();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->layers.size(), 7U);
  int integers = 0;
  for (const auto& v : made->graph->values())
    if (v->is_constant()) {
      EXPECT_TRUE(v->constant.dtype() != DType::kF32 || v->constant.rank() < 2) << v->name;
      integers += v->constant.dtype() == DType::kI8;
    }
  EXPECT_EQ(integers, 7);
}

TEST(Quantizer, GraphOptimizesToIntegerOps) {
  const auto made = Observed()->Write();
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(Optimize(*made->graph, {.level = Level::kExtended}).ok());
  EXPECT_GE(CountOps(*made->graph, "QConv"), 5);
  EXPECT_EQ(CountOps(*made->graph, "QGlobalPool"), 1);
  for (const auto& node : made->graph->nodes()) {
    const bool moves = IsOp(*node, "Concat") || IsOp(*node, "Pool");
    EXPECT_TRUE(!moves || node->output(0)->type.dtype == DType::kU8) << node->Describe();
  }
}

TEST(Quantizer, OutputsStayFloatAndKeepTheirNames) {
  const auto made = Observed()->Write();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->graph->outputs()[0]->name, "y");
  EXPECT_TRUE(IsOp(*made->graph->outputs()[0]->producer, "MatMul"));
}

TEST(Quantizer, LayersStayFloatOnRequest) {
  QuantizeOptions options;
  options.keep["inner"] = "a test";
  const auto quantizer = Observed(options);
  const auto made = quantizer->Write({{"right", "another"}});
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->layers.size(), 5U);
  EXPECT_EQ(made->floats.at("inner"), "a test");
  EXPECT_EQ(made->floats.at("right"), "another");
  EXPECT_GT(Sqnr(quantizer->graph(), *made->graph), 20);
}

TEST(Quantizer, EachLayerCanBeTheOnlyOne) {
  const auto quantizer = Observed();
  for (const Layer& only : quantizer->placement().layers) {
    std::map<std::string, std::string> keep;
    for (const Layer& layer : quantizer->placement().layers)
      if (layer.node != only.node) keep[layer.name()] = "a test";
    const auto made = quantizer->Write(keep);
    ASSERT_TRUE(made.ok()) << only.name() << made.status().ToString();
    ASSERT_EQ(made->layers.size(), 1U);
    EXPECT_EQ(made->layers[0].name, only.name());
    EXPECT_GT(Sqnr(quantizer->graph(), *made->graph), 25) << only.name();
  }
}

TEST(Quantizer, ErrorsOfLayersAndOutputs) {
  const auto quantizer = Observed();
  RandomSamples samples({1, 3, 12, 12}, 4);
  const auto meter = ErrorMeter::Make(*quantizer, samples);
  ASSERT_TRUE(meter.ok()) << meter.status().ToString();
  const auto made = quantizer->Write();
  const auto layers = (*meter)->Layers(*made);
  ASSERT_TRUE(layers.ok()) << layers.status().ToString();
  ASSERT_EQ(layers->size(), 7U);
  for (const ErrorSums& s : *layers) {
    EXPECT_GT(s.sqnr(), 20);
    EXPECT_LT(s.sqnr(), 70);
    EXPECT_GT(s.cosine(), 0.99);
    EXPECT_GT(s.max_error(), 0);
  }
  const auto all = (*meter)->Outputs(*made);
  ASSERT_TRUE(all.ok());
  EXPECT_NEAR(all->sqnr(), layers->back().sqnr(), 0.01);  // the last layer's result is the output
  const auto alone = (*meter)->OneByOne({});
  ASSERT_TRUE(alone.ok()) << alone.status().ToString();
  ASSERT_EQ(alone->size(), 7U);
  for (const ErrorSums& s : *alone) EXPECT_GT(s.sqnr(), all->sqnr());
}

TEST(Quantizer, MixedPrecisionReachesTheWantedRatio) {
  const auto quantizer = Observed();
  RandomSamples samples({1, 3, 12, 12}, 4);
  const auto meter = ErrorMeter::Make(*quantizer, samples);
  const double all = (*meter)->Outputs(*quantizer->Write())->sqnr();
  const auto none = ReachSqnr(*quantizer, **meter, all - 1, {});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->keep.empty());
  const auto some = ReachSqnr(*quantizer, **meter, all + 0.5, {});
  ASSERT_TRUE(some.ok()) << some.status().ToString();
  EXPECT_GE(some->sqnr, all + 0.5);
  EXPECT_GE(some->keep.size(), 1U);
  EXPECT_LE(some->keep.size(), 3U);
  EXPECT_FALSE(ReachSqnr(*quantizer, **meter, 120, {}).ok());
}

// Stops with an error after some samples.
class Interrupted : public RandomSamples {
 public:
  Interrupted(size_t count, size_t last) : RandomSamples({1, 3, 12, 12}, count), last_(last) {}
  Result<DatumList> Get(size_t i) override {
    if (i >= last_) return InvalidArgument("interrupted");
    return RandomSamples::Get(i);
  }

 private:
  size_t last_;
};

TEST(Quantizer, ResumesAnInterruptedCalibration) {
  Quantizer::State stored;
  const auto save = [&](const Quantizer::State& state) -> Status {
    stored = state;
    return {};
  };
  const auto first = Fresh();
  Interrupted broken(20, 13);
  EXPECT_FALSE(first->Observe(broken, {}, {{}, save}).ok());
  ASSERT_FALSE(stored.empty());
  RandomSamples samples({1, 3, 12, 12}, 20), others({1, 3, 12, 12}, 19);
  const auto second = Fresh(), uninterrupted = Fresh();
  std::vector<double> shares;
  const Status resumed =
      second->Observe(samples, [&](double share) { shares.push_back(share); }, {stored, {}});
  ASSERT_TRUE(resumed.ok()) << resumed.ToString();
  EXPECT_EQ(shares.size(), 8U);  // 12 samples were done
  ASSERT_TRUE(uninterrupted->Observe(samples, {}).ok());
  EXPECT_EQ(PrintGraphExactly(*second->Write()->graph), PrintGraphExactly(*uninterrupted->Write()->graph));
  const auto third = Fresh();
  EXPECT_FALSE(third->Observe(others, {}, {stored, {}}).ok());
  stored.pop_back();
  EXPECT_FALSE(third->Observe(samples, {}, {stored, {}}).ok());
}

TEST(Quantizer, RefusesBadSamples) {
  auto quantizer = Quantizer::Make(Net().Take(), {});
  ASSERT_TRUE(quantizer.ok());
  RandomSamples none({1, 3, 12, 12}, 0), wrong({1, 3, 9, 9}, 1);
  EXPECT_FALSE((*quantizer)->Observe(none, {}).ok());
  EXPECT_FALSE((*quantizer)->Observe(wrong, {}).ok());
  class NotANumber : public RandomSamples {
   public:
    NotANumber() : RandomSamples({1, 3, 12, 12}, 1) {}
    Result<DatumList> Get(size_t i) override {
      TERN_ASSIGN(DatumList inputs, RandomSamples::Get(i));
      inputs[0].tensor.data<float>()[17] = NAN;
      return inputs;
    }
  } nan;
  const Status status = (*quantizer)->Observe(nan, {});
  EXPECT_EQ(status.message(), "calibration sample 'sample 0': element 17 of input 'x' is NaN");
}

TEST(Quantizer, RefusesModelsWithoutLayers) {
  InitOps();
  auto graph = std::make_unique<Graph>();
  Builder b(*graph);
  Value* x = graph->AddInput("x", Type::TensorOf(DType::kF32, Shape::Of({1, 4})));
  graph->SetOutputs({b.Op("Unary", {x}, {{"kind", "relu"}})});
  EXPECT_FALSE(Quantizer::Make(std::move(graph), {}).ok());
}

}  // namespace
}  // namespace tern::compress
