// Runs a GPT-2 decoder token by token. BeamSearch and GreedySearch share it.
#pragma once
#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

inline constexpr int64_t kMaxSequence = 4096, kMaxBeams = 128;

using Tokens = std::vector<int32_t>;
using ScoreRows = std::vector<std::vector<float>>;

class Decoder {
 public:
  // Each prompt becomes `copies` equal, adjacent rows.
  static Result<Decoder> Start(const DecoderAttrs& attrs, EvalContext& c, int64_t copies);

  int64_t batch() const { return batch_; }
  int64_t prompt_length() const { return prompt_length_; }
  int64_t length() const { return static_cast<int64_t>(rows_[0].size()); }  // tokens per row so far
  const std::vector<Tokens>& rows() const { return rows_; }

  // Runs the decoder on the tokens that it has not seen. Returns the logits of each row's last token.
  Result<ScoreRows> Step();
  // Replaces row i by row parents[i] with tokens[i] appended.
  void Append(const Tokens& tokens, const std::vector<size_t>& parents);

 private:
  Decoder(const DecoderAttrs& attrs, EvalContext& c) : attrs_(attrs), c_(c) {}
  Tensor IndexTensor(const std::vector<std::vector<int64_t>>& rows) const;
  Result<ScoreRows> Logits(const Tensor& t) const;

  const DecoderAttrs& attrs_;
  EvalContext& c_;
  int64_t batch_ = 0, prompt_length_ = 0;
  std::vector<Tokens> rows_;
  std::vector<std::vector<int64_t>> ids_, positions_, mask_;  // inputs of the next run, by row
  DatumList past_;
};

}  // namespace tern
