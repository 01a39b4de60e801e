// The parts of GenerationEngine that run the model.
#include <algorithm>

#include "server/generate/active.h"

namespace tern::server {
namespace {

constexpr int kQuietSteps = 16;  // steps after which unused rows are removed

// Returns the number of tokens of the next run of a prompt. There are few widths, because each has plans of
// its own. The last part of a prompt is padded if the model permits that, else it is divided.
int64_t PartWidth(int64_t left, const CausalModel& model, int64_t room) {
  if (model.batches())
    for (const int64_t width : model.widths())
      if (left <= width || width == model.options().chunk) return std::min(width, room);
  int64_t width = 1;
  while (2 * width <= std::min(left, model.options().chunk)) width *= 2;
  return width;
}

}  // namespace

void GenerationEngine::ReadPrompt(int threads) {
  Active& active = *reading_;
  const auto total = static_cast<int64_t>(active.generation->prompt.size());
  const Status status = ReadPart(active, threads);
  GenerationEvent event;
  event.status = status;
  if (!status.ok()) {
    Finish(active, std::move(event));
    reading_.reset();
    return prompt_.Clear();
  }
  if (active.read < total) return;
  RowBatch& batch = active.own ? *active.own : prompt_;
  const auto scores = batch.Scores(0, last_part_ - 1);
  generated_.prompt_tokens.fetch_add(static_cast<uint64_t>(total), std::memory_order_relaxed);
  bool goes_on = false;
  if (!scores.ok() || active.generation->options.max_tokens == 0) {
    event.status = scores.status();
    event.finish = FinishReason::kLength;
    event.logprobs = std::move(active.logprobs);
    Finish(active, std::move(event));
  } else {
    goes_on = TakeScores(active, *scores);
  }
  ActivePtr done = std::move(reading_);
  if (goes_on) {
    const Status joined = Join(done);
    event.status = joined;
    if (!joined.ok()) Finish(*done, std::move(event));
  }
  prompt_.Clear();
}

Status GenerationEngine::ReadPart(Active& active, int threads) {
  RowBatch& batch = active.own ? *active.own : prompt_;
  const std::vector<int64_t>& prompt = active.generation->prompt;
  const int64_t left = static_cast<int64_t>(prompt.size()) - active.read;
  if (batch.rows() == 0) TERN_TRY(batch.SetRows(1));
  const int64_t width = PartWidth(left, *model_, model_->options().context - batch.length());
  last_part_ = std::min(width, left);
  std::vector<int64_t> tokens(static_cast<size_t>(width));
  std::copy_n(prompt.begin() + active.read, last_part_, tokens.begin());
  const bool all_scores = active.generation->options.prompt_logprobs;
  TERN_TRY(batch.Run(tokens, width, {last_part_}, threads, all_scores));
  if (all_scores) {
    if (active.read == 0) active.logprobs.push_back({{prompt[0], 0}, false, {}});
    for (int64_t i = 0; i < last_part_ && active.read + i + 1 < static_cast<int64_t>(prompt.size()); ++i) {
      TERN_ASSIGN(const float* scores, batch.Scores(0, i));
      active.logprobs.push_back(LogprobOf(scores, batch.vocabulary(),
                                          prompt[static_cast<size_t>(active.read + i + 1)],
                                          active.generation->options.logprobs));
    }
  }
  active.read += last_part_;
  return {};
}

// Moves a sequence from prompt_ to a row of the batch. Leaves `active` null if that succeeds.
Status GenerationEngine::Join(ActivePtr& active) {
  if (active->own) {
    alone_.push_back(std::move(active));
    return {};
  }
  auto row = std::find(slots_.begin(), slots_.end(), nullptr) - slots_.begin();
  if (row == static_cast<std::ptrdiff_t>(slots_.size())) {
    const int64_t rows = std::clamp<int64_t>(2 * batch_.rows(), 1, std::max(limits_.running, batch_.rows()));
    const Status grown = batch_.SetRows(rows);
    if (!grown.ok()) {
      failed_rows_ = grown;  // the batch has lost its rows
      return grown;
    }
    slots_.resize(static_cast<size_t>(rows));
  }
  const Status copied = batch_.CopyRow(row, prompt_, 0);
  if (!copied.ok()) {
    if (batch_.rows() == 0) failed_rows_ = copied;
    return copied;
  }
  quiet_steps_ = 0;
  slots_[static_cast<size_t>(row)] = std::move(active);
  return {};
}

void GenerationEngine::Decode(int threads) {
  Status status = std::exchange(failed_rows_, {});
  const auto used = [](const ActivePtr& slot) { return !!slot; };
  if (status.ok() && std::any_of(slots_.begin(), slots_.end(), used)) status = DecodeBatch(threads);
  if (!status.ok()) {
    for (ActivePtr& slot : slots_) {
      GenerationEvent event;
      event.status = status;
      if (slot) Finish(*slot, std::move(event));
    }
    slots_.clear();
  }
  if (std::none_of(slots_.begin(), slots_.end(), used)) {
    slots_.clear();
    if (batch_.rows() > 0) batch_.Clear();
  }
  for (auto it = alone_.begin(); it != alone_.end();) {
    const Status ran = DecodeAlone(**it, threads);
    GenerationEvent event;
    event.status = ran;
    if (!ran.ok()) Finish(**it, std::move(event));
    it = !ran.ok() || (*it)->ended ? alone_.erase(it) : std::next(it);
  }
}

// Removes positions that no row needs, if they take much time or if there is no room for the next ones.
Status GenerationEngine::MakeRoom() {
  const int64_t longest = batch_.longest(), unused = batch_.length() - longest;
  int64_t most = 0;
  for (const ActivePtr& slot : slots_)
    if (slot) {
      const Generation& g = *slot->generation;
      most = std::max(most, static_cast<int64_t>(g.prompt.size()) + g.options.max_tokens);
    }
  const bool full = batch_.length() + 1 > std::min(model_->options().context, CapacityOf(most));
  if (unused == 0 || (!full && unused < std::max<int64_t>(16, longest / 4))) return {};
  return batch_.Compact();
}

Status GenerationEngine::ShrinkBatch() {
  const int64_t rows = batch_.rows(), half = rows / 2;
  const auto count = std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) { return !!slot; });
  if (half == 0 || count > half) {
    quiet_steps_ = 0;
    return {};
  }
  if (++quiet_steps_ < kQuietSteps) return {};
  quiet_steps_ = 0;
  for (int64_t row = half; row < rows; ++row) {
    if (!slots_[static_cast<size_t>(row)]) continue;
    const auto free = std::find(slots_.begin(), slots_.end(), nullptr);
    TERN_TRY(batch_.CopyRow(free - slots_.begin(), batch_, row));
    std::swap(*free, slots_[static_cast<size_t>(row)]);
  }
  slots_.resize(static_cast<size_t>(half));
  return batch_.SetRows(half);
}

Status GenerationEngine::DecodeBatch(int threads) {
  TERN_TRY(ShrinkBatch());
  TERN_TRY(MakeRoom());
  std::vector<int64_t> tokens, valid;
  for (const ActivePtr& slot : slots_) {
    tokens.push_back(slot ? slot->next : 0);
    valid.push_back(slot ? 1 : 0);
  }
  const Clock::time_point begin = Clock::now();
  TERN_TRY(batch_.Run(tokens, 1, valid, threads));
  const Clock::time_point end = Clock::now();
  int count = 0;
  for (size_t row = 0; row < slots_.size(); ++row) {
    if (!slots_[row]) continue;
    ++count;
    TERN_ASSIGN(const float* scores, batch_.Scores(static_cast<int64_t>(row), 0));
    if (!TakeScores(*slots_[row], scores)) FreeRow(row, slots_[row]->broken);
  }
  CountStep(count, begin, end, threads);
  return {};
}

Status GenerationEngine::DecodeAlone(Active& active, int threads) {
  const Clock::time_point begin = Clock::now();
  TERN_TRY(active.own->Run({active.next}, 1, {1}, threads));
  const Clock::time_point end = Clock::now();
  TERN_ASSIGN(const float* scores, active.own->Scores(0, 0));
  active.ended = !TakeScores(active, scores);
  CountStep(1, begin, end, threads);
  return {};
}

void GenerationEngine::CountStep(int rows, Clock::time_point begin, Clock::time_point end, int threads) {
  generated_.steps.fetch_add(1, std::memory_order_relaxed);
  generated_.step_rows.fetch_add(static_cast<uint64_t>(rows), std::memory_order_relaxed);
  owner_.statistics().AddExecution(rows, {}, end - begin, Clock::now() - end,
                                   (end - begin) * std::max(1, threads));
}

bool GenerationEngine::TakeScores(Active& active, const float* scores) {
  const GenerationOptions& options = active.generation->options;
  GenerationEvent event;
  const auto token = active.sampler.Choose(scores, model_->vocabulary());
  if (!token.ok()) {
    active.broken = token.status().code() == Code::kInternal;
    event.status = token.status();
    Finish(active, std::move(event));
    return false;
  }
  const Clock::time_point now = Clock::now();
  if (active.generated == 0)
    generated_.first_token.Add(now - active.generation->arrived);
  else
    generated_.between_tokens.Add(now - active.last_token);
  active.last_token = now;
  active.next = *token;
  ++active.generated;
  generated_.generated_tokens.fetch_add(1, std::memory_order_relaxed);
  const bool eos = !options.ignore_eos && std::find(eos_.begin(), eos_.end(), *token) != eos_.end();
  if (!eos) {
    if (options.logprobs >= 0)
      active.logprobs.push_back(LogprobOf(scores, model_->vocabulary(), *token, options.logprobs));
    auto text = active.text.Add(*token);
    event.status = text.status();
    if (text.ok()) event.text = std::move(*text);
  }
  if (eos || active.text.stopped())
    event.finish = FinishReason::kStop;
  else if (active.generated >= options.max_tokens)
    event.finish = FinishReason::kLength;
  event.logprobs = std::exchange(active.logprobs, {});
  if (event.finish != FinishReason::kNone && event.status.ok()) {
    auto rest = active.text.Finish();
    event.status = rest.status();
    if (rest.ok()) event.text += *rest;
  }
  if (event.last()) {
    Finish(active, std::move(event));
    return false;
  }
  event.generated = active.generated;
  if (!event.text.empty() || !event.logprobs.empty()) active.generation->sink->OnEvent(std::move(event));
  return true;
}

}  // namespace tern::server
