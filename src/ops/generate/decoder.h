// Running a GPT-2 decoder word by word: what the searches share.
#pragma once
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// The decoder takes input_ids, position_ids and attention_mask [rows, length], then a past per layer
// [2, rows, heads, length, size]; it gives logits [rows, length, words] and the grown pasts.
struct DecoderAttrs {
  int64_t eos = -1, pad = 0, no_repeat = 0, words = -1, layers = 0, heads = 0, head_size = 0;
  DType index_type = DType::kI32, past_type = DType::kF32;
  template <class V> void Visit(V& v) {
    v("eos", eos, "the word that ends a sequence; below 0: none does");
    v("pad", pad, "the word that fills sequences up, and stands in front of short prompts");
    v("no_repeat", no_repeat, "no run of so many words may occur twice; 0: it may");
    v("words", words, "size of the vocabulary; below 0: as many as there are logits");
    v("layers", layers, "number of pasts");
    v("heads", heads, "of a past");
    v("head_size", head_size, "of a past");
    v("index_type", index_type, "type of the decoder's words, positions and mask");
    v("past_type", past_type, "type of the pasts");
  }
};

inline constexpr int64_t kMaxSequence = 4096, kMaxBeams = 128;

Status CheckDecoder(const DecoderAttrs& attrs);
// Types through the decoder's graph, with open lengths.
Status InferDecoder(const DecoderAttrs& attrs, InferContext& c);

using Words = std::vector<int32_t>;
using ScoreRows = std::vector<std::vector<float>>;

class Decoder {
 public:
  // Each prompt stands `copies` times, one row after the other.
  static Result<Decoder> Start(const DecoderAttrs& attrs, EvalContext& c, int64_t copies);

  int64_t batch() const { return batch_; }
  int64_t prompt_length() const { return prompt_length_; }
  int64_t length() const { return static_cast<int64_t>(rows_[0].size()); }  // words of a row so far
  const std::vector<Words>& rows() const { return rows_; }

  // Runs the decoder on what is new; logits of the last word of each row.
  Result<ScoreRows> Step();
  // Row i goes on as row parents[i] with tokens[i] behind it.
  void Append(const Words& tokens, const std::vector<size_t>& parents);

 private:
  Decoder(const DecoderAttrs& attrs, EvalContext& c) : attrs_(attrs), c_(c) {}
  Tensor IndexTensor(const std::vector<std::vector<int64_t>>& rows) const;
  Result<ScoreRows> Logits(const Tensor& t) const;

  const DecoderAttrs& attrs_;
  EvalContext& c_;
  int64_t batch_ = 0, prompt_length_ = 0;
  std::vector<Words> rows_;
  std::vector<std::vector<int64_t>> ids_, positions_, mask_;  // the next run's
  DatumList past_;
};

// What is done to scores before words are chosen.
struct ScoreRules {
  float repetition_penalty = 1;
  int64_t no_repeat = 0, min_length = 0, eos = -1;
  std::vector<int64_t> allowed;        // per word; empty: all
  std::vector<int64_t> first_allowed;  // per sample and word, for the first step only; empty: all
  void Apply(const std::vector<Words>& rows, int64_t batch, bool first_step, ScoreRows& scores) const;
};

// Reads the optional inputs of that name: repetition_penalty, min_length, vocab_mask, prefix_vocab_mask.
Result<ScoreRules> RulesOf(const DecoderAttrs& attrs, EvalContext& c);
// One integer, or one number.
Result<int64_t> LongOf(EvalContext& c, const char* port, int64_t otherwise);
Result<double> DoubleOf(EvalContext& c, const char* port, double otherwise);

}  // namespace tern
