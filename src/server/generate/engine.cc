#include "server/generate/engine.h"

#include <algorithm>

#include "server/generate/active.h"
#include "server/scheduler/execution.h"

namespace tern::server {

namespace {

Status Cancelled() { return Status(Code::kCancelled, "the request was cancelled"); }
Status Late() { return Unavailable("the request did not end before its deadline"); }

// Returns the positions that a sequence needs at most.
int64_t Need(const Generation& g) {
  return static_cast<int64_t>(g.prompt.size()) + std::max<int64_t>(0, g.options.max_tokens);
}

}  // namespace

GenerationEngine::Active::Active(std::shared_ptr<Generation> from,
                                 const std::shared_ptr<const data::Tokenizer>& tokenizer)
    : generation(std::move(from)),
      sampler(generation->options.sampling, generation->prompt),
      text(tokenizer, generation->options.stop, generation->prompt) {}

GenerationEngine::GenerationEngine(std::shared_ptr<const CausalModel> model,
                                   std::shared_ptr<const data::Tokenizer> tokenizer, std::vector<int64_t> eos,
                                   const EngineLimits& limits, ModelVersion& owner)
    : model_(std::move(model)),
      tokenizer_(std::move(tokenizer)),
      eos_(std::move(eos)),
      limits_(limits),
      owner_(owner),
      prompt_(model_),
      batch_(model_) {}

GenerationEngine::~GenerationEngine() { Fail(Unavailable("the model is unloaded")); }

Status GenerationEngine::CheckLength(const Generation& g) const {
  const int64_t context = model_->options().context;
  if (g.prompt.empty()) return InvalidArgument("the prompt has no tokens");
  if (Need(g) > context)
    return InvalidArgument("This model's maximum context length is ", context,
                           " tokens. However, you requested ", Need(g), " tokens (", g.prompt.size(),
                           " in the messages or the prompt, ", g.options.max_tokens,
                           " in the completion). Please reduce the length of the messages or completion.");
  if (CapacityOf(Need(g)) > limits_.cache_tokens)
    return InvalidArgument("the request needs ", CapacityOf(Need(g)), " positions of the cache, which has ",
                           limits_.cache_tokens);
  for (const int64_t token : g.prompt)
    if (token < 0 || token >= model_->vocabulary())
      return InvalidArgument("token ", token, " of the prompt is not in the model's vocabulary of ",
                             model_->vocabulary(), " tokens");
  return {};
}

Status GenerationEngine::Accept(const Generations& generations) {
  for (const auto& generation : generations) TERN_TRY(CheckLength(*generation));
  const auto count = static_cast<int64_t>(generations.size());
  if (count > limits_.waiting + limits_.running)
    return InvalidArgument("the request has ", count, " sequences; ", limits_.running, " can run and ",
                           limits_.waiting, " can wait");
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  const int64_t room = limits_.waiting + std::max<int64_t>(0, limits_.running - unfinished_ + waiting_);
  if (waiting_ + count > room)
    return ResourceExhausted(count, " sequences cannot wait: ", waiting_, " of at most ", limits_.waiting,
                             " sequences wait for this model");
  for (const auto& generation : generations) SetTimes(generation->times, now);
  groups_.push_back({{generations.begin(), generations.end()}});
  waiting_ += count;
  unfinished_ += count;
  return {};
}

int64_t GenerationEngine::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

int64_t GenerationEngine::unfinished() const {
  const std::lock_guard lock(mutex_);
  return unfinished_;
}

double GenerationEngine::cache_usage() const {
  return static_cast<double>(cache_positions_.load(std::memory_order_relaxed)) /
         static_cast<double>(std::max<int64_t>(1, limits_.cache_tokens));
}

void GenerationEngine::Count(Generation& g, const GenerationEvent& event) {
  GenerationEnd end = GenerationEnd::kStop;
  if (event.finish == FinishReason::kLength) end = GenerationEnd::kLength;
  if (!event.status.ok())
    end = event.status.code() == Code::kCancelled ? GenerationEnd::kCancelled : GenerationEnd::kError;
  generated_.ended[static_cast<size_t>(end)].fetch_add(1, std::memory_order_relaxed);
  g.times.output = g.times.finished = Clock::now();
  if (event.status.ok()) {
    generated_.whole.Add(g.times.finished - g.arrived);
    owner_.statistics().AddSuccess(g.times, g.arrived, 1);
  } else {
    owner_.statistics().AddFailure(
        g.times, g.arrived, end == GenerationEnd::kCancelled ? FailReason::kCancelled : FailReason::kOther);
  }
}

void GenerationEngine::Finish(Active& active, GenerationEvent event) {
  event.generated = active.generated;
  Count(*active.generation, event);
  active.generation->sink->OnEvent(std::move(event));
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

void GenerationEngine::FinishWaiting(const std::shared_ptr<Generation>& generation, Status status) {
  GenerationEvent event;
  event.status = std::move(status);
  Count(*generation, event);
  generation->sink->OnEvent(std::move(event));
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

// Ends sequences that were cancelled, or whose deadline passed, before they ran.
void GenerationEngine::DropWaiting(Clock::time_point now) {
  Generations cancelled, late;
  {
    const std::lock_guard lock(mutex_);
    for (GenerationGroup& group : groups_)
      std::erase_if(group.waiting, [&](const std::shared_ptr<Generation>& g) {
        const bool stop = g->cancelled.load(std::memory_order_relaxed);
        if (!stop && g->options.deadline > now) return false;
        (stop ? cancelled : late).push_back(g);
        --waiting_;
        return true;
      });
    std::erase_if(groups_, [](const GenerationGroup& group) { return group.waiting.empty(); });
  }
  for (const auto& g : cancelled) FinishWaiting(g, Cancelled());
  for (const auto& g : late) FinishWaiting(g, Late());
}

bool GenerationEngine::Dropped(Active& active, Clock::time_point now) {
  const bool cancelled = active.generation->cancelled.load(std::memory_order_relaxed);
  if (!cancelled && active.generation->options.deadline > now) return false;
  GenerationEvent event;
  event.status = cancelled ? Cancelled() : Late();
  Finish(active, std::move(event));
  return true;
}

void GenerationEngine::DropRunning(Clock::time_point now) {
  if (reading_ && Dropped(*reading_, now)) reading_.reset(), prompt_.Clear();
  for (size_t row = 0; row < slots_.size(); ++row)
    if (slots_[row] && Dropped(*slots_[row], now)) FreeRow(row, false);
  std::erase_if(alone_, [&](const ActivePtr& active) { return Dropped(*active, now); });
}

void GenerationEngine::FreeRow(size_t row, bool forget) {
  slots_[row].reset();
  static_cast<void>(batch_.ClearRow(static_cast<int64_t>(row), forget));
}

// Returns whether the rows of all running sequences and of this one fit into the cache.
bool GenerationEngine::FitsCache(const Generation& generation) const {
  int64_t count = 1, need = Need(generation);
  for (const ActivePtr& slot : slots_)
    if (slot) ++count, need = std::max(need, Need(*slot->generation));
  for (const ActivePtr& active : alone_) ++count, need = std::max(need, Need(*active->generation));
  int64_t rows = 1;
  while (rows < count) rows *= 2;
  rows = std::max(std::min(rows, limits_.running), count);
  return count == 1 || rows * CapacityOf(need) <= limits_.cache_tokens;
}

// Starts the next sequence, if there is a place for it. Requests take turns, so that a request with many
// sequences does not keep the others waiting.
void GenerationEngine::Admit() {
  const auto running = static_cast<int64_t>(
      static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const auto& s) { return !!s; })) +
      alone_.size());
  if (reading_ || running >= limits_.running) return;
  std::shared_ptr<Generation> next;
  {
    const std::lock_guard lock(mutex_);
    if (groups_.empty() || !FitsCache(*groups_.front().waiting.front())) return;
    GenerationGroup group = std::move(groups_.front());
    groups_.pop_front();
    next = std::move(group.waiting.front());
    group.waiting.pop_front();
    if (!group.waiting.empty()) groups_.push_back(std::move(group));
    --waiting_;
  }
  next->times.started = next->times.input = next->times.compute = Clock::now();
  generated_.queue.Add(next->times.started - next->arrived);
  reading_ = std::make_unique<Active>(std::move(next), tokenizer_);
  if (!model_->batches()) reading_->own = std::make_unique<RowBatch>(model_);
}

bool GenerationEngine::Step(int threads) {
  {
    const std::lock_guard lock(mutex_);
    stepping_ = true;
  }
  const auto step = [&]() -> Status {
    const Clock::time_point now = Clock::now();
    DropWaiting(now);
    DropRunning(now);
    Admit();
    if (reading_) ReadPrompt(threads);
    Decode(threads);
    CountMemory();
    return {};
  };
  const Status status = Guard(step);
  std::unique_lock lock(mutex_);
  if (!status.ok() && !failed_) failed_ = status;
  EndStep(lock);
  return unfinished_ > 0;
}

// Called under the lock. Carries out a Fail that was called during the step.
void GenerationEngine::EndStep(std::unique_lock<std::mutex>& lock) {
  while (failed_) {
    const Status status = *std::exchange(failed_, std::nullopt);
    Generations waiting;
    for (GenerationGroup& group : groups_)
      waiting.insert(waiting.end(), group.waiting.begin(), group.waiting.end());
    groups_.clear();
    waiting_ = 0;
    lock.unlock();
    for (const auto& generation : waiting) FinishWaiting(generation, status);
    FailRunning(status);
    lock.lock();
  }
  stepping_ = false;
}

void GenerationEngine::FailRunning(const Status& status) {
  const auto fail = [&](ActivePtr active) {
    GenerationEvent event;
    event.status = status;
    if (active) Finish(*active, std::move(event));
  };
  fail(std::move(reading_));
  for (ActivePtr& slot : slots_) fail(std::move(slot));
  for (ActivePtr& active : std::exchange(alone_, {})) fail(std::move(active));
  slots_.clear();
  prompt_.Clear();
  batch_.Clear();
  CountMemory();
}

void GenerationEngine::Fail(const Status& status) {
  std::unique_lock lock(mutex_);
  failed_ = status;
  if (stepping_) return;
  stepping_ = true;
  EndStep(lock);
}

void GenerationEngine::CountMemory() {
  size_t bytes = prompt_.bytes() + batch_.bytes();
  int64_t positions = batch_.rows() * batch_.length();
  for (const ActivePtr& active : alone_) {
    bytes += active->own->bytes();
    positions += active->own->length();
  }
  cache_bytes_.store(bytes, std::memory_order_relaxed);
  cache_positions_.store(positions, std::memory_order_relaxed);
  int64_t running = reading_ ? 1 : 0;
  for (const ActivePtr& slot : slots_) running += slot ? 1 : 0;
  running_.store(running + static_cast<int64_t>(alone_.size()), std::memory_order_relaxed);
}

}  // namespace tern::server
