// Tests that the result for an input never depends on earlier runs of the session or its clones.
#include <tuple>

#include "runtime/test_support.h"

namespace tern {
namespace {

// Returns a graph with a node that reads %x and the constant %w.
std::shared_ptr<const Graph> WithWeights(const std::string& x, const Dims& w, const std::string& node) {
  InitOps();
  auto graph = ParseGraph(
      StrCat("graph @g(%x: ", x, ", %w: ", Describe(DType::kF32, w), ") -> (%y) {\n  %y = ", node, "\n}"));
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  (*graph)->InputToConstant((*graph)->inputs()[1], Noise(w, 1));
  return std::move(*graph);
}

SessionOptions Optimized() {
  SessionOptions options;
  options.threads = 1;
  options.level = Level::kLayout;
  return options;
}

Tensor RunOn(Session& session, const Tensor& x) {
  auto y = session.Run(DatumList{x});
  EXPECT_TRUE(y.ok()) << y.status().ToString();
  return y.ok() ? (*y)[0].tensor.Clone() : Tensor();
}

struct Row {
  const char* x;
  Dims w;
  const char* node;
  std::vector<Dims> sizes;
};

// Within each entry, the fastest kernel differs between the sizes: 1 and 512 rows, small and large images,
// batches.
const Row kRows[] = {
    {"f32[N,512]", {512, 512}, "MatMul(%x, %w)", {{1, 512}, {512, 512}, {33, 512}}},
    {"f32[N,L,128]", {128, 256}, "MatMul(%x, %w)", {{1, 1, 128}, {2, 300, 128}}},
    {"f32[N,32,H,W]",
     {64, 32, 3, 3},
     "Conv(%x, %w) {pads=[1,1,1,1]}",
     {{1, 32, 4, 4}, {1, 32, 56, 56}, {2, 32, 2, 2}, {1, 32, 13, 40}}},
    {"f32[N,64,7,7]", {96, 64, 3, 3}, "Conv(%x, %w) {pads=[1,1,1,1]}", {{1, 64, 7, 7}, {16, 64, 7, 7}}},
    {"f32[N,16,H,W]", {32, 16, 7, 7}, "Conv(%x, %w) {pads=[3,3,3,3]}", {{1, 16, 3, 3}, {1, 16, 64, 64}}},
    {"f32[N,256,H,W]", {512, 256, 1, 1}, "Conv(%x, %w)", {{1, 256, 2, 2}, {1, 256, 28, 28}}},
    {"f32[N,32,H,W]",
     {32, 64, 4, 4},
     "ConvTranspose(%x, %w) {strides=[2,2]}",
     {{1, 32, 2, 2}, {1, 32, 30, 30}}},
};

TEST(History, DoesNotMatter) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(StrCat(row.node, " of ", row.x));
    const auto graph = WithWeights(row.x, row.w, row.node);
    std::vector<Tensor> inputs, alone;
    for (size_t i = 0; i < row.sizes.size(); ++i) {
      inputs.push_back(Noise(row.sizes[i], static_cast<uint32_t>(i + 2)));
      alone.push_back(RunOn(*SessionOf(graph, Optimized()), inputs[i]));
      auto want = EvaluateGraph(*graph, {inputs[i]});
      ASSERT_TRUE(want.ok());
      const auto a = ToDoubles(alone[i]), b = ToDoubles((*want)[0].tensor);
      for (size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 1e-3) << i << " at " << j;
    }
    for (size_t first = 0; first < inputs.size(); ++first) {
      auto session = SessionOf(graph, Optimized());
      RunOn(*session, inputs[first]);
      for (size_t i = 0; i < inputs.size(); ++i)
        EXPECT_TRUE(SameTensor(RunOn(*session, inputs[i]), alone[i])) << i << " after " << first;
    }
  }
}

// The last slice of a split batch is smaller than the other slices. The kernels of all slices use the same
// packed weights.
TEST(History, SlicesOfABatchShareTheirWeights) {
  for (const auto& [x, w, node, batches] :
       std::vector<std::tuple<const char*, Dims, const char*, std::vector<int64_t>>>{
           {"f32[N,512]", {512, 512}, "Relu(MatMul(Relu(MatMul(%x, %w)), %w))", {257, 4097}},
           {"f32[N,64,14,14]",
            {64, 64, 3, 3},
            "Relu(Conv(Relu(Conv(%x, %w) {pads=[1,1,1,1]}), %w) {pads=[1,1,1,1]})",
            {3, 33, 49}},
           {"f32[33,64,14,14]",
            {64, 64, 3, 3},
            "Relu(Conv(Relu(Conv(%x, %w) {pads=[1,1,1,1]}), %w) {pads=[1,1,1,1]})",
            {33}}}) {
    SCOPED_TRACE(StrCat(node, " of ", x));
    const auto graph = WithWeights(x, w, node);
    for (int64_t n : batches) {
      SessionOptions options = Optimized();
      options.value_cache = size_t{1} << 20;
      Dims dims = graph->inputs()[0]->type.shape.rank() == 2 ? Dims{n, 512} : Dims{n, 64, 14, 14};
      auto session = SessionOf(graph, options);
      const Tensor in = Noise(dims, 9), got = RunOn(*session, in);
      options.value_cache = SIZE_MAX;
      const auto a = ToDoubles(got), b = ToDoubles(RunOn(*SessionOf(graph, options), in));
      ASSERT_EQ(a.size(), b.size());
      for (size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 1e-2) << n << " at " << j;
    }
  }
}

// A node with unknown dims is tuned with a representative query. The dims of the query must be consistent
// with each other.
TEST(History, UnknownDimsAreTuned) {
  for (const auto& [inputs, body, x] : std::vector<std::tuple<std::string, std::string, DatumList>>{
           {"%x: f32[N,D]", "%y = MatMul(%x, %w)", {Noise({3, 4096}, 5)}},
           {"%x: f32[N,A,B]", "%f = Flatten(%x) {axis=1}\n  %y = MatMul(%f, %w)", {Noise({3, 64, 64}, 5)}},
           {"%a: f32[N,A], %b: f32[N,B]",
            "%x = Concat(%a, %b) {axis=1}\n  %y = MatMul(%x, %w)",
            {Noise({3, 4000}, 5), Noise({3, 96}, 6)}},
           {"%x: f32[*]", "%y = MatMul(%x, %w)", {Noise({2, 3, 4096}, 5)}}}) {
    SCOPED_TRACE(body);
    InitOps();
    auto graph = ParseGraph(StrCat("graph @g(", inputs, ", %w: f32[4096,64]) -> (%y) {\n  ", body, "\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    (*graph)->InputToConstant((*graph)->inputs().back(), Noise({4096, 64}, 1));
    SessionOptions options = Optimized();
    options.tune_ms = 200, options.cache_dir = "";
    auto got = SessionOf(std::shared_ptr<const Graph>((*graph)->Clone()), options)->Run(x);
    auto want = EvaluateGraph(**graph, x);
    ASSERT_TRUE(got.ok() && want.ok()) << got.status().ToString();
    const auto a = ToDoubles((*got)[0].tensor), b = ToDoubles((*want)[0].tensor);
    for (size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 1e-3) << j;
  }
}

TEST(History, AWeightOfManyNodesIsPackedOnce) {
  const auto packed = [](const std::string& node) {
    auto session = SessionOf(WithWeights("f32[N,256]", {256, 256}, node), Optimized());
    RunOn(*session, Noise({4, 256}, 2));
    return session->Memory().packed;
  };
  const size_t once = packed("MatMul(%x, %w)");
  EXPECT_GE(once, 256u * 256 * 4);
  EXPECT_EQ(packed("MatMul(Tanh(MatMul(Tanh(MatMul(%x, %w)), %w)), %w)"), once);
}

// Returns whether any weight is still in memory after a run.
bool KeepsWeights(const Graph& source, const Dims& size, bool bf16 = false) {
  std::unique_ptr<Graph> graph = source.Clone();
  std::vector<std::weak_ptr<const void>> weights;
  for (const auto& v : graph->values()) {
    if (!v->is_constant() || v->constant.bytes() < 4096) continue;
    auto owner = std::make_shared<Tensor>(v->constant.Clone());
    weights.push_back(owner);
    v->constant.SetBuffer(Buffer::Borrow(owner->raw(), owner->bytes(), owner));
  }
  EXPECT_FALSE(weights.empty());
  SessionOptions options = Optimized();
  if (bf16) options.precision = Precision::kBf16;
  auto session = SessionOf(std::shared_ptr<const Graph>(std::move(graph)), options);
  RunOn(*session, Noise(size, 3));
  return std::any_of(weights.begin(), weights.end(), [](const auto& w) { return !w.expired(); });
}

// Weights are released if all dims use the same pack layout. Otherwise they stay in memory.
TEST(History, DecidesWhichWeightsStay) {
  const auto keeps = [](const Row& row, bool bf16) {
    return KeepsWeights(*WithWeights(row.x, row.w, row.node), row.sizes[0], bf16);
  };
  for (const bool bf16 : {false, true}) {
    SCOPED_TRACE(bf16);
    EXPECT_FALSE(keeps(kRows[0], bf16)) << "the number of rows does not matter";
    EXPECT_TRUE(keeps(kRows[2], bf16)) << "the size of the images matters";
    EXPECT_FALSE(keeps(kRows[3], bf16)) << "the size of the batch does not matter";
    EXPECT_FALSE(keeps(kRows[5], bf16)) << "1x1 convolutions have only one pack layout";
    EXPECT_FALSE(keeps({"f32[64,N]", {64, 128}, "MatMul(%x, %w) {transpose_a=true}", {{64, 5}}}, bf16));
  }
}

TEST(History, RecurrentWeightsAreReleased) {
  InitOps();
  auto graph = ParseGraph(
      "graph @g(%x: f32[L,N,64], %w: f32[1,256,64], %r: f32[1,256,64]) -> (%y) {\n"
      "  %y, %h, %c = Rnn(%x, %w, %r) {kind=\"lstm\"}\n}");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const std::vector<Value*> inputs = (*graph)->inputs();
  for (size_t i : {1, 2}) (*graph)->InputToConstant(inputs[i], Noise({1, 256, 64}, static_cast<uint32_t>(i)));
  for (const bool bf16 : {false, true}) EXPECT_FALSE(KeepsWeights(**graph, {3, 2, 64}, bf16)) << bf16;
}

}  // namespace
}  // namespace tern
