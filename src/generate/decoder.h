// Running a GPT-2 decoder word by word: what the searches share.
#pragma once
#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

inline constexpr int64_t kMaxSequence = 4096, kMaxBeams = 128;

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

}  // namespace tern
