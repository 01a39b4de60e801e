// Runs a GPT-2 decoder token by token, for BeamSearch and GreedySearch.
#pragma once
#include <memory>

#include "ir/eval_context.h"
#include "ops/generate/search_attrs.h"

namespace tern {

inline constexpr int64_t kMaxSequence = 4096, kMaxBeams = 128;

using Tokens = std::vector<int32_t>;
using ScoreRows = std::vector<std::vector<float>>;

// A row is a prompt with the tokens generated so far. The pasts (keys and values) of all rows are states of
// the decoder's graph. Append copies the past of row parents[i] to row i if parents[i] != i. If no row is
// copied, Append and Step allocate no memory.
class Decoder {
 public:
  // Each prompt becomes `copies` equal rows, which are adjacent. A row grows to at most max_length tokens.
  static Result<Decoder> Start(const DecoderAttrs& attrs, EvalContext& c, int64_t copies, int64_t max_length);

  int64_t batch() const { return batch_; }
  int64_t prompt_length() const { return prompt_length_; }
  int64_t length() const { return static_cast<int64_t>(rows_[0].size()); }  // tokens per row so far
  const std::vector<Tokens>& rows() const { return rows_; }

  // Runs the decoder on the tokens appended since the last step. Sets `scores` to the logits of each row's
  // last token.
  Status Step(ScoreRows& scores);
  // Replaces row i by row parents[i] with tokens[i] appended.
  Status Append(const Tokens& tokens, const std::vector<size_t>& parents);

 private:
  explicit Decoder(const DecoderAttrs& attrs) : attrs_(attrs) {}
  void AddPrompt(const int64_t* tokens, const int64_t* given_mask, int64_t copies);
  void MakeInputs(int64_t max_length);
  Status CheckPasts() const;
  Status ReadLogits(const Tensor& t, ScoreRows& scores) const;

  const DecoderAttrs& attrs_;
  int64_t batch_ = 0, prompt_length_ = 0;
  std::vector<Tokens> rows_;
  std::vector<std::vector<int64_t>> ids_, positions_, mask_;  // per row: inputs of the next step
  // ids_, positions_ and mask_ as tensors. The mask's memory has room for max_length tokens.
  DatumList inputs_;
  std::unique_ptr<StatefulSubgraph> subgraph_;
};

}  // namespace tern
