// Tests the states of a predictor as an application uses them, with only tern.hpp and the shared library.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "tern/tern.hpp"

namespace {

using Tokens = std::vector<int64_t>;

constexpr char kKey[] = "past_key_values.0.key", kValue[] = "past_key_values.0.value";

// The bytes of an ONNX model of opset 17: a decoder of one layer with 11 tokens and 2 heads of size 4. Its
// weights are int8 times 0.02. Inputs: ids i64[B,N], past_key_values.0.key and .value f32[B,2,P,4]. Outputs:
// logits f32[B,N,11], present.0.key and .value f32[B,2,T,4]. The initializer scale = 0.5 is also listed as an
// input, so that it can be fed.
//   x = e[ids]; q, k, v = heads of x·wq, x·wk, x·wv; present = Concat(past, new)
//   logits = (softmax(q·keysᵀ·scale)·values·wo - x)·eᵀ
const char kDecoder[] =
    "\010\010:\211\016\012\031\012\002e8\022\002ef\042\004Cast*\011\012\002to\030\001\240\001\002\012\022"
    "\012\002ef\012\004step\022\001e\042\003Mul\012\023\012\001e\012\003ids\022\001x\042\006Gather\012"
    "\033\012\003wq8\022\003wqf\042\004Cast*\011\012\002to\030\001\240\001\002\012\024\012\003wqf\012\004"
    "step\022\002wq\042\003Mul\012\023\012\001x\012\002wq\022\002q0\042\006MatMul\012\030\012\002q0\012"
    "\005heads\022\002q1\042\007Reshape\012%\012\002q1\022\001q\042\011Transpose*\021\012\004perm@\000@"
    "\002@\001@\003\240\001\007\012\033\012\003wk8\022\003wkf\042\004Cast*\011\012\002to\030\001\240\001"
    "\002\012\024\012\003wkf\012\004step\022\002wk\042\003Mul\012\023\012\001x\012\002wk\022\002k0\042"
    "\006MatMul\012\030\012\002k0\012\005heads\022\002k1\042\007Reshape\012%\012\002k1\022\001k\042\011Tr"
    "anspose*\021\012\004perm@\000@\002@\001@\003\240\001\007\012\033\012\003wv8\022\003wvf\042\004Cast*"
    "\011\012\002to\030\001\240\001\002\012\024\012\003wvf\012\004step\022\002wv\042\003Mul\012\023\012"
    "\001x\012\002wv\022\002v0\042\006MatMul\012\030\012\002v0\012\005heads\022\002v1\042\007Reshape\012%"
    "\012\002v1\022\001v\042\011Transpose*\021\012\004perm@\000@\002@\001@\003\240\001\007\012>\012\025pa"
    "st_key_values.0.key\012\001k\022\015present.0.key\042\006Concat*\013\012\004axis\030\002\240\001\002"
    "\012B\012\027past_key_values.0.value\012\001v\022\017present.0.value\042\006Concat*\013\012\004axis"
    "\030\002\240\001\002\0121\012\015present.0.key\022\002kt\042\011Transpose*\021\012\004perm@\000@\001"
    "@\003@\002\240\001\007\012\023\012\001q\012\002kt\022\002qk\042\006MatMul\012\023\012\002qk\012\005s"
    "cale\022\001s\042\003Mul\012%\012\001s\022\001p\042\007Softmax*\024\012\004axis\030\377\377\377\377"
    "\377\377\377\377\377\001\240\001\002\012\037\012\001p\012\017present.0.value\022\001a\042\006MatMul"
    "\012%\012\001a\022\002at\042\011Transpose*\021\012\004perm@\000@\002@\001@\003\240\001\007\012\027"
    "\012\002at\012\004flat\022\002am\042\007Reshape\012\033\012\003wo8\022\003wof\042\004Cast*\011\012"
    "\002to\030\001\240\001\002\012\024\012\003wof\012\004step\022\002wo\042\003Mul\012\024\012\002am\012"
    "\002wo\022\002ao\042\006MatMul\012\017\012\002ao\012\001x\022\001y\042\003Sub\012!\012\001e\022\002e"
    "t\042\011Transpose*\015\012\004perm@\001@\000\240\001\007\012\027\012\001y\012\002et\022\006logits"
    "\042\006MatMul\022\007decoder*\016\020\001B\004stepJ\004\012\327\243<*-\010\004\020\007B\005headsJ "
    "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\004"
    "\000\000\000\000\000\000\000*$\010\003\020\007B\004flatJ\030\000\000\000\000\000\000\000\000\000\000"
    "\000\000\000\000\000\000\010\000\000\000\000\000\000\000*\017\020\001B\005scaleJ\004\000\000\000\077"
    "*d\010\013\010\010\020\003B\002e8JX\271\320-\363\355\266\031\020\3212\310B\247\3401\271\302\355&\020"
    "\305\323\330\031*H\027\354\327\374\3620(\023\322+\317\001,D\024\302\011\021\006\266\333S\276\364\265"
    "\273\272H\355M\027\320\364\337\321\306&\354\316\373 \333\246\340\035\325\255\272\002\301VW\320\305P:"
    "\311H\270\027=\037*M\010\010\010\010\020\003B\003wq8J@ \333@\303\315Q\360\325DO\3305\021GJ\354\034"
    "\360\374\365\011\305\022\364\265\273\273\031\377\321\363\370\313\012\257\341\0114\336Y\017R\006\367"
    "\036\370\332\341\034\014\277\347O\030\017\364\372O\004\357\324A\354\353*M\010\010\010\010\020\003B"
    "\003wk8J@\330\016\371\035\352X\252\333\027\032\024\351\322\314)\352\372\304E\015\037\004\273</\012"
    "\317\353\270\301\005\362\343\315\002\003\031\321V\362\042I\256\355RQP\341\252:\326;\3122\316E(\021"
    "\340\030\271\341\011\034*M\010\010\010\010\020\003B\003wv8J@\304T\360\022\373L\373\253\252\342\346"
    "\351\002H\376\255\370\256\351\376%E7\317\033M\010\352\375\357\351\345)\347\375\314\375R\026\311\300"
    "\250,I\262H\034\256Q\361@\032>\251\030\013\300\335\303\332B\025WJ*M\010\010\010\010\020\003B\003wo8J"
    "@\017H\250\077\330\367MO\031R\251U\345\013>\353\365\024\311\017J\273A\017\005\310T\364\303\262;3,0DD"
    "I\327:\271M\266S1\331\364#\257J\001F\300\036\314\260\036\334\270\030\377O\313C\010Z\027\012\003ids"
    "\022\020\012\016\010\007\022\012\012\003\022\001B\012\003\022\001NZ1\012\025past_key_values.0.key"
    "\022\030\012\026\010\001\022\022\012\003\022\001B\012\002\010\002\012\003\022\001P\012\002\010\004Z3"
    "\012\027past_key_values.0.value\022\030\012\026\010\001\022\022\012\003\022\001B\012\002\010\002\012"
    "\003\022\001P\012\002\010\004Z\017\012\005scale\022\006\012\004\010\001\022\000b\036\012\006logits"
    "\022\024\012\022\010\001\022\016\012\003\022\001B\012\003\022\001N\012\002\010\013b)\012\015present."
    "0.key\022\030\012\026\010\001\022\022\012\003\022\001B\012\002\010\002\012\003\022\001T\012\002\010"
    "\004b+\012\017present.0.value\022\030\012\026\010\001\022\022\012\003\022\001B\012\002\010\002\012"
    "\003\022\001T\012\002\010\004B\004\012\000\020\021";

bool Says(const tern::Status& status, const char* words) {
  return status.message().find(words) != std::string::npos;
}

tern::Config Decoder() { return tern::Config().model_buffer(kDecoder, sizeof kDecoder - 1).threads(1); }

tern::Predictor Created(const tern::Config& config) {
  auto p = tern::Predictor::Create(config);
  EXPECT_TRUE(p.ok()) << p.status().message();
  if (!p.ok()) std::abort();
  return std::move(*p);
}

tern::Value Floats(const std::vector<float>& data, const tern::Shape& shape) {
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
  EXPECT_TRUE(Says(ran, "'past_key_values.0.value' has length 94, the states before it have 4"))
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
  EXPECT_TRUE(Says(said("ids"), "states \"ids\": states must be auto, none or a list of PAST=PRESENT"))
      << said("ids").message();
  EXPECT_TRUE(Says(said("a=b,"), "got ''"));
  EXPECT_EQ(said("all").code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(Says(said("past=present.0.key"), "no input is named 'past'"));
  EXPECT_TRUE(Says(said("ids=nothing"), "no output is named 'nothing'"));
  EXPECT_TRUE(Says(said("ids=logits"), "i64[B,N]")) << said("ids=logits").message();
  const std::string key(kKey);
  EXPECT_TRUE(Says(said(key + "=present.0.key," + key + "=present.0.value"), "part of another state"));
}

TEST(States, ExplainMistakes) {
  tern::Predictor p = Created(Decoder().states("auto"));
  tern::Tensor past = p.Input(kKey);
  EXPECT_EQ(past.status().code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(Says(past.CopyFrom(std::vector<float>(8), {1, 2, 1, 4}),
                   "input 'past_key_values.0.key' belongs to state 'past_key_values.0.key'"));
  EXPECT_TRUE(Says(p.Output("present.0.value").status(), "belongs to state 'past_key_values.0.value'"));
  EXPECT_TRUE(Says(p.Input("none").status(), "no input 'none'; it has: ids"));
  EXPECT_TRUE(Says(p.Input(1).status(), "no input 1"));
  EXPECT_TRUE(Says(p.GetState(kKey).status(), "no value before the first run"));
  EXPECT_EQ(p.GetState("key").status().code(), tern::Code::kNotFound);
  EXPECT_TRUE(Says(p.SetState("key", Floats({1}, {1})), "no state 'key'; it has 'past_key_values.0.key'"));
  EXPECT_TRUE(Says(p.SetState(kKey, tern::Value()), "an empty value"));
  const auto set = [&](const tern::Value& value) { return p.SetState(kKey, value); };
  EXPECT_TRUE(Says(set(Floats({1}, {1})), "is f32[B,2,P,4], got f32[1]: rank 1 instead of 4"));
  EXPECT_TRUE(Says(set(Floats(std::vector<float>(12), {1, 3, 1, 4})), "dimension 1 is 3 instead of 2"));
  EXPECT_TRUE(Says(set(*tern::Value::TensorOf(std::vector<double>(8), {1, 2, 1, 4})), "got f64[1,2,1,4]"));
  // The batch size follows from other inputs, so Run checks it, not SetState.
  ASSERT_TRUE(set(Floats(std::vector<float>(16), {2, 2, 1, 4})).ok());
  ASSERT_TRUE(p.Input("ids").CopyFrom(Tokens{1}, {1, 1}).ok());
  tern::Status ran = p.Run();
  EXPECT_EQ(ran.code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(Says(ran, kKey) && Says(ran, "f32[1,2,0,4]") && Says(ran, "f32[2,2,1,4]")) << ran.message();
  EXPECT_EQ(p.Run().message(), ran.message()) << "the error stays until the state is corrected or reset";
  ASSERT_TRUE(p.ResetStates().ok());
  EXPECT_TRUE(p.Run().ok());
  EXPECT_TRUE(Says(set(Floats(std::vector<float>(16), {2, 2, 1, 4})), "f32[1,2,1,4]"));
  const tern::Predictor other = std::move(p);
  EXPECT_EQ(other.StateLength(), 1);
  EXPECT_TRUE(Says(p.ResetStates(), "moved from") && Says(p.GetState(kKey).status(), "moved from"));
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
  EXPECT_TRUE(Says(p.Run(), "99")) << p.Run().message();
  EXPECT_EQ(p.GetState(kKey).status().code(), tern::Code::kNotFound);
  EXPECT_NE(Next(p, {1, 5, 7}), -1);
  EXPECT_EQ(p.GetState(kKey)->shape(), (tern::Shape{1, 2, 3, 4}));
}

}  // namespace
