// Tests which steps are split, and that splitting a batch does not change the results.
#include "runtime/plan/batch_split.h"

#include <map>

#include "runtime/test_support.h"

namespace tern {
namespace {

struct TestNet {
  std::shared_ptr<const Graph> graph;
  DatumList inputs;
};

// Inputs whose names start with w become constants.
TestNet Make(const std::string& signature, const std::string& body) {
  InitOps();
  auto graph = ParseGraph("graph @g(" + signature + ") -> (%y) {\n" + body + "\n}");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  TestNet net;
  uint32_t seed = 1;
  const std::vector<Value*> inputs = (*graph)->inputs();
  for (Value* v : inputs) {
    Tensor t = Noise(v->type.shape.Concrete(), seed++);
    if (v->name[0] == 'w')
      (*graph)->InputToConstant(v, std::move(t));
    else
      net.inputs.emplace_back(std::move(t));
  }
  net.graph = std::move(*graph);
  return net;
}

// Returns the largest number of slices of a node, or 1 if no batch is split. Expects the same bits with and
// without splitting.
int SlicesOf(const TestNet& net, size_t cache, int threads = 1) {
  SessionOptions options;
  options.threads = threads;
  options.value_cache = SIZE_MAX;
  auto full = SessionOf(net.graph, options);
  options.value_cache = cache;
  auto split = SessionOf(net.graph, options);
  int slices = 0;
  for (int round = 0; round < 2; ++round) {
    auto want = full->Run(net.inputs), got = split->Run(net.inputs);
    EXPECT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
    if (!want.ok() || !got.ok()) return 0;
    EXPECT_TRUE(SameTensor((*got)[0].tensor, (*want)[0].tensor));
    auto reference = EvaluateGraph(*net.graph, net.inputs);
    const auto a = ToDoubles((*got)[0].tensor), b = ToDoubles((*reference)[0].tensor);
    for (size_t i = 0; i < a.size(); ++i)
      if (std::abs(a[i] - b[i]) > 1e-3 * (1 + std::abs(b[i]))) {
        ADD_FAILURE() << "element " << i << ": " << a[i] << " against " << b[i];
        break;
      }
  }
  std::map<const Node*, int> calls;
  for (const StepInfo& step : split->Steps()) slices = std::max(slices, ++calls[step.node]);
  return slices;
}

// The batch has five items. The cache holds the input and output values of one item.
TEST(BatchSplit, SplitsNodesThatProcessItemsIndependently) {
  const std::string image = "%x: f32[5,4,6,7]";
  for (const auto& [other_inputs, body] : std::vector<std::pair<std::string, std::string>>{
           {"%w: f32[3,4,1,1]", "%a = Conv(%x, %w)\n%y = Relu(%a)"},
           {"%w: f32[4,1,3,3], %r: f32[5,4,6,7]",
            "%a = Relu(%x)\n%y = Conv(%a, %w, _, %r) {group=4,pads=[1,1,1,1]}"},
           {"%w: f32[4,1,3,3], %r: f32[1,4,1,1]",
            "%a = Relu(%x)\n%y = Conv(%a, %w, _, %r) {group=4,pads=[1,1,1,1]}"},
           {"%w: f32[4,2,2,2]", "%a = ConvTranspose(%x, %w) {strides=[2,2]}\n%y = Relu(%a)"},
           {"%r: f32[6,7]",
            "%a = Pool(%x) {kind=\"max\",kernel=[2,2]}\n%b = Relu(%x)\n%c = %b + %r\n"
            "%d = GlobalPool(%c) {kind=\"average\"}\n%y = %a * %d"},
           {"%r: f32[5,4,1,1]", "%a = Relu(%x)\n%y = %a * %r"},
           {"%r: f32[1,4,6,7]", "%a = Relu(%x)\n%y = %a * %r"},
           {"%w: f32[4], %w2: f32[4]", "%a = Scale(%x, %w, %w2) {axis=1}\n%y = Softmax(%a) {axis=1}"},
           {"%w: f32[7]", "%a = Relu(%x)\n%y = LayerNorm(%a, %w)"},
           {"%w: f32[7,3]", "%a = MatMul(%x, %w)\n%y = Relu(%a)"},
           {"%r: f32[5,2,6,7]", "%a = Relu(%x)\n%b = Concat(%a, %r) {axis=1}\n%y = Relu(%b)"},
           {"%r: f32[5,6,7,4]", "%a = Relu(%x)\n%b = Transpose(%a) {perm=[0,2,3,1]}\n%y = %b + %r"},
       }) {
    SCOPED_TRACE(body);
    const TestNet net = Make(image + ", " + other_inputs, body);
    EXPECT_GE(SlicesOf(net, 2400), 3);
    SlicesOf(net, 2400, 3);
    EXPECT_EQ(SlicesOf(net, size_t{1} << 30), 1) << "a cache that holds everything";
  }
}

// Equal slices of a node share one Choice. The batch has seven items, so the last slice is smaller.
TEST(BatchSplit, ExplainsEqualSlicesOnce) {
  const TestNet net = Make("%x: f32[7,4,6,7], %w: f32[4,4,1,1]", "%a = Conv(%x, %w)\n%y = Relu(%a)");
  SessionOptions options;
  options.threads = 1;
  options.explain = true;
  options.value_cache = 4000;
  auto session = SessionOf(net.graph, options);
  ASSERT_TRUE(session->Run(net.inputs).ok());
  std::map<const Node*, int> steps, slices, choices;
  for (const StepInfo& step : session->Steps()) ++steps[step.node];
  for (const Choice& choice : session->Choices()) {
    slices[choice.node] += static_cast<int>(choice.slices);
    ++choices[choice.node];
  }
  for (const auto& node : net.graph->nodes()) {
    EXPECT_GE(steps[node.get()], 3) << node->Describe();
    EXPECT_EQ(slices[node.get()], steps[node.get()]) << node->Describe();
    EXPECT_LE(choices[node.get()], 2) << "slices have at most two sizes";
  }
}

TEST(BatchSplit, DoesNotSplitNodesThatMixItems) {
  for (const auto& [signature, body] : std::vector<std::pair<std::string, std::string>>{
           {"%x: f32[5,4]", "%a = Softmax(%x) {axis=0}\n%y = Softmax(%a) {axis=-2}"},
           {"%x: f32[5,4]", "%a = LayerNorm(%x) {axis=0}\n%y = Transpose(%a)"},
           {"%x: f32[5,5]", "%a = Transpose(%x)\n%y = Transpose(%a)"},
           {"%x: f32[5,4], %w: f32[5,4]", "%a = LayerNorm(%x, %w)\n%y = LayerNorm(%a, %w)"},
           {"%x: f32[5,4], %w: f32[5,4]", "%a = %x + %w\n%y = %a * %w"},
           {"%x: f32[5,5], %w: f32[5,5]",
            "%a = MatMul(%x, %w) {transpose_a=true}\n"
            "%y = MatMul(%a, %w) {transpose_a=true}"},
           {"%x: f32[5,5], %w: f32[5,5]", "%a = MatMul(%w, %x)\n%y = MatMul(%w, %a)"},
           {"%x: f32[5,4], %w: f32[5]", "%a = Scale(%x, %w) {axis=0}\n%y = Scale(%a, %w) {axis=-2}"},
           {"%x: f32[5,4]",
            "%a = Concat(%x, %x) {axis=0}\n%b = Softmax(%a) {axis=0}\n%y = Concat(%b, %b) {axis=-2}"},
       }) {
    SCOPED_TRACE(body);
    EXPECT_EQ(SlicesOf(Make(signature, body), 50), 1);
  }
}

// A node that reads all items of a value cannot be in the sequence that writes the value in slices.
TEST(BatchSplit, EndsBeforeAReaderOfAllItems) {
  const TestNet net = Make("%x: f32[5,5], %w: f32[5,5]",
                           "%a = Relu(%x)\n%b = Relu(%a)\n%c = MatMul(%x, %b)\n%d = Relu(%c)\n%y = %d + %b");
  EXPECT_EQ(SlicesOf(net, 50), 5);
}

TEST(BatchSplit, DoesNotSplitWhereWeightsDominate) {
  const TestNet net = Make("%x: f32[4,64], %w: f32[64,512], %w2: f32[512,64]",
                           "%a = MatMul(%x, %w)\n%b = Relu(%a)\n%y = MatMul(%b, %w2)");
  EXPECT_EQ(SlicesOf(net, 64), 1);
}

// A value that exists only in slices takes the memory of one slice.
TEST(BatchSplit, TakesLessMemory) {
  const TestNet net = Make("%x: f32[64,1,16,16], %w: f32[64,1,3,3], %w2: f32[1,64,1,1]",
                           "%a = Conv(%x, %w) {pads=[1,1,1,1]}\n%b = Relu(%a)\n%y = Conv(%b, %w2)");
  auto arena = [&](size_t cache) {
    SessionOptions options;
    options.threads = 1;
    options.value_cache = cache;
    auto session = SessionOf(net.graph, options);
    EXPECT_TRUE(session->Run(net.inputs).ok());
    return session->Memory().arena;
  };
  EXPECT_LT(arena(size_t{256} << 10) * 4, arena(SIZE_MAX));
}

}  // namespace
}  // namespace tern
