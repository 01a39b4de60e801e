#include "generate/decoder.h"

#include <cstring>

namespace tern {
namespace {

// Returns a past [2, rows, …] whose row i is row parents[i] of the argument.
Tensor Reordered(const Tensor& past, const std::vector<size_t>& parents) {
  const Tensor from = past.Contiguous();
  Tensor out(from.dtype(), from.dims());
  const size_t rows = static_cast<size_t>(from.dim(1)), bytes = rows ? from.bytes() / 2 / rows : 0;
  for (size_t half = 0; half < 2; ++half)
    for (size_t r = 0; bytes && r < rows; ++r)
      std::memcpy(out.data<char>() + (half * rows + r) * bytes,
                  from.data<char>() + (half * rows + parents[r]) * bytes, bytes);
  return out;
}

}  // namespace

Result<Decoder> Decoder::Start(const DecoderAttrs& attrs, EvalContext& c, int64_t copies) {
  TERN_TRY(CheckDecoder(attrs));
  const Tensor& ids = c.In("input_ids");
  if (ids.rank() != 2 || ids.size() == 0)
    return InvalidArgument("input_ids must be [batch, length] and not empty, got ", ids.Describe());
  if (ids.dim(1) > kMaxSequence)
    return InvalidArgument("prompts of ", ids.dim(1), " tokens, must be at most ", kMaxSequence);
  const bool masked = c.Has("attention_mask");
  if (masked && c.In("attention_mask").dims() != ids.dims())
    return InvalidArgument("attention_mask is ", c.In("attention_mask").Describe(), " for input_ids ",
                           ids.Describe());
  Decoder d(attrs, c);
  d.batch_ = ids.dim(0);
  d.prompt_length_ = ids.dim(1);
  const auto tokens = c.Longs("input_ids");
  const auto given_mask = masked ? c.Longs("attention_mask") : std::vector<int64_t>();
  for (int64_t b = 0; b < d.batch_; ++b) {
    std::vector<int64_t> row(tokens.begin() + b * d.prompt_length_,
                             tokens.begin() + (b + 1) * d.prompt_length_),
        positions, mask;
    int64_t used = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool counts =
          masked ? given_mask[static_cast<size_t>(b * d.prompt_length_) + i] != 0 : row[i] != attrs.pad;
      mask.push_back(masked ? given_mask[static_cast<size_t>(b * d.prompt_length_) + i] : counts);
      positions.push_back(counts ? used++ : 0);
    }
    for (int64_t k = 0; k < copies; ++k) {
      d.rows_.emplace_back(row.begin(), row.end());
      d.ids_.push_back(row);
      d.positions_.push_back(positions);
      d.positions_.back().push_back(used);  // position of the next token
      d.mask_.push_back(mask);
    }
  }
  for (int64_t i = 0; i < attrs.layers; ++i)
    d.past_.emplace_back(Tensor(attrs.past_type, {2, d.batch_ * copies, attrs.heads, 0, attrs.head_size}));
  return d;
}

Tensor Decoder::IndexTensor(const std::vector<std::vector<int64_t>>& rows) const {
  const size_t width = rows[0].size();
  Tensor t(attrs_.index_type, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)});
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t i = 0; i < width; ++i) StoreLong(t, static_cast<int64_t>(r * width + i), rows[r][i]);
  return t;
}

Result<ScoreRows> Decoder::Logits(const Tensor& t) const {
  const auto rows = static_cast<int64_t>(rows_.size());
  if (t.rank() != 3 || t.dim(0) != rows || t.dim(1) < 1)
    return InvalidModel("the decoder's logits are ", t.Describe(), " for ", rows, " rows");
  const int64_t vocabulary = attrs_.words < 0 ? t.dim(2) : attrs_.words;
  if (vocabulary > t.dim(2) || vocabulary < 1)
    return InvalidModel("the vocabulary has ", vocabulary, " tokens, but the decoder's logits are ",
                        t.Describe());
  const Tensor logits = t.Contiguous();
  ScoreRows out(rows_.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t w = 0; w < vocabulary; ++w)
      out[static_cast<size_t>(r)].push_back(
          static_cast<float>(LoadDouble(logits, ((r + 1) * t.dim(1) - 1) * t.dim(2) + w)));
  return out;
}

Result<ScoreRows> Decoder::Step() {
  std::vector<std::vector<int64_t>> positions = positions_;
  for (auto& row : positions) row.pop_back();
  DatumList inputs = {Datum(IndexTensor(ids_)), Datum(IndexTensor(positions)), Datum(IndexTensor(mask_))};
  inputs.insert(inputs.end(), past_.begin(), past_.end());
  TERN_ASSIGN(DatumList out, c_.RunSubgraph(0, inputs));
  if (static_cast<int64_t>(out.size()) < 1 + attrs_.layers)
    return InvalidModel("the decoder gives ", out.size(), " outputs, needs ", 1 + attrs_.layers);
  for (size_t i = 0; i < past_.size(); ++i) {
    const Tensor& present = out[i + 1].tensor;
    if (!out[i + 1].is_tensor() || present.dtype() != attrs_.past_type || present.rank() != 5 ||
        present.dims() != Dims{2, static_cast<int64_t>(rows_.size()), attrs_.heads,
                               static_cast<int64_t>(mask_[0].size()), attrs_.head_size})
      return InvalidModel("the decoder's past ", i, " is ", out[i + 1].Describe());
    past_[i] = present;
  }
  if (!out[0].is_tensor() || !IsFloat(out[0].tensor.dtype()))
    return InvalidModel("the decoder's logits are ", out[0].Describe());
  return Logits(out[0].tensor);
}

void Decoder::Append(const Tokens& tokens, const std::vector<size_t>& parents) {
  std::vector<Tokens> rows;
  for (size_t i = 0; i < tokens.size(); ++i) {
    rows.push_back(rows_[parents[i]]);
    rows.back().push_back(tokens[i]);
    ids_[i] = {tokens[i]};
    const int64_t position = positions_[i].back();
    positions_[i] = {position, position + 1};
    mask_[i].push_back(1);
  }
  rows_ = std::move(rows);
  for (Datum& past : past_) past = Reordered(past.tensor, parents);
}

}  // namespace tern
