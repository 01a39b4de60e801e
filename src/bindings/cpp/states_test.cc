// Tests the states of a predictor as an application uses them, with only tern.hpp and the shared library.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "bindings/test_models.h"
#include "tern/tern.hpp"

namespace {

using Tokens = std::vector<int64_t>;

constexpr char kKey[] = "past_key_values.0.key", kValue[] = "past_key_values.0.value";

bool StateSays(const tern::Status& status, const char* words) {
  return status.message().find(words) != std::string::npos;
}

tern::Config Decoder() {
  return tern::Config()
      .model_buffer(tern::test::kDecoderModel, sizeof tern::test::kDecoderModel - 1)
      .threads(1);
}

tern::Predictor Created(const tern::Config& config) {
  auto p = tern::Predictor::Create(config);
  EXPECT_TRUE(p.ok()) << p.status().message();
  if (!p.ok()) std::abort();
  return std::move(*p);
}

tern::Value StateFloats(const std::vector<float>& data, const tern::Shape& shape) {
  auto made = tern::Value::TensorOf(data, shape);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *made;
}

// Runs the model on `rows` rows of tokens. Returns the likeliest next token of row 0. If `logits` is not
// null, sets *logits to the logits of the last position of row 0.
int64_t Next(tern::Predictor& p, const Tokens& ids, std::vector<float>* logits = nullptr, int64_t rows = 1) {
  const auto n = static_cast<int64_t>(ids.size()) / rows;
  EXPECT_TRUE(p.Input("ids").CopyFrom(ids, {rows, n}).ok());
  const tern::Status ran = p.Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  const std::vector<float> all = p.Output("logits").ToVector<float>();
  if (!ran.ok() || all.size() < 11) return -1;
  const auto last = all.begin() + (n - 1) * 11;
  if (logits) logits->assign(last, last + 11);
  return std::max_element(last, last + 11) - last;
}

Tokens Generate(tern::Predictor& p, Tokens ids, int count) {
  Tokens out;
  for (int i = 0; i < count; ++i) {
    out.push_back(Next(p, ids));
    ids = {out.back()};
  }
  return out;
}

// A decoder without states. It feeds the present of each run as the past of the next run.
class ByHand {
 public:
  ByHand() : p_(Created(Decoder())) {
    for (const char* name : {kKey, kValue})
      EXPECT_TRUE(p_.Input(name).CopyFrom(std::vector<float>(), {1, 2, 0, 4}).ok());
  }
  int64_t Step(const Tokens& ids, std::vector<float>* logits = nullptr) {
    const int64_t token = Next(p_, ids, logits);
    EXPECT_TRUE(p_.Input(kKey).Set(p_.Output("present.0.key").value()).ok());
    EXPECT_TRUE(p_.Input(kValue).Set(p_.Output("present.0.value").value()).ok());
    return token;
  }

 private:
  tern::Predictor p_;
};

TEST(States, AreHiddenAndListed) {
  const tern::Predictor p = Created(Decoder().states("auto")), none = Created(Decoder());
  EXPECT_EQ(p.InputNames(), std::vector<std::string>{"ids"});
  EXPECT_EQ(p.OutputNames(), std::vector<std::string>{"logits"});
  const std::vector<tern::StateInfo> states = p.States();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].name, kKey);
  EXPECT_EQ(states[0].output, "present.0.key");
  EXPECT_EQ(states[0].declared_type, "f32[B,2,P,4]");
  EXPECT_EQ(states[0].axis, 2);
  EXPECT_EQ(states[1].name, kValue);
  EXPECT_EQ(p.StateLength(), 0);
  EXPECT_EQ(none.InputNames().size(), 3u);
  EXPECT_TRUE(none.States().empty());
  EXPECT_TRUE(Created(Decoder().states("none")).States().empty());
  const std::string pairs = std::string(kKey) + "=present.0.key," + kValue + "=present.0.value";
  EXPECT_EQ(Created(Decoder().states(pairs)).States().size(), 2u);
}

// The memory of the states starts with room for 64 positions. It doubles twice in this test.
TEST(States, GiveTheTokensOfAPastThatIsFedByHand) {
  tern::Predictor p = Created(Decoder().states("auto"));
  ByHand hand;
  Tokens ids{1, 5, 7};
  std::vector<float> got, want;
  int64_t length = 0;
  for (int i = 0; i < 160; ++i) {
    length += static_cast<int64_t>(ids.size());
    const int64_t token = Next(p, ids, &got), expected = hand.Step(ids, &want);
    ASSERT_EQ(token, expected) << "token " << i;
    for (size_t k = 0; k < want.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-4) << "token " << i;
    ASSERT_EQ(p.StateLength(), length);
    ids = {token};
  }
  const auto key = p.GetState(kKey);
  ASSERT_TRUE(key.ok()) << key.status().message();
  EXPECT_EQ(key->shape(), (tern::Shape{1, 2, length, 4}));
  EXPECT_TRUE(p.warnings().empty()) << p.warnings()[0];
}

TEST(States, BeginAnewAfterAResetWithAnyBatchSize) {
  tern::Predictor p = Created(Decoder().states("auto"));
  const Tokens first = Generate(p, {1, 5, 7}, 12);
  EXPECT_NE(Generate(p, {1, 5, 7}, 12), first) << "the past changes the result";
  ASSERT_TRUE(p.ResetStates().ok());
  EXPECT_EQ(p.StateLength(), 0);
  EXPECT_EQ(Generate(p, {1, 5, 7}, 12), first);
  ASSERT_TRUE(p.ResetStates().ok());
  EXPECT_EQ(Next(p, {1, 5, 7, 2, 3, 4}, nullptr, 2), first[0]);
  EXPECT_EQ(p.GetState(kKey)->shape(), (tern::Shape{2, 2, 3, 4}));
  ASSERT_TRUE(p.ResetStates().ok());
  EXPECT_EQ(Generate(p, {1, 5, 7}, 12), first);
}

TEST(States, ForkAConversation) {
  tern::Predictor p = Created(Decoder().states("auto"));
  ByHand one, two;
  const Tokens prompt{1, 5, 7, 2};
  EXPECT_EQ(Next(p, prompt), one.Step(prompt));
  two.Step(prompt);
  auto clone = p.Clone();
  ASSERT_TRUE(clone.ok()) << clone.status().message();
  EXPECT_EQ(clone->StateLength(), 0) << "a clone has states of its own";
  for (const tern::StateInfo& state : p.States()) {
    const auto value = p.GetState(state.name);
    ASSERT_TRUE(value.ok()) << value.status().message();
    ASSERT_TRUE(clone->SetState(state.name, *value).ok());
    EXPECT_EQ(clone->GetState(state.name)->ToVector<float>(), value->ToVector<float>());
  }
  EXPECT_EQ(clone->StateLength(), 4);
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(Next(p, {i % 11}), one.Step({i % 11})) << i;
    EXPECT_EQ(Next(*clone, {(3 * i + 1) % 11}), two.Step({(3 * i + 1) % 11})) << i;
  }
  EXPECT_EQ(p.StateLength(), 24);
}

// After runs, SetState accepts a value of another length, for example to return to the prompt.
TEST(States, GoBackToAnEarlierPoint) {
  tern::Predictor p = Created(Decoder().states("auto"));
  Next(p, {1, 5, 7, 2});
  const tern::Value key = *p.GetState(kKey), value = *p.GetState(kValue);
  const Tokens first = Generate(p, {3}, 90);
  EXPECT_EQ(key.shape(), (tern::Shape{1, 2, 4, 4})) << "GetState returns a copy";
  ASSERT_TRUE(p.SetState(kKey, key).ok());
  const tern::Status ran = p.Run();
  EXPECT_TRUE(StateSays(ran, "'past_key_values.0.value' has length 94, the states before it have 4"))
      << ran.message();
  ASSERT_TRUE(p.SetState(kValue, value).ok());
  EXPECT_EQ(p.StateLength(), 4);
  EXPECT_EQ(Generate(p, {3}, 90), first);
}

TEST(States, GoOnWhileConstantsAreFed) {
  tern::Predictor p = Created(Decoder().states("auto")), plain = Created(Decoder().states("auto"));
  ASSERT_EQ(p.OverridableNames(), std::vector<std::string>{"scale"});
  const Tokens want = Generate(plain, {1, 5, 7}, 30);
  Tokens got = Generate(p, {1, 5, 7}, 10);
  for (const bool feed : {true, false}) {
    if (feed)
      ASSERT_TRUE(p.Input("scale").CopyFrom(std::vector<float>{0.5f}).ok());
    else
      ASSERT_TRUE(p.Input("scale").Reset().ok());
    const Tokens more = Generate(p, {got.back()}, 10);
    got.insert(got.end(), more.begin(), more.end());
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(p.StateLength(), 32);
}

TEST(States, ExplainMistakesInTheConfig) {
  const auto said = [](const std::string& states) {
    const auto p = tern::Predictor::Create(Decoder().states(states));
    EXPECT_FALSE(p.ok()) << states;
    return p.ok() ? tern::Status() : p.status();
  };
  EXPECT_TRUE(StateSays(said("ids"), "states \"ids\": states must be auto, none or a list of PAST=PRESENT"))
      << said("ids").message();
  EXPECT_TRUE(StateSays(said("a=b,"), "got ''"));
  EXPECT_EQ(said("all").code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(StateSays(said("past=present.0.key"), "no input is named 'past'"));
  EXPECT_TRUE(StateSays(said("ids=nothing"), "no output is named 'nothing'"));
  EXPECT_TRUE(StateSays(said("ids=logits"), "i64[B,N]")) << said("ids=logits").message();
  const std::string key(kKey);
  EXPECT_TRUE(StateSays(said(key + "=present.0.key," + key + "=present.0.value"), "part of another state"));
}

TEST(States, ExplainMistakes) {
  tern::Predictor p = Created(Decoder().states("auto"));
  tern::Tensor past = p.Input(kKey);
  EXPECT_EQ(past.status().code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(StateSays(past.CopyFrom(std::vector<float>(8), {1, 2, 1, 4}),
                        "input 'past_key_values.0.key' belongs to state 'past_key_values.0.key'"));
  EXPECT_TRUE(StateSays(p.Output("present.0.value").status(), "belongs to state 'past_key_values.0.value'"));
  EXPECT_TRUE(StateSays(p.Input("none").status(), "no input 'none'; it has: ids"));
  EXPECT_TRUE(StateSays(p.Input(1).status(), "no input 1"));
  EXPECT_TRUE(StateSays(p.GetState(kKey).status(), "no value before the first run"));
  EXPECT_EQ(p.GetState("key").status().code(), tern::Code::kNotFound);
  EXPECT_TRUE(
      StateSays(p.SetState("key", StateFloats({1}, {1})), "no state 'key'; it has 'past_key_values.0.key'"));
  EXPECT_TRUE(StateSays(p.SetState(kKey, tern::Value()), "an empty value"));
  const auto set = [&](const tern::Value& value) { return p.SetState(kKey, value); };
  EXPECT_TRUE(StateSays(set(StateFloats({1}, {1})), "is f32[B,2,P,4], got f32[1]: rank 1 instead of 4"));
  EXPECT_TRUE(
      StateSays(set(StateFloats(std::vector<float>(12), {1, 3, 1, 4})), "dimension 1 is 3 instead of 2"));
  EXPECT_TRUE(
      StateSays(set(*tern::Value::TensorOf(std::vector<double>(8), {1, 2, 1, 4})), "got f64[1,2,1,4]"));
  // The batch size follows from other inputs, so Run checks it, not SetState.
  ASSERT_TRUE(set(StateFloats(std::vector<float>(16), {2, 2, 1, 4})).ok());
  ASSERT_TRUE(p.Input("ids").CopyFrom(Tokens{1}, {1, 1}).ok());
  tern::Status ran = p.Run();
  EXPECT_EQ(ran.code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(StateSays(ran, kKey) && StateSays(ran, "f32[1,2,0,4]") && StateSays(ran, "f32[2,2,1,4]"))
      << ran.message();
  EXPECT_EQ(p.Run().message(), ran.message()) << "the error stays until the state is corrected or reset";
  ASSERT_TRUE(p.ResetStates().ok());
  EXPECT_TRUE(p.Run().ok());
  EXPECT_TRUE(StateSays(set(StateFloats(std::vector<float>(16), {2, 2, 1, 4})), "f32[1,2,1,4]"));
  const tern::Predictor other = std::move(p);
  EXPECT_EQ(other.StateLength(), 1);
  EXPECT_TRUE(StateSays(p.ResetStates(), "moved from") && StateSays(p.GetState(kKey).status(), "moved from"));
  EXPECT_TRUE(p.States().empty());
  EXPECT_EQ(p.StateLength(), 0);
}

// A run that is cancelled changes no state.
TEST(States, StayAsTheyWereWhenARunFails) {
  tern::Predictor p = Created(Decoder().states("auto")), plain = Created(Decoder().states("auto"));
  Tokens ids{1, 5, 7};
  std::atomic<bool> cancel{true};
  tern::RunOptions options;
  options.cancel = &cancel;
  for (int i = 0; i < 70; ++i) {
    ASSERT_TRUE(p.Input("ids").CopyFrom(ids, {1, static_cast<int64_t>(ids.size())}).ok());
    ASSERT_EQ(p.Run(options).code(), tern::Code::kCancelled);
    const int64_t token = Next(p, ids);
    ASSERT_EQ(token, Next(plain, ids)) << i;
    ids = {token};
  }
  EXPECT_EQ(p.StateLength(), plain.StateLength());
}

// A first run that fails does not determine the dims of the states.
TEST(States, BeginWithTheFirstRunThatSucceeds) {
  tern::Predictor p = Created(Decoder().states("auto"));
  ASSERT_TRUE(p.Input("ids").CopyFrom(Tokens{99, 99}, {2, 1}).ok());
  EXPECT_TRUE(StateSays(p.Run(), "99")) << p.Run().message();
  EXPECT_EQ(p.GetState(kKey).status().code(), tern::Code::kNotFound);
  EXPECT_NE(Next(p, {1, 5, 7}), -1);
  EXPECT_EQ(p.GetState(kKey)->shape(), (tern::Shape{1, 2, 3, 4}));
}

}  // namespace
