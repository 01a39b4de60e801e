#include "server/generate/row_batch.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"

namespace tern::server {

// The positions of row r are blocks of heads * stride positions, one per outer index.
struct RowBatch::View {
  std::byte* data = nullptr;
  size_t position = 0;  // bytes
  int64_t outer = 1, rows = 1, heads = 1, stride = 0;
  std::byte* At(int64_t o, int64_t row, int64_t head) const {
    return data + static_cast<size_t>(((o * rows + row) * heads + head) * stride) * position;
  }
};

int64_t CapacityOf(int64_t tokens) {
  int64_t capacity = 64;
  while (capacity < tokens) capacity *= 2;
  return capacity;
}

RowBatch::RowBatch(std::shared_ptr<const CausalModel> model)
    : model_(std::move(model)), session_(model_->NewSession()) {}

size_t RowBatch::bytes() const {
  return model_->bytes_per_token() * static_cast<size_t>(rows() * CapacityOf(length_));
}

void RowBatch::Clear() {
  session_->ResetState();
  mask_.clear();
  used_.clear();
  length_ = 0;
}

Status RowBatch::Resize(int64_t rows, int64_t length) {
  Status status;
  if (length == 0)
    session_->ResetState();  // the next run makes the states, for its number of rows
  else
    status = session_->ResizeStates(model_->batch_axis(), rows, length);
  if (!status.ok()) {
    Clear();  // the states may have different sizes now
    return status;
  }
  mask_.resize(static_cast<size_t>(rows));
  used_.resize(static_cast<size_t>(rows));
  for (auto& row : mask_) row.resize(static_cast<size_t>(length));
  length_ = length;
  return {};
}

Status RowBatch::SetRows(int64_t rows) { return rows == this->rows() ? Status() : Resize(rows, length_); }

Result<std::vector<RowBatch::View>> RowBatch::Views() {
  std::vector<View> views;
  for (const std::string& name : model_->states()) {
    TERN_ASSIGN(Tensor memory, session_->StateMemory(name));
    const auto& states = session_->graph().states();
    const auto state = std::find_if(states.begin(), states.end(),
                                    [&](const GraphState& s) { return s.input->name == name; });
    View view;
    view.data = memory.data<std::byte>();
    const Dims& dims = memory.dims();
    const auto batch = static_cast<size_t>(model_->batch_axis()), axis = static_cast<size_t>(state->axis);
    for (size_t i = 0; i < batch; ++i) view.outer *= dims[i];
    view.rows = dims[batch];
    for (size_t i = batch + 1; i < axis; ++i) view.heads *= dims[i];
    view.stride = dims[axis];
    int64_t inner = 1;
    for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
    view.position = BytesOf(memory.dtype(), static_cast<size_t>(inner));
    views.push_back(view);
  }
  return views;
}

// Returns the moves that put the tokens of a row side by side at its beginning.
std::vector<RowBatch::Piece> RowBatch::PiecesOf(int64_t row) const {
  const std::vector<uint8_t>& mask = mask_[static_cast<size_t>(row)];
  std::vector<Piece> pieces;
  int64_t to = 0;
  for (int64_t at = 0; at < length_; ++at) {
    if (!mask[static_cast<size_t>(at)]) continue;
    if (pieces.empty() || pieces.back().from + pieces.back().count != at) pieces.push_back({at, to, 0});
    ++pieces.back().count;
    ++to;
  }
  return pieces;
}

void RowBatch::CopyPieces(const View& to, int64_t to_row, const View& from, int64_t from_row,
                          const std::vector<Piece>& pieces) {
  for (int64_t o = 0; o < to.outer; ++o)
    for (int64_t head = 0; head < to.heads; ++head) {
      std::byte* target = to.At(o, to_row, head);
      const std::byte* source = from.At(o, from_row, head);
      for (const Piece& piece : pieces)
        if (target + static_cast<size_t>(piece.to) * to.position !=
            source + static_cast<size_t>(piece.from) * from.position)
          std::memmove(target + static_cast<size_t>(piece.to) * to.position,
                       source + static_cast<size_t>(piece.from) * from.position,
                       static_cast<size_t>(piece.count) * from.position);
    }
}

Status RowBatch::CopyRow(int64_t to, RowBatch& from, int64_t row) {
  const std::vector<Piece> pieces = from.PiecesOf(row);
  const int64_t count = from.used(row);
  if (count > length_) TERN_TRY(Resize(rows(), count));
  TERN_ASSIGN(const std::vector<View> targets, Views());
  TERN_ASSIGN(const std::vector<View> sources, from.Views());
  const Workers workers(model_->options().threads);
  workers.ParallelFor(static_cast<int64_t>(targets.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      CopyPieces(targets[i], to, sources[i], row, pieces);
  });
  auto& mask = mask_[static_cast<size_t>(to)];
  std::fill(mask.begin(), mask.end(), uint8_t{0});
  std::fill_n(mask.begin(), count, uint8_t{1});
  used_[static_cast<size_t>(to)] = count;
  return {};
}

Status RowBatch::ClearRow(int64_t row, bool forget) {
  auto& mask = mask_[static_cast<size_t>(row)];
  std::fill(mask.begin(), mask.end(), uint8_t{0});
  used_[static_cast<size_t>(row)] = 0;
  if (!forget || length_ == 0) return {};
  TERN_ASSIGN(const std::vector<View> views, Views());
  for (const View& view : views)
    for (int64_t o = 0; o < view.outer; ++o)
      std::memset(view.At(o, row, 0), 0, static_cast<size_t>(view.heads * view.stride) * view.position);
  return {};
}

int64_t RowBatch::longest() const {
  return used_.empty() ? 0 : *std::max_element(used_.begin(), used_.end());
}

Status RowBatch::Compact() {
  const int64_t length = longest();
  if (length == length_) return {};
  if (length == 0) return Resize(rows(), 0);
  TERN_ASSIGN(const std::vector<View> views, Views());
  std::vector<std::vector<Piece>> pieces;
  for (int64_t row = 0; row < rows(); ++row) pieces.push_back(PiecesOf(row));
  const Workers workers(model_->options().threads);
  workers.ParallelFor(static_cast<int64_t>(views.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      for (int64_t row = 0; row < rows(); ++row)
        CopyPieces(views[i], row, views[i], row, pieces[static_cast<size_t>(row)]);
  });
  for (size_t row = 0; row < mask_.size(); ++row) {
    std::fill(mask_[row].begin(), mask_[row].end(), uint8_t{0});
    std::fill_n(mask_[row].begin(), used_[row], uint8_t{1});
  }
  return Resize(rows(), length);
}

Status RowBatch::Bind(int input, const std::vector<int64_t>& values, int64_t width) {
  if (input < 0) return {};
  Tensor tensor(model_->InputType(input), {rows(), width});
  for (size_t i = 0; i < values.size(); ++i) StoreLong(tensor, static_cast<int64_t>(i), values[i]);
  return session_->BindInput(input, Datum(std::move(tensor)));
}

Status RowBatch::BindScores(int64_t count, const std::vector<int64_t>& valid, bool all) {
  first_score_ = 0, score_count_ = count;
  const int input = model_->ports().positions_of_scores;
  if (input < 0) return {};
  if (!all && rows() == 1) first_score_ = std::max<int64_t>(0, valid[0] - 1), score_count_ = 1;
  Tensor tensor(DType::kI64, {score_count_});
  for (int64_t i = 0; i < score_count_; ++i) tensor.data<int64_t>()[i] = first_score_ + i;
  return session_->BindInput(input, Datum(std::move(tensor)));
}

Status RowBatch::Run(const std::vector<int64_t>& tokens, int64_t count, const std::vector<int64_t>& valid,
                     int threads, bool all_scores) {
  const int64_t total = length_ + count;
  std::vector<int64_t> positions, mask;
  mask.reserve(static_cast<size_t>(rows() * total));
  for (int64_t row = 0; row < rows(); ++row) {
    const int64_t used = this->used(row), fresh = valid[static_cast<size_t>(row)];
    const auto& old = mask_[static_cast<size_t>(row)];
    mask.insert(mask.end(), old.begin(), old.end());
    for (int64_t i = 0; i < count; ++i) {
      positions.push_back(std::min(used + i, model_->options().context - 1));
      // A row without tokens attends to its padding, because the mean over no position is not a number.
      mask.push_back(i < fresh || used + fresh == 0 ? 1 : 0);
    }
  }
  session_->SetThreads(threads);
  TERN_TRY(Bind(model_->ports().ids, tokens, count));
  TERN_TRY(Bind(model_->ports().mask, mask, total));
  TERN_TRY(Bind(model_->ports().positions, positions, count));
  TERN_TRY(BindScores(count, valid, all_scores));
  scores_ = Tensor();
  TERN_TRY(session_->Run());
  length_ = total;
  for (int64_t row = 0; row < rows(); ++row) {
    auto& row_mask = mask_[static_cast<size_t>(row)];
    const int64_t fresh = valid[static_cast<size_t>(row)];
    row_mask.resize(static_cast<size_t>(total), 0);
    std::fill_n(row_mask.end() - count, fresh, uint8_t{1});
    used_[static_cast<size_t>(row)] += fresh;
  }
  return {};
}

Result<const float*> RowBatch::Scores(int64_t row, int64_t i) {
  const Datum& datum = session_->Output(model_->ports().scores);
  if (!datum.is_tensor() || datum.tensor.rank() != 3 || datum.tensor.dim(0) != rows() ||
      datum.tensor.dim(1) != score_count_ || datum.tensor.dim(2) < 1 || !IsFloat(datum.tensor.dtype()))
    return InvalidModel("the model's scores are ", datum.Describe(), ", must be floats [", rows(), ",",
                        score_count_, ",vocabulary]");
  if (i < first_score_ || i >= first_score_ + score_count_)
    return Status(Code::kInternal, StrCat("there are no scores after token ", i, " of the run"));
  const int64_t vocabulary = datum.tensor.dim(2);
  if (!scores_.defined()) {
    scores_ = datum.tensor.Contiguous();
    if (scores_.dtype() != DType::kF32) {
      Tensor floats(DType::kF32, scores_.dims());
      for (int64_t k = 0; k < floats.size(); ++k)
        floats.data<float>()[k] = static_cast<float>(LoadDouble(scores_, k));
      scores_ = floats;
    }
  }
  return scores_.data<const float>() + (row * score_count_ + i - first_score_) * vocabulary;
}

}  // namespace tern::server
