#include "ir/state.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ir/builder.h"
#include "ir/tern_file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace tern {
namespace {

// The model has two states: a cache that grows along axis 2, and a hidden state of fixed size.
const char kModel[] =
    R"(graph @g(%new: f32[B,2,S,4], %past_k: f32[B,2,P,4], %h: f32[B,3]) -> (%y, %present_k, %h_next) {
  state %past_k -> %present_k {axis=2}
  state %h -> %h_next
  %present_k = Concat(%past_k, %new) {axis=2}
  %y = Relu(%present_k)
  %h_next = Tanh(%h)
})";

std::unique_ptr<Graph> Parse(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::move(*graph) : nullptr;
}

std::string ParseError(const std::string& text) {
  InitOps();
  const auto graph = ParseGraph(text);
  return graph.ok() ? "" : graph.status().message();
}

// Returns a graph with an input and an output for each element of `pairs`. An element is (name of the input,
// type of the input, name of the output, type of the output). No node reads the input. The output is an
// Identity of another input.
std::unique_ptr<Graph> Pairs(
    const std::vector<std::tuple<std::string, std::string, std::string, std::string>>& pairs) {
  InitOps();
  auto graph = std::make_unique<Graph>("g");
  std::vector<Value*> outputs;
  for (const auto& [past, past_type, present, present_type] : pairs) {
    graph->AddInput(past, *Type::Parse(past_type));
    Value* from = graph->AddInput("source_of_" + present, *Type::Parse(present_type));
    outputs.push_back(Builder(*graph).Op("Identity", {from}));
    outputs.back()->name = present;
  }
  graph->SetOutputs(outputs);
  return graph;
}

std::string Describe(const Graph& graph, const std::vector<GraphState>& states) {
  std::string text;
  for (const GraphState& s : states)
    text += StrCat(text.empty() ? "" : " ", s.input->name, "->",
                   graph.outputs()[static_cast<size_t>(s.output)]->name, ":", s.axis);
  return text;
}

TEST(State, ReadsAndPrintsTheSame) {
  auto graph = Parse(kModel);
  ASSERT_EQ(graph->states().size(), 2u);
  EXPECT_EQ(Describe(*graph, graph->states()), "past_k->present_k:2 h->h_next:-1");
  const std::string text = PrintGraphExactly(*graph);
  EXPECT_NE(text.find("state %past_k -> %present_k {axis=2}\n"), std::string::npos) << text;
  EXPECT_EQ(PrintGraphExactly(*Parse(text)), text);
  EXPECT_TRUE(VerifyGraph(*graph).ok()) << VerifyGraph(*graph).ToString();
}

TEST(State, NumbersAnOutputThatIsListedTwice) {
  const std::string text = R"(graph @g(%h: f32[2]) -> (%y, %y) {
  state %h -> %y {output=1}
  %y: f32[2] = Unary(%h) {kind="tanh"}
}
)";
  auto graph = Parse(text);
  EXPECT_EQ(graph->states()[0].output, 1);
  EXPECT_EQ(PrintGraphExactly(*graph), text);
}

TEST(State, DifferencesShowInSameGraph) {
  auto graph = Parse(kModel);
  auto other = graph->Clone();
  EXPECT_TRUE(SameGraph(*graph, *other));
  other->ClearStates();
  EXPECT_FALSE(SameGraph(*graph, *other));
}

TEST(State, StaysWithTheOutputsNumberThroughRewritesAndClones) {
  auto graph = Parse(kModel);
  Value* old = graph->outputs()[1];
  Value* copy = Builder(*graph).Op("Identity", {old});
  graph->ReplaceOutput(1, copy);
  auto clone = graph->Clone();
  ASSERT_EQ(clone->states().size(), 2u);
  EXPECT_EQ(clone->states()[0].input, clone->inputs()[1]);
  EXPECT_EQ(clone->outputs()[1]->producer->op->name, "Identity");
  EXPECT_TRUE(VerifyGraph(*clone).ok()) << VerifyGraph(*clone).ToString();
}

TEST(State, EndsWhenItsPastBecomesAConstant) {
  auto graph = Parse(kModel);
  graph->InputToConstant(graph->inputs()[2], Tensor(DType::kF32, {1, 3}));
  EXPECT_EQ(Describe(*graph, graph->states()), "past_k->present_k:2");
  EXPECT_TRUE(VerifyGraph(*graph).ok()) << VerifyGraph(*graph).ToString();
}

TEST(State, IsKeptInTheFile) {
  auto graph = Parse(kModel);
  auto bytes = SaveTernBytes(*graph);
  ASSERT_TRUE(bytes.ok());
  Buffer buffer = Buffer::Allocate(bytes->size());
  std::memcpy(buffer.data(), bytes->data(), bytes->size());
  auto loaded = LoadTernBytes(buffer);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(PrintGraphExactly(**loaded), PrintGraphExactly(*graph));
}

TEST(State, RefusesWhatIsNoState) {
  auto broken = [](GraphState state) {
    auto graph = Parse(kModel);
    graph->ClearStates();
    if (!state.input) state.input = graph->inputs()[1];
    graph->AddState(state);
    return VerifyGraph(*graph).message();
  };
  EXPECT_NE(broken({nullptr, 2, 1}).find("they may differ only along axis 1"), std::string::npos);
  EXPECT_NE(broken({nullptr, 2, -1}).find("f32[B,2,P,4], but its present 'h_next' is f32[B,3]"),
            std::string::npos);
  EXPECT_NE(broken({nullptr, 3, 2}).find("output number 3, but the graph has 3 outputs"), std::string::npos);
  EXPECT_NE(broken({nullptr, 1, 4}).find("they may differ only along axis 4"), std::string::npos);
  Value outside;
  EXPECT_NE(broken({&outside, 1, 2}).find("is not an input"), std::string::npos);
}

TEST(State, RefusesTwoStatesOfOneValue) {
  auto graph = Parse(kModel);
  graph->AddState(graph->states()[0]);
  EXPECT_NE(VerifyGraph(*graph).message().find("'past_k' is the past of two states"), std::string::npos);
}

TEST(State, NamesThePlaceOfAMistakeInTheText) {
  const std::string head = "graph @g(%h: f32[2]) -> (%y) {\n";
  const std::string tail = "\n  %y = Tanh(%h)\n}";
  EXPECT_NE(ParseError(head + "  state %x -> %y" + tail).find("line 2"), std::string::npos);
  EXPECT_NE(ParseError(head + "  state %h -> %h" + tail).find("line 2"), std::string::npos);
  EXPECT_NE(ParseError(head + "  state %h -> %y {axes=1}" + tail).find("axis and output"), std::string::npos);
  EXPECT_NE(ParseError(head + "  state %h -> %y {output=1}" + tail).find("is not %y"), std::string::npos);
  EXPECT_NE(ParseError(head + "  state %h %y" + tail).find("expected '->'"), std::string::npos);
  EXPECT_NE(ParseError(head + "  state %h -> %y {axis=1}" + tail).find("may differ only along axis 1"),
            std::string::npos);
}

TEST(FindStates, KnowsTheNamesOfExporters) {
  const std::string past = "f32[B,2,P,4]", present = "f32[B,2,P+S,4]";
  const std::pair<const char*, const char*> names[] = {
      {"past_key_values.0.key", "present.0.key"},
      {"past_key_values.11.value", "present.11.value"},
      {"past_key_values.0.decoder.key", "present.0.decoder.key"},
      {"past_key_values_0_key", "present_key_values_0_key"},
      {"past_key_values.0.key", "present_key_values.0.key"},
      {"past_0", "present_0"},
      {"past_key_self_3", "present_key_self_3"},
      {"past_self_key_3", "present_self_key_3"},
      {"pkv_0", "present_pkv_0"},
      {"pkv_0", "new_pkv_0"},
  };
  for (const auto& [in, out] : names) {
    auto graph = Pairs({{in, past, out, present}});
    EXPECT_EQ(Describe(*graph, FindStates(*graph)), StrCat(in, "->", out, ":2"));
  }
}

TEST(FindStates, KnowsStatesOfFixedSize) {
  const std::pair<const char*, const char*> names[] = {
      {"state.0.in", "state.0.out"},
      {"h_in", "h_out"},
      {"hidden_in", "hidden_out"},
      {"lstm/c_in", "lstm/c_out"},
      {"h0", "hn"},
      {"prev_state", "next_state"},
      {"past_key_values.0.encoder.key", "present.0.encoder.key"}};
  for (const auto& [in, out] : names) {
    auto graph = Pairs({{in, "f32[1,B,8]", out, "f32[1,B,8]"}});
    EXPECT_EQ(Describe(*graph, FindStates(*graph)), StrCat(in, "->", out, ":-1"));
  }
}

TEST(FindStates, TakesTheAxisFromTheDims) {
  // The type of the past, the type of the present, and ":" with the axis, or "" if the two are not a state.
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"f32[2,B,2,P,4]", "f32[2,B,2,P+1,4]", ":3"},
      {"f32[B,P,2,4]", "f32[?,P+S,2,4]", ":1"},    // the batch of the present is unknown
      {"f32[B,2,P,4]", "f32[B,2,total,4]", ":2"},  // only one dim differs
      {"f32[B,2,past_seq,4]", "f32[?,2,?,4]",
       ":2"},                                     // the name past_seq says which of two unknown dims grows
      {"f32[B,2,16,4]", "f32[B,2,16,4]", ":-1"},  // a cache of fixed size
      {"f32[1,2,3,4]", "f32[1,2,4,4]", ":2"},     // a model that was exported for one length
      {"f32[B,2,P,4]", "f32[B+1,2,P+S,4]", ""},   // two dims grow
      {"f32[B,2,5,4]", "f32[B,2,4,4]", ""},       // a dim shrinks
      {"f32[B,2,P,4]", "f16[B,2,P+S,4]", ""},     // another element type
      {"f32[B,2,P,4]", "f32[2,P+S,4]", ""},       // another rank
      {"f32[B,2,P,4]", "f32[*]", ""},             // the present's rank is unknown
      {"f32[B,2,P,4]", "f32[X,2,Y,4]", ""},       // two dims differ, and no name says which one grows
  };
  for (const auto& [past, present, axis] : cases) {
    auto graph = Pairs({{"past_0", past, "present_0", present}});
    const std::string found = Describe(*graph, FindStates(*graph));
    EXPECT_EQ(found, *axis ? StrCat("past_0->present_0", axis) : "") << past << " " << present;
  }
}

TEST(FindStates, LeavesOtherNamesAlone) {
  auto graph = Pairs({{"in", "f32[2]", "out", "f32[2]"},
                      {"input", "f32[2]", "output", "f32[2]"},
                      {"x", "f32[2]", "present_0", "f32[2]"},
                      {"repast_0", "f32[2]", "represent_0", "f32[2]"}});
  EXPECT_EQ(Describe(*graph, FindStates(*graph)), "");
}

TEST(StatesFromText, ReadsPairs) {
  auto graph = Pairs({{"a", "f32[B,P]", "b", "f32[B,P+1]"}, {"past_0", "f32[2]", "present_0", "f32[2]"}});
  const auto states = [&](const char* text) {
    auto found = StatesFromText(*graph, text);
    return found.ok() ? Describe(*graph, *found) : found.status().message();
  };
  EXPECT_EQ(states("none"), "");
  EXPECT_EQ(states("auto"), "past_0->present_0:-1");
  EXPECT_EQ(states("a=b"), "a->b:1");
  EXPECT_EQ(states("a=b,past_0=present_0"), "a->b:1 past_0->present_0:-1");
  EXPECT_EQ(states("c=b"), "state 'c=b': no input is named 'c'");
  EXPECT_EQ(states("a=c"), "state 'a=c': no output is named 'c'");
  EXPECT_EQ(states("a"), "states must be auto, none or a list of PAST=PRESENT; got 'a'");
  EXPECT_EQ(states("a=present_0"),
            "state 'a=present_0': the types may differ only along one axis that grows: f32[B,P] and f32[2]");
  EXPECT_EQ(states("a=b,a=b"), "state 'a=b': its input or output is part of another state");
}

}  // namespace
}  // namespace tern
