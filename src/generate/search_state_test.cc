// Tests searches in a session, which stores the pasts of the decoder as states.
#include <algorithm>

#include "generate/generate.h"
#include "ir/builder.h"
#include "runtime/memory/allocation_counter.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

constexpr int64_t kVocabulary = 13, kWidth = 8, kHeads = 2, kSize = 4;

Type Index() { return Type::TensorOf(DType::kI32, Shape({Dim(), Dim()})); }

// Builds a decoder with layers like those of GPT-2. Each past contains the keys and the values, stacked in
// dim 0.
void FillGpt(Graph& g, int64_t layers) {
  Builder b(g);
  Value* ids = g.AddInput("input_ids", Index());
  Value* positions = g.AddInput("position_ids", Index());
  Value* mask = g.AddInput("attention_mask", Index());
  std::vector<Value*> outputs(1);
  Value* words = b.Const(Noise({kVocabulary, kWidth}, 1));
  const AttrList first{{"axis", int64_t{0}}};
  Value* x = b.Op("Binary",
                  {b.Op("Gather", {words, ids}, first),
                   b.Op("Gather", {b.Const(Noise({300, kWidth}, 2)), positions}, first)},
                  {{"kind", "add"}});
  Value* hidden = b.Op("Binary",
                       {b.Const(Tensor::Scalar(DType::kF32, 1)),
                        b.Op("Cast", {b.Op("Unsqueeze", {mask, b.Ints({1, 2})})}, {{"to", DType::kF32}})},
                       {{"kind", "sub"}});
  Value* bias = b.Op("Binary", {hidden, b.Const(Tensor::Scalar(DType::kF32, -1e4))}, {{"kind", "mul"}});
  for (int64_t i = 0; i < layers; ++i) {
    Value* past =
        g.AddInput(StrCat("past_", i), Type::TensorOf(DType::kF32, Shape({2, Dim(), kHeads, Dim(), kSize})));
    Value* qkv = b.Op("MatMul", {x, b.Const(Noise({kWidth, 3 * kWidth}, static_cast<uint32_t>(10 + i)))});
    const auto made = b.Ops("Attention", {qkv, qkv, qkv, bias, past, past},
                            {{"q_heads", kHeads},
                             {"kv_heads", kHeads},
                             {"causal", true},
                             {"merged", true},
                             {"joint", true},
                             {"stacked", true}},
                            2);
    x = b.Op("Binary", {made[0], x}, {{"kind", "sub"}});
    outputs.push_back(made[1]);
  }
  outputs[0] = b.Op("MatMul", {x, words}, {{"transpose_b", true}});
  g.SetOutputs(outputs);
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
}

// Builds a decoder whose past stores all tokens so far. The logits depend on the sum of these tokens, so that
// a wrong order of the past's rows changes the result. The decoder computes the present with a Concat, which
// cannot append to the past in place.
void FillSums(Graph& g) {
  Builder b(g);
  Value* ids = g.AddInput("input_ids", Index());
  g.AddInput("position_ids", Index());
  g.AddInput("attention_mask", Index());
  Value* past = g.AddInput("past_0", Type::TensorOf(DType::kF32, Shape({2, Dim(), 1, Dim(), 1})));
  Value* words = b.Op("Unsqueeze", {b.Op("Cast", {ids}, {{"to", DType::kF32}}), b.Ints({0, 2, 4})});
  Value* present =
      b.Op("Concat", {past, b.Op("Tile", {words, b.Ints({2, 1, 1, 1, 1})})}, {{"axis", int64_t{3}}});
  Value* sums = b.Op("Reduce", {present, b.Ints({0, 2, 3, 4})}, {{"kind", "sum"}, {"keep_dims", false}});
  Value* angles =
      b.Op("Binary", {b.Op("Unsqueeze", {sums, b.Ints({1, 2})}), b.Const(Noise({kVocabulary}, 7))},
           {{"kind", "mul"}});
  g.SetOutputs({b.Op("Unary", {angles}, {{"kind", "sin"}}), present});
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
}

struct Case {
  const char* op;
  int64_t beams = 1, layers = 0, eos = -1;  // if layers is 0, FillSums builds the decoder
};

// Returns a graph that consists of the search. Its inputs are ids and max_length.
std::shared_ptr<const Graph> ModelOf(const Case& c) {
  InitGenerate();
  auto graph = std::make_shared<Graph>();
  Builder b(*graph);
  std::vector<Value*> inputs{graph->AddInput("ids", Index()),
                             graph->AddInput("max_length", Type::TensorOf(DType::kI32, Shape({1})))};
  const auto one = [&](int64_t v) { return b.Const(Tensor::Of(DType::kI32, {1}, {static_cast<double>(v)})); };
  if (c.op == std::string("BeamSearch")) inputs.insert(inputs.end(), {nullptr, one(c.beams), one(c.beams)});
  Node* node = b.Open(c.op, inputs,
                      {{"eos", c.eos},
                       {"pad", int64_t{0}},
                       {"layers", std::max<int64_t>(1, c.layers)},
                       {"heads", c.layers ? kHeads : 1},
                       {"head_size", c.layers ? kSize : 1}},
                      1);
  Graph& decoder = *graph->AddSubgraph(node, "decoder");
  c.layers ? FillGpt(decoder, c.layers) : FillSums(decoder);
  b.Finish(node);
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
  graph->SetOutputs(node->outputs());
  return graph;
}

DatumList Fed(int64_t batch, int64_t prompt, int64_t max_length) {
  Tensor ids(DType::kI32, {batch, prompt});
  for (int64_t i = 0; i < ids.size(); ++i) StoreLong(ids, i, (5 * i + prompt) % kVocabulary);
  return {ids, Tensor::Of(DType::kI32, {1}, {static_cast<double>(max_length)})};
}

std::vector<int64_t> Found(Session& session, const DatumList& fed) {
  const auto out = session.Run(fed);
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  return out.ok() ? ToLongs((*out)[0].tensor) : std::vector<int64_t>();
}

// The reference evaluator has no states. It passes the pasts as inputs and outputs of the decoder.
TEST(SearchState, MatchesTheReferenceEvaluator) {
  const Case cases[] = {{"GreedySearch"},        {"GreedySearch", 1, 2}, {"GreedySearch", 1, 1, 4},
                        {"BeamSearch", 4},       {"BeamSearch", 1, 1},   {"BeamSearch", 5, 2},
                        {"BeamSearch", 3, 1, 4}, {"BeamSearch", 3, 0, 4}};
  for (const Case& c : cases)
    for (const int threads : {1, 2}) {
      const auto graph = ModelOf(c);
      SessionOptions options{.threads = threads, .level = threads == 1 ? Level::kNone : Level::kLayout};
      auto session = SessionOf(graph, options);
      for (const auto& [batch, prompt] : {std::pair{1, 3}, {2, 4}, {2, 4}, {1, 7}}) {
        const DatumList fed = Fed(batch, prompt, 24);
        const auto want = EvaluateGraph(*graph, fed);
        ASSERT_TRUE(want.ok()) << want.status().ToString();
        EXPECT_EQ(Found(*session, fed), ToLongs((*want)[0].tensor))
            << c.op << " of " << c.beams << " beams, " << c.layers << " layers, batch " << batch;
      }
      EXPECT_TRUE(session->Warnings().empty()) << session->Warnings()[0];
    }
}

// Four plans are made: one each for the prompt, the first token, all other tokens, and the model's top-level
// graph.
TEST(SearchState, NeedsNoPlanPerToken) {
  for (const Case& c : {Case{"GreedySearch", 1, 2}, Case{"BeamSearch", 4, 2}, Case{"BeamSearch", 4}}) {
    auto session = SessionOf(ModelOf(c));
    Found(*session, Fed(2, 5, 12));
    EXPECT_EQ(session->PlansMade(), 4) << c.op;
    Found(*session, Fed(2, 5, 12));
    Found(*session, Fed(2, 5, 200));
    EXPECT_EQ(session->PlansMade(), 4) << c.op;
    Found(*session, Fed(2, 6, 200));
    EXPECT_EQ(session->PlansMade(), 6)
        << "another prompt length: plans for the prompt and the top-level graph";
    auto clone = session->Clone();
    Found(*clone, Fed(2, 5, 50));
    EXPECT_EQ(session->PlansMade(), 6) << "clones share plans";
  }
}

int AllocationsOf(Session& session, int64_t max_length) {
  const DatumList fed = Fed(2, 5, max_length);
  const AllocationCounter counter;
  const auto out = session.Run(fed);
  return out.ok() ? counter.count() : -1;
}

TEST(SearchState, NeedsNoAllocationPerToken) {
  for (const int64_t layers : {0, 2}) {
    auto session = SessionOf(ModelOf({"GreedySearch", 1, layers}), {.threads = 1});
    for (const int64_t length : {200, 20, 120}) AllocationsOf(*session, length);
    const int few = AllocationsOf(*session, 20), many = AllocationsOf(*session, 120);
    EXPECT_GT(few, 0);
    EXPECT_EQ(many, few) << layers << " layers";
  }
}

// The present has two heads, the past has one.
TEST(SearchState, RefusesADecoderWhosePresentIsNoPast) {
  InitGenerate();
  auto graph = std::make_shared<Graph>();
  Builder b(*graph);
  Node* node =
      b.Open("GreedySearch", {graph->AddInput("ids", Index()), b.Const(Tensor::Of(DType::kI32, {1}, {9}))},
             {{"layers", int64_t{1}}, {"heads", int64_t{1}}, {"head_size", int64_t{1}}}, 1);
  Graph& g = *graph->AddSubgraph(node, "decoder");
  Builder inner(g);
  Value* ids = g.AddInput("input_ids", Index());
  for (const char* name : {"position_ids", "attention_mask"}) g.AddInput(name, Index());
  g.AddInput("past_0", Type::TensorOf(DType::kF32, Shape({2, Dim(), 1, Dim(), 1})));
  Value* x = inner.Op("Cast", {ids}, {{"to", DType::kF32}});
  Value* present =
      inner.Op("Tile", {inner.Op("Unsqueeze", {x, inner.Ints({0, 2, 4})}), inner.Ints({2, 1, 2, 1, 1})});
  g.SetOutputs({inner.Op("Unsqueeze", {x, inner.Ints({2})}), present});
  b.Finish(node);
  ASSERT_TRUE(b.status().ok() && inner.status().ok()) << b.status().ToString();
  graph->SetOutputs(node->outputs());
  const DatumList fed{Tensor::Of(DType::kI32, {1, 2}, {1, 2})};
  const auto got = SessionOf(graph)->Run(fed), reference = EvaluateGraph(*graph, fed);
  ASSERT_FALSE(got.ok() || reference.ok());
  EXPECT_NE(got.status().message().find("f32[2,1,1,0,1] and becomes f32[2,1,2,2,1]"), std::string::npos)
      << got.status().ToString();
  EXPECT_NE(reference.status().message().find("f32[2,1,2,2,1]"), std::string::npos)
      << reference.status().ToString();
}

// Observes the steps of the decoder. `attentions` counts the steps of Attention. `in_place` counts those that
// write the present in place. `past_bytes` is the size of the present. `largest` is the size of the largest
// other output.
class Watch : public RunObserver {
 public:
  void OnStep(const StepEvent& event) override {
    if (event.depth != 1) return;
    const bool attention = event.node->op->name == "Attention";
    const Tensor& present = attention ? event.context->outputs[1]->tensor : none_;
    if (attention) {
      ++attentions;
      in_place += event.context->inputs[4]->tensor.raw() == present.raw();
      past_bytes = present.bytes();
    }
    for (const Datum* out : event.context->outputs)
      if (out->tensor.defined() && &out->tensor != &present) largest = std::max(largest, out->tensor.bytes());
  }
  int attentions = 0, in_place = 0;
  size_t past_bytes = 0, largest = 0;

 private:
  Tensor none_;
};

TEST(SearchState, IsAppendedToInPlace) {
  for (const Case& c : {Case{"GreedySearch", 1, 2}, Case{"BeamSearch", 4, 2}}) {
    auto session = SessionOf(ModelOf(c));
    Watch watch;
    session->SetObserver(&watch);
    Found(*session, Fed(1, 3, 150));
    EXPECT_EQ(watch.attentions, 2 * 147);
    EXPECT_EQ(watch.in_place, watch.attentions);
    EXPECT_LT(watch.largest, watch.past_bytes) << "a step copies the past";
  }
}

}  // namespace
}  // namespace tern
