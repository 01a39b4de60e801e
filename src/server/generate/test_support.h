// A small language model and sequences for tests.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>

#include "ir/text.h"
#include "ops/ops.h"
#include "server/generate/engine.h"
#include "server/generate/template/value.h"

namespace tern::server {

// A layer of attention over a vocabulary of 259 tokens: 256 bytes and three special tokens. Inputs whose
// names begin with w become constants.
inline constexpr char kCausalGraph[] =
    R"(graph @g(%input_ids: i64[B,S], %attention_mask: i64[B,T], %position_ids: i64[B,S], %past_key_values.0.key: f32[B,2,P,4],
    %past_key_values.0.value: f32[B,2,P,4], %we: f32[259,8], %wp: f32[128,8], %wq: f32[8,24], %wo: f32[8,8])
    -> (%logits, %present.0.key, %present.0.value) {
  #zero: i64[] = (0)  #one: i64[] = (1)  #column: i64[4] = (1, 1, -1, 1)  #axes: i64[2] = (1, 2)
  #shown: f32[] = (0)  #hidden: f32[] = (-3.4e38)
  %total = Gather(Shape(%attention_mask), #one)
  %new = Gather(Shape(%input_ids), #one)
  %now = Range(%total - %new, %total, #one)
  %all = Range(#zero, %total, #one)
  %x = Gather(%we, %input_ids) + Gather(%wp, %position_ids)
  %causal = Where(Binary(%all, Reshape(%now, #column)) {kind="less_equal"}, #shown, #hidden)
  %given = Where(Cast(Unsqueeze(%attention_mask, #axes)) {to=bool}, #shown, #hidden)
  %mask = Binary(%causal, %given) {kind="min"}
  %qkv = MatMul(%x, %wq)
  %a, %present.0.key, %present.0.value = Attention(%qkv, %qkv, %qkv, %mask, %past_key_values.0.key, %past_key_values.0.value) {q_heads=2, kv_heads=2, merged=true, joint=true}
  %logits = MatMul(MatMul(%a, %wo, _, %x), %we) {transpose_b=true}
})";

inline std::unique_ptr<Graph> CausalGraph() {
  InitOps();
  auto parsed = ParseGraph(kCausalGraph);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  if (!parsed.ok()) return nullptr;
  const std::vector<Value*> inputs = (*parsed)->inputs();
  uint32_t state = 1;
  for (Value* v : inputs) {
    if (v->name[0] != 'w') continue;
    Tensor weights(DType::kF32, v->type.shape.Concrete());
    for (int64_t i = 0; i < weights.size(); ++i) {
      state = state * 1664525 + 1013904223;
      weights.data<float>()[i] = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
    }
    (*parsed)->InputToConstant(v, weights);
  }
  return std::move(*parsed);
}

inline std::shared_ptr<const CausalModel> SmallModel(int64_t rows = 4, int64_t chunk = 8) {
  CausalOptions options;
  options.context = 128;
  options.chunk = chunk;
  options.rows = rows;
  options.threads = 1;
  auto model = CausalModel::Create(CausalGraph(), options);
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return model.ok() ? *model : nullptr;
}

// A tokenizer in which token i < 256 is byte i. 256 is the special token "<end>".
inline std::shared_ptr<const data::Tokenizer> ByteTokenizer() {
  std::string vocabulary;
  uint32_t other = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte < 127) || (byte >= 161 && byte < 173) || byte >= 174;
    char escape[16];
    std::snprintf(escape, sizeof escape, "\\u%04x", printable ? byte : other++);
    vocabulary += StrCat(vocabulary.empty() ? "" : ",", "\"", escape, "\":", byte);
  }
  const auto tokenizer = data::Tokenizer::Parse(StrCat(
      R"({"version":"1.0","truncation":null,"padding":null,"normalizer":null,"post_processor":null,)",
      R"("added_tokens":[{"id":256,"content":"<end>","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false}],)",
      R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},)",
      R"("decoder":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},)",
      R"("model":{"type":"BPE","vocab":{)", vocabulary, R"(},"merges":[]}})"));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return tokenizer.ok() ? *tokenizer : nullptr;
}

// Collects the events of one sequence.
class TestSink final : public GenerationSink {
 public:
  void OnEvent(GenerationEvent event) override {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(last_) << "an event follows the last one";
    text_ += event.text;
    for (const TokenLogprob& token : event.logprobs) tokens_.push_back(token.token.id);
    if (!event.last()) return;
    static std::atomic<int> ended{0};
    order_ = ++ended;
    finish_ = event.finish, status_ = event.status, generated_ = event.generated;
    last_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] { return last_; }));
  }
  bool last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  // Valid after the last event.
  std::string text_;
  std::vector<int64_t> tokens_;  // if logprobs were asked for
  FinishReason finish_ = FinishReason::kNone;
  Status status_;
  int64_t generated_ = 0;
  int order_ = 0;  // sequences that ended before have smaller numbers

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool last_ = false;
};

struct TestGeneration {
  std::shared_ptr<Generation> generation = std::make_shared<Generation>();
  std::shared_ptr<TestSink> sink = std::make_shared<TestSink>();

  TestGeneration(std::vector<int64_t> prompt, int64_t max_tokens, double temperature = 0, uint64_t seed = 1) {
    generation->prompt = std::move(prompt);
    generation->options.max_tokens = max_tokens;
    generation->options.sampling.temperature = temperature;
    generation->options.sampling.seed = seed;
    generation->options.logprobs = 0;
    generation->options.ignore_eos = true;
    generation->sink = sink;
    generation->arrived = Clock::now();
  }
};

}  // namespace tern::server
