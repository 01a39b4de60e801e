#include "server/generate/causal_model.h"

#include <algorithm>
#include <cmath>

#include "ir/state.h"
#include "server/generate/row_batch.h"
#include "server/generate/sampler.h"
#include "server/generate/select_scores.h"

namespace tern::server {
namespace {

constexpr int kPlans = 64;

bool Mentions(const std::string& name, std::string_view word) { return name.find(word) != std::string::npos; }

std::string TypeText(const Value& v) { return StrCat("'", v.name, "' is ", v.type.ToString()); }

// Token ids for a trial, in a sequence with a long period.
std::vector<int64_t> TrialTokens(int64_t first, int64_t count, int64_t vocabulary) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back((first + i * 7919) % std::max<int64_t>(1, vocabulary));
  return out;
}

// Runs `tokens` one by one in a batch of one row. Returns the scores after each of the last `last` tokens.
Result<std::vector<std::vector<float>>> ScoresAlone(RowBatch& alone, const std::vector<int64_t>& tokens,
                                                    size_t last, int64_t vocabulary) {
  std::vector<std::vector<float>> out;
  alone.Clear();
  TERN_TRY(alone.SetRows(1));
  for (size_t i = 0; i < tokens.size(); ++i) {
    TERN_TRY(alone.Run({tokens[i]}, 1, {1}, 0));
    TERN_ASSIGN(const float* scores, alone.Scores(0, 0));
    if (i + last >= tokens.size()) out.emplace_back(scores, scores + vocabulary);
  }
  return out;
}

// Returns why the scores differ, or an empty text.
std::string Difference(const std::vector<float>& alone, const float* batched) {
  double largest = 0, difference = 0;
  for (size_t i = 0; i < alone.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(alone[i])));
    difference = std::max(difference, std::abs(static_cast<double>(alone[i]) - batched[i]));
  }
  if (difference <= 1e-3 * (1 + largest)) return {};  // false for NaN
  return StrCat("its scores in a batch differ by up to ", difference, " from those alone (the largest is ",
                largest, ")");
}

}  // namespace

bool CausalModel::HasStates(const Graph& graph) {
  const std::vector<GraphState> found = tern::FindStates(graph);
  return std::any_of(found.begin(), found.end(), [](const GraphState& s) { return s.axis >= 0; });
}

Result<std::shared_ptr<const CausalModel>> CausalModel::Create(std::unique_ptr<Graph> graph,
                                                               const CausalOptions& options) {
  std::shared_ptr<CausalModel> model(new CausalModel());
  model->options_ = options;
  SessionOptions session;
  session.level = Level::kLayout;
  session.plan_cache = kPlans;
  session.threads = options.threads;
  session.precision = options.precision;
  session.states = "auto";
  TERN_TRY(SelectScores(*graph));
  TERN_ASSIGN(model->session_, Session::Create(std::move(graph), session));
  TERN_TRY(model->FindPorts());
  TERN_TRY(model->FindStates());
  const Status trial = model->TryOneToken();
  if (!trial.ok()) return Status(trial.code(), StrCat("a trial with one token fails: ", trial.message()));
  if (model->why_alone_.empty()) TERN_TRY(model->TryBatches());
  return std::shared_ptr<const CausalModel>(std::move(model));
}

std::vector<int64_t> CausalModel::widths() const {
  std::vector<int64_t> out;
  for (int64_t width = 8; width < options_.chunk; width *= 2) out.push_back(width);
  out.push_back(options_.chunk);
  return out;
}

DType CausalModel::InputType(int input) const {
  return session_->graph().inputs()[static_cast<size_t>(input)]->type.dtype;
}

Status CausalModel::FindPorts() {
  for (int i = 0; i < session_->InputCount(); ++i)
    if (!session_->IsStateInput(i)) TERN_TRY(FindPort(i));
  for (int i = 0; i < session_->OutputCount(); ++i) {
    if (session_->IsStateOutput(i)) continue;
    const Value& v = *session_->graph().outputs()[static_cast<size_t>(i)];
    if (ports_.scores < 0 || v.name == "logits") ports_.scores = i;
  }
  if (ports_.ids < 0) return Unsupported("the model has no input for token ids");
  if (ports_.scores < 0) return Unsupported("the model has no output for the scores of the next token");
  const Value& scores = *session_->graph().outputs()[static_cast<size_t>(ports_.scores)];
  if (!scores.type.tensor() || !IsFloat(scores.type.dtype))
    return Unsupported("output ", TypeText(scores), ", must be floats [batch, tokens, vocabulary]");
  return {};
}

Status CausalModel::FindPort(int input) {
  const Value& v = *session_->graph().inputs()[static_cast<size_t>(input)];
  if (v.name == kScorePositions) {
    ports_.positions_of_scores = input;
    return {};
  }
  if (!v.type.tensor() || !IsInt(v.type.dtype) || (v.type.shape.ranked && v.type.shape.rank() != 2))
    return Unsupported("input ", TypeText(v),
                       "; a model that generates text has integer inputs [batch, tokens] besides its states");
  int& port = Mentions(v.name, "mask")       ? ports_.mask
              : Mentions(v.name, "position") ? ports_.positions
                                             : ports_.ids;
  if (port >= 0)
    return Unsupported("input '", v.name,
                       "' is a second input for token ids, mask or positions; a model has one of each");
  port = input;
  return {};
}

// Each state must have the batch as one of its axes, before the axis that grows.
Status CausalModel::FindStates() {
  const Value& ids = *session_->graph().inputs()[static_cast<size_t>(ports_.ids)];
  const Dim* batch = ids.type.shape.ranked ? &ids.type.shape[0] : nullptr;
  for (const GraphState& state : session_->graph().states()) {
    const Value& v = *state.input;
    states_.push_back(v.name);
    int axis = -1;
    for (int i = 0; v.type.shape.ranked && i < state.axis && axis < 0; ++i)
      if (batch && batch->symbolic() && v.type.shape[i] == *batch) axis = i;
    for (int i = 0; v.type.shape.ranked && i < state.axis && axis < 0; ++i)
      if (!v.type.shape[i].known()) axis = i;
    if (state.axis < 0 || axis < 0 || (batch_axis_ >= 0 && axis != batch_axis_)) {
      why_alone_ = StrCat("state ", TypeText(v), state.axis < 0 ? " does not grow" : " has no batch dim");
      continue;
    }
    batch_axis_ = axis;
    int64_t elements = 1;
    for (int i = 0; i < v.type.shape.rank(); ++i) {
      if (i == axis || i == state.axis) continue;
      if (!v.type.shape[i].known()) why_alone_ = StrCat("state ", TypeText(v), " has another open dim");
      elements *= v.type.shape[i].known() ? v.type.shape[i].value() : 1;
    }
    bytes_per_token_ += BytesOf(v.type.dtype, static_cast<size_t>(elements));
  }
  if (states_.empty()) return Unsupported("the model has no inputs and outputs for the past");
  if (batch && batch->known() && why_alone_.empty()) why_alone_ = "its batch dim is fixed";
  if (ports_.mask < 0 && why_alone_.empty()) why_alone_ = "it has no input for an attention mask";
  return {};
}

Status CausalModel::TryOneToken() {
  RowBatch batch(std::shared_ptr<const CausalModel>(std::shared_ptr<void>(), this));  // owns nothing
  TERN_TRY(batch.SetRows(1));
  TERN_TRY(batch.Run({0}, 1, {1}, 0));
  TERN_TRY(batch.Scores(0, 0).status());
  vocabulary_ = batch.vocabulary();
  return {};
}

// In the trial, a short sequence with a padded prompt joins a longer one. So its row has positions without
// tokens before its next tokens. Then the batch gets more rows, so that the plans of all batch sizes are
// compiled.
Status CausalModel::TryBatches() {
  const auto self = std::shared_ptr<const CausalModel>(std::shared_ptr<void>(), this);  // owns nothing
  constexpr int64_t kShort = 3, kLong = 11, kLast = 3;
  const int64_t small = widths().front();
  if (options_.context < 4 * options_.chunk) {
    why_alone_ = StrCat("its context of ", options_.context, " tokens is too short");
    return {};
  }
  RowBatch alone(self), prompt(self), batch(self);
  const std::vector<int64_t> a = TrialTokens(1, kShort + kLast, vocabulary_);
  const std::vector<int64_t> b = TrialTokens(5, kLong + kLast, vocabulary_);
  TERN_ASSIGN(const auto scores_a, ScoresAlone(alone, a, kLast, vocabulary_));
  TERN_ASSIGN(const auto scores_b, ScoresAlone(alone, b, kLast, vocabulary_));
  const auto compare = [&](const std::vector<float>& want, RowBatch& got, int64_t row) -> Status {
    TERN_ASSIGN(const float* scores, got.Scores(row, 0));
    if (why_alone_.empty()) why_alone_ = Difference(want, scores);
    return {};
  };
  const auto read = [&](const std::vector<int64_t>& tokens, int64_t count, int64_t width) -> Status {
    prompt.Clear();
    TERN_TRY(prompt.SetRows(1));
    for (int64_t at = 0; at < count; at += width) {
      std::vector<int64_t> part(static_cast<size_t>(width));
      const int64_t valid = std::min(width, count - at);
      std::copy_n(tokens.begin() + at, valid, part.begin());
      TERN_TRY(prompt.Run(part, width, {valid}, 0));
    }
    return {};
  };
  const auto trial = [&]() -> Status {
    TERN_TRY(batch.SetRows(2));
    TERN_TRY(read(b, kLong, small));
    TERN_TRY(batch.CopyRow(0, prompt, 0));
    TERN_TRY(read(a, kShort, small));
    TERN_TRY(batch.CopyRow(1, prompt, 0));
    for (int64_t i = 0; i < kLast; ++i) {
      TERN_TRY(
          batch.Run({b[static_cast<size_t>(kLong + i)], a[static_cast<size_t>(kShort + i)]}, 1, {1, 1}, 0));
      TERN_TRY(compare(scores_b[static_cast<size_t>(i)], batch, 0));
      TERN_TRY(compare(scores_a[static_cast<size_t>(i)], batch, 1));
    }
    TERN_TRY(batch.Compact());
    // Other widths of prompts and of batches. The second run of each makes a plan for all lengths.
    for (const int64_t width : widths()) {
      const std::vector<int64_t> tokens = TrialTokens(2, 4 * width, vocabulary_);
      TERN_TRY(read(tokens, 4 * width, width));
    }
    for (int64_t rows = 1; rows <= options_.rows; rows *= 2) {
      TERN_TRY(batch.SetRows(rows));
      const auto all = static_cast<size_t>(rows);
      for (int i = 0; i < 3; ++i)
        TERN_TRY(batch.Run(std::vector<int64_t>(all), 1, std::vector<int64_t>(all, 1), 0));
    }
    return {};
  };
  const Status status = trial();
  if (!status.ok() && why_alone_.empty()) why_alone_ = StrCat("a batch fails: ", status.message());
  return {};
}

}  // namespace tern::server
