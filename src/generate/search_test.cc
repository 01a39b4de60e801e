#include <algorithm>
#include <cmath>

#include "generate/generate.h"
#include "ops/test_graph.h"

namespace tern {
namespace {

constexpr int64_t kTableVocabulary = 4;
const std::vector<double> kLogits = {0.1, 2.0, 1.5, 0.3, 1.1, 0.2, 0.4, 3.0,
                                     0.7, 0.6, 0.5, 2.5, 1.0, 0.9, 0.8, 0.0};

// Builds a decoder whose logits are row t of the table kLogits, where t is the last token. Its past stores
// all tokens.
void FillDecoder(Graph& g) {
  Builder b(g);
  const Type index = Type::TensorOf(DType::kI32, Shape({Dim(), Dim()}));
  Value* ids = g.AddInput("input_ids", index);
  g.AddInput("position_ids", index);
  g.AddInput("attention_mask", index);
  Value* past = g.AddInput("past_0", Type::TensorOf(DType::kF32, Shape({2, Dim(), 1, Dim(), 1})));
  Value* table = b.Const(Tensor::Of(DType::kF32, {kTableVocabulary, kTableVocabulary}, kLogits));
  Value* tokens = b.Op("Unsqueeze", {b.Op("Cast", {ids}, {{"to", DType::kF32}}), b.Ints({0, 2, 4})});
  Value* present =
      b.Op("Concat", {past, b.Op("Tile", {tokens, b.Ints({2, 1, 1, 1, 1})})}, {{"axis", int64_t{3}}});
  g.SetOutputs({b.Op("Gather", {table, ids}, {{"axis", int64_t{0}}}), present});
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
}

Tensor I32(const Dims& dims, const std::vector<double>& v) { return Tensor::Of(DType::kI32, dims, v); }

AttrList Attrs(int64_t eos) {
  return {{"eos", eos},
          {"pad", int64_t{3}},
          {"layers", int64_t{1}},
          {"heads", int64_t{1}},
          {"head_size", int64_t{1}}};
}

Result<DatumList> Search(const char* op, const std::vector<Tensor>& inputs, const AttrList& attrs) {
  InitGenerate();
  Graph graph;
  Builder b(graph);
  std::vector<Value*> values;
  for (const Tensor& t : inputs) values.push_back(t.defined() ? b.Const(t) : nullptr);
  Node* node = b.Open(op, values, attrs, 1);
  FillDecoder(*graph.AddSubgraph(node, "decoder"));
  b.Finish(node);
  if (!b.status().ok()) return b.status();
  graph.SetOutputs(node->outputs());
  return EvaluateGraph(graph, {});
}

// Shape inference assigns the same symbol to dims that are equal in every step, so that rules recognise equal
// shapes.
TEST(BeamSearch, TheDecodersInputsAgree) {
  InitGenerate();
  Graph graph;
  Builder b(graph);
  Value* ids = graph.AddInput("ids", Type::TensorOf(DType::kI32, Shape({Dim(), Dim()})));
  Node* node = b.Open("BeamSearch",
                      {ids, b.Const(I32({1}, {4})), nullptr, b.Const(I32({1}, {1})), b.Const(I32({1}, {1}))},
                      Attrs(3), 1);
  Graph& decoder = *graph.AddSubgraph(node, "decoder");
  FillDecoder(decoder);
  b.Finish(node);
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  const auto shape = [&](size_t i) { return decoder.inputs()[i]->type.shape; };
  EXPECT_TRUE(shape(0) == shape(1));
  EXPECT_TRUE(shape(2)[1] == shape(3)[3] + shape(0)[1]);
  EXPECT_TRUE(decoder.outputs()[1]->type.shape[3] == shape(2)[1]);
}

double LogOdds(int64_t last, int64_t token) {
  double sum = 0;
  for (int64_t w = 0; w < kTableVocabulary; ++w)
    sum += std::exp(kLogits[static_cast<size_t>(last * kTableVocabulary + w)]);
  return kLogits[static_cast<size_t>(last * kTableVocabulary + token)] - std::log(sum);
}

std::vector<int64_t> Beams(int64_t max_length, int64_t beams, int64_t returned, int64_t eos,
                           const std::vector<double>& prompt) {
  auto out = Search(
      "BeamSearch",
      {I32({1, static_cast<int64_t>(prompt.size())}, prompt), I32({1}, {static_cast<double>(max_length)}),
       Tensor(), I32({1}, {static_cast<double>(beams)}), I32({1}, {static_cast<double>(returned)})},
      Attrs(eos));
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  return out.ok() ? ToLongs((*out)[0].tensor) : std::vector<int64_t>();
}

// With enough beams, the search tries all sequences. It must return the best of them, best first.
TEST(BeamSearch, FindsTheBestSequences) {
  struct Sequence {
    double score;
    int64_t a, b;
  };
  std::vector<Sequence> all;
  for (int64_t a = 0; a < kTableVocabulary; ++a)
    for (int64_t b = 0; b < kTableVocabulary; ++b) all.push_back({LogOdds(0, a) + LogOdds(a, b), a, b});
  std::sort(all.begin(), all.end(), [](const Sequence& x, const Sequence& y) { return x.score > y.score; });
  std::vector<int64_t> wanted;
  for (size_t i = 0; i < 3; ++i) wanted.insert(wanted.end(), {0, all[i].a, all[i].b});
  EXPECT_EQ(Beams(3, 8, 3, -1, {0}), wanted);
}

TEST(BeamSearch, StopsAtEosAndPads) {
  // The most probable token after token 1 is 3, which is eos. The sequence ends before eos. The padding token
  // is 3 as well.
  EXPECT_EQ(Beams(5, 1, 1, 3, {0, 1}), (std::vector<int64_t>{0, 1, 3, 3, 3}));
}

TEST(GreedySearch, TakesTheMostProbableToken) {
  const std::vector<Tensor> inputs = {I32({2, 1}, {0, 2}), I32({1}, {4})};
  auto out = Search("GreedySearch", inputs, Attrs(-1));
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ(ToLongs((*out)[0].tensor), (std::vector<int64_t>{0, 1, 3, 0, 2, 3, 0, 1}));
  out = Search("GreedySearch", inputs, Attrs(3));
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ(ToLongs((*out)[0].tensor), (std::vector<int64_t>{0, 1, 3, 3, 2, 3, 3, 3}));
}

// `words` is smaller than the decoder's vocabulary, to which the masks belong.
Result<DatumList> Masked(const Tensor& mask, const Tensor& prefix_mask) {
  AttrList attrs = Attrs(-1);
  attrs.emplace_back("words", int64_t{3});
  return Search("GreedySearch", {I32({2, 1}, {0, 2}), I32({1}, {2}), Tensor(), Tensor(), mask, prefix_mask},
                attrs);
}

TEST(GreedySearch, MasksMayBeWiderThanTheVocabulary) {
  auto out = Masked(Tensor(), I32({2, 4}, {1, 0, 1, 1, 0, 1, 1, 1}));
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ(ToLongs((*out)[0].tensor), (std::vector<int64_t>{0, 2, 2, 1}));
  out = Masked(I32({4}, {1, 0, 1, 1}), Tensor());
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ(ToLongs((*out)[0].tensor), (std::vector<int64_t>{0, 2, 2, 0}));
}

TEST(GreedySearch, MasksOfWrongSizeAreRefused) {
  const auto error = [](const Tensor& mask, const Tensor& prefix_mask) {
    auto out = Masked(mask, prefix_mask);
    return out.ok() ? "no error" : out.status().message();
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error(I32({2}, {1, 1}), Tensor()), "vocab_mask has 2 elements, but the vocabulary has 3 tokens");
  has(error(I32({1, 4}, {1, 1, 1, 1}), Tensor()),
      "vocab_mask must be [vocabulary] and not empty, got i32[1,4]");
  has(error(Tensor(), I32({2, 2}, {1, 1, 1, 1})),
      "prefix_vocab_mask is [2,2], but there are 2 prompts and the vocabulary has 3 tokens");
  has(error(Tensor(), I32({1, 6}, {1, 1, 1, 1, 1, 1})),
      "prefix_vocab_mask is [1,6], but there are 2 prompts and the vocabulary has 3 tokens");
  has(error(Tensor(), I32({6}, {1, 1, 1, 1, 1, 1})), "prefix_vocab_mask must be [batch, vocabulary]");
}

TEST(BeamSearch, BadRequestsAreRefused) {
  const auto refused = [](double max_length, double beams, double returned, const Tensor& ids) {
    return !Search("BeamSearch",
                   {ids, I32({1}, {max_length}), Tensor(), I32({1}, {beams}), I32({1}, {returned})},
                   Attrs(-1))
                .ok();
  };
  const Tensor ids = I32({1, 2}, {0, 1});
  EXPECT_FALSE(refused(4, 2, 1, ids));
  EXPECT_TRUE(refused(0, 2, 1, ids));
  EXPECT_TRUE(refused(1e6, 2, 1, ids));
  EXPECT_TRUE(refused(1, 2, 1, ids)) << "shorter than the prompt";
  EXPECT_TRUE(refused(4, 0, 1, ids));
  EXPECT_TRUE(refused(4, 2, 3, ids));
  EXPECT_TRUE(refused(4, 2, 1, I32({1, 2}, {0, 9}))) << "a token outside the vocabulary";
  EXPECT_TRUE(refused(4, 2, 1, I32({2}, {0, 1})));
  EXPECT_TRUE(refused(4, 2, 1, I32({0, 2}, {})));
}

}  // namespace
}  // namespace tern
