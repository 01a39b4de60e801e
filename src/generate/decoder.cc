#include "generate/decoder.h"

#include <algorithm>

namespace tern {
namespace {

// Copies the first `width` values of each row into t and sets dim 1 of t to `width`. The memory of t must be
// large enough.
void Store(const std::vector<std::vector<int64_t>>& rows, size_t width, Tensor& t) {
  t.SetDim(1, static_cast<int64_t>(width));
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t i = 0; i < width; ++i) StoreLong(t, static_cast<int64_t>(r * width + i), rows[r][i]);
}

Status CheckPrompts(EvalContext& c, int64_t max_length) {
  const Tensor& ids = c.In("input_ids");
  if (ids.rank() != 2 || ids.size() == 0)
    return InvalidArgument("input_ids must be [batch, length] and not empty, got ", ids.Describe());
  if (ids.dim(1) > kMaxSequence)
    return InvalidArgument("prompts have ", ids.dim(1), " tokens, must have at most ", kMaxSequence);
  if (ids.dim(1) > max_length)
    return InvalidArgument("prompts of ", ids.dim(1), " tokens are longer than max_length, ", max_length);
  if (c.Has("attention_mask") && c.In("attention_mask").dims() != ids.dims())
    return InvalidArgument("attention_mask is ", c.In("attention_mask").Describe(),
                           ", must have the dims of input_ids, ", ids.Describe());
  return {};
}

}  // namespace

Result<Decoder> Decoder::Start(const DecoderAttrs& attrs, EvalContext& c, int64_t copies,
                               int64_t max_length) {
  TERN_TRY(CheckDecoder(attrs));
  TERN_TRY(CheckPrompts(c, max_length));
  Decoder d(attrs);
  d.batch_ = c.In("input_ids").dim(0);
  d.prompt_length_ = c.In("input_ids").dim(1);
  const auto tokens = c.Longs("input_ids");
  const auto mask = c.Has("attention_mask") ? c.Longs("attention_mask") : std::vector<int64_t>();
  for (int64_t b = 0; b < d.batch_; ++b)
    d.AddPrompt(tokens.data() + b * d.prompt_length_,
                mask.empty() ? nullptr : mask.data() + b * d.prompt_length_, copies);
  for (Tokens& row : d.rows_) row.reserve(static_cast<size_t>(max_length));
  d.MakeInputs(max_length);
  const std::vector<Tensor> pasts(
      static_cast<size_t>(attrs.layers),
      Tensor(attrs.past_type, {2, d.batch_ * copies, attrs.heads, 0, attrs.head_size}));
  TERN_ASSIGN(d.subgraph_, c.StartSubgraph(0, DecoderStates(attrs), pasts));
  return d;
}

void Decoder::AddPrompt(const int64_t* tokens, const int64_t* given_mask, int64_t copies) {
  const std::vector<int64_t> row(tokens, tokens + prompt_length_);
  std::vector<int64_t> positions, mask;
  int64_t used = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const bool counts = given_mask ? given_mask[i] != 0 : row[i] != attrs_.pad;
    mask.push_back(given_mask ? given_mask[i] : counts);
    positions.push_back(counts ? used++ : 0);
  }
  positions.push_back(used);  // position of the next token
  for (int64_t k = 0; k < copies; ++k) {
    rows_.emplace_back(row.begin(), row.end());
    ids_.push_back(row);
    positions_.push_back(positions);
    mask_.push_back(mask);
  }
}

void Decoder::MakeInputs(int64_t max_length) {
  const auto rows = static_cast<int64_t>(rows_.size());
  for (int64_t width : {prompt_length_, prompt_length_, max_length})
    inputs_.emplace_back(Tensor(attrs_.index_type, {rows, width}));
  for (auto& mask : mask_) mask.reserve(static_cast<size_t>(max_length));
  // Adds an empty entry for each past. The subgraph ignores these entries, because it stores the pasts as
  // states.
  inputs_.resize(inputs_.size() + static_cast<size_t>(attrs_.layers));
}

Status Decoder::CheckPasts() const {
  const auto rows = static_cast<int64_t>(rows_.size()), length = static_cast<int64_t>(mask_[0].size());
  for (int i = 0; i < static_cast<int>(attrs_.layers); ++i) {
    const Dims& d = subgraph_->StateDims(i);
    if (d[0] != 2 || d[1] != rows || d[2] != attrs_.heads || d[3] != length || d[4] != attrs_.head_size)
      return InvalidModel("the decoder's past ", i, " is ", Describe(attrs_.past_type, d), " after ", length,
                          " tokens, must be [2,", rows, ",", attrs_.heads, ",", length, ",", attrs_.head_size,
                          "]");
  }
  return {};
}

Status Decoder::ReadLogits(const Tensor& t, ScoreRows& scores) const {
  const auto rows = static_cast<int64_t>(rows_.size());
  if (t.rank() != 3 || t.dim(0) != rows || t.dim(1) < 1)
    return InvalidModel("the decoder's logits are ", t.Describe(), ", must be [", rows,
                        ",length,vocabulary]");
  const int64_t vocabulary = attrs_.words < 0 ? t.dim(2) : attrs_.words;
  if (vocabulary > t.dim(2) || vocabulary < 1)
    return InvalidModel("the vocabulary has ", vocabulary, " tokens, but the decoder's logits are ",
                        t.Describe());
  const Tensor copy = t.contiguous() ? Tensor() : t.Clone();
  const Tensor& logits = t.contiguous() ? t : copy;
  scores.resize(rows_.size());
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<float>& row = scores[static_cast<size_t>(r)];
    row.resize(static_cast<size_t>(vocabulary));
    const int64_t last = ((r + 1) * t.dim(1) - 1) * t.dim(2);
    if (logits.dtype() == DType::kF32)
      std::copy_n(logits.data<float>() + last, vocabulary, row.begin());
    else
      for (int64_t w = 0; w < vocabulary; ++w)
        row[static_cast<size_t>(w)] = static_cast<float>(LoadDouble(logits, last + w));
  }
  return {};
}

Status Decoder::Step(ScoreRows& scores) {
  const size_t width = ids_[0].size();
  Store(ids_, width, inputs_[0].tensor);
  Store(positions_, width, inputs_[1].tensor);  // not the last position, which belongs to the next token
  Store(mask_, mask_[0].size(), inputs_[2].tensor);
  TERN_TRY(subgraph_->Run(inputs_));
  TERN_TRY(CheckPasts());
  const Datum& logits = subgraph_->Output(0);
  if (!logits.is_tensor() || !IsFloat(logits.tensor.dtype()))
    return InvalidModel("the decoder's logits are ", logits.Describe(), ", must be a float tensor");
  return ReadLogits(logits.tensor, scores);
}

Status Decoder::Append(const Tokens& tokens, const std::vector<size_t>& parents) {
  bool moved = false;
  for (size_t i = 0; i < parents.size(); ++i) moved |= parents[i] != i;
  if (moved) {
    std::vector<Tokens> rows;
    for (size_t parent : parents) rows.push_back(rows_[parent]);
    rows_ = std::move(rows);
    TERN_TRY(subgraph_->SelectRows(kRowAxis, parents));
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    rows_[i].push_back(tokens[i]);
    ids_[i].assign(1, tokens[i]);
    const int64_t position = positions_[i].back();
    positions_[i].assign({position, position + 1});
    mask_[i].push_back(1);
  }
  return {};
}

}  // namespace tern
