#include "server/rollout/mirror.h"

#include <algorithm>

namespace tern::server {
namespace {

constexpr size_t kMaxRunning = 4;          // copies that are submitted and not answered
constexpr size_t kMaxWaitingCopies = 256;  // copies that are not submitted yet
// A copy waits at most for kMaxYield while clients' requests wait in the stable version's queue.
constexpr std::chrono::milliseconds kMaxYield{1000}, kYieldPoll{1};

uint64_t NextRandom(uint64_t& state) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1d;
}

// The lowest priority of the model, so that copies wait for clients' requests.
uint64_t LowestPriority(const ModelConfig& config) {
  return config.batching ? config.batching->priority_levels : 0;
}

}  // namespace

Ending EndingOf(const Status& status, bool copy) {
  switch (status.code()) {
    case Code::kOk:
      return Ending::kOk;
    case Code::kCancelled:
    case Code::kResourceExhausted:
      return Ending::kIgnored;
    case Code::kInvalidArgument:
      return copy ? Ending::kFailed : Ending::kIgnored;  // mostly the client's mistake
    default:
      return Ending::kFailed;
  }
}

Outcome OutcomeOf(const CallTimes& times, Ending ending) {
  return {ending,
          std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(times.finished - times.started)),
          times.batch};
}

bool CopyRate::Take(Clock::time_point now) {
  if (rate_ <= 0) return true;
  const double seconds = std::chrono::duration<double>(now - last_).count();
  if (last_ != Clock::time_point()) tokens_ += std::max(0.0, seconds) * rate_;
  last_ = now;
  tokens_ = std::min(tokens_, std::max(1.0, rate_ / 10));
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

// A copy while a version runs it.
class RequestMirror::CopyCall final : public Call {
 public:
  CopyCall(std::shared_ptr<RequestMirror> mirror, std::unique_ptr<MirrorJob> job, bool control)
      : job_(std::move(job)), control_(control), mirror_(std::move(mirror)) {
    request = job_->request;
    request.copy = true;
    request.arrived = started_ = Clock::now();
  }
  // Returns the job to the first caller, which must finish it.
  std::unique_ptr<MirrorJob> TakeJob() {
    const std::lock_guard lock(mutex_);
    return std::move(job_);
  }
  bool control() const { return control_; }
  Clock::time_point started() const { return started_; }

 private:
  void OnResponse(Response response) override {
    const bool last = response.final;
    if (!response.outputs.empty() || !response.text.empty()) answer_ = response;
    if (!last) return;
    if (!response.status.ok()) answer_ = std::move(response);
    mirror_->OnAnswer(*this, std::move(answer_));
  }
  std::mutex mutex_;
  std::unique_ptr<MirrorJob> job_;
  const bool control_;
  Clock::time_point started_;
  Response answer_;
  const std::shared_ptr<RequestMirror> mirror_;
};

RequestMirror::RequestMirror(const RolloutPolicy& policy, std::shared_ptr<ModelVersion> stable,
                             std::shared_ptr<ModelVersion> candidate,
                             std::shared_ptr<VersionCounters> counters, Done done)
    : policy_(policy),
      tolerance_{policy.compare, policy.absolute_tolerance, policy.relative_tolerance},
      stable_(std::move(stable)),
      candidate_(std::move(candidate)),
      counters_(std::move(counters)),
      done_(std::move(done)),
      copies_(policy.mirror_per_second),
      controls_(policy.control_per_second),
      random_(static_cast<uint64_t>(Clock::now().time_since_epoch().count()) | 1) {}

RequestMirror::~RequestMirror() { TERN_CHECK(!thread_.joinable(), "Stop was not called"); }

bool RequestMirror::Wants(Clock::time_point now, bool& control) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  share_ += policy_.mirror / 100;
  if (share_ < 1) return false;
  share_ -= 1;
  if (!copies_.Take(now)) return false;
  control = policy_.control_per_second > 0 && controls_.Take(now);
  return true;
}

void RequestMirror::Offer(std::unique_ptr<MirrorJob> job) {
  const std::lock_guard lock(mutex_);
  const bool full = waiting_.size() >= kMaxWaitingCopies ||
                    bytes_ + job->bytes > static_cast<uint64_t>(policy_.mirror_bytes);
  if (stopped_ || full) {
    counters_->dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  job->control_first = job->control && NextRandom(random_) % 2 == 0;
  bytes_ += job->bytes;
  waiting_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_all();
}

// Waits until the queue of the stable version is empty, but at most for kMaxYield, so that clients' requests
// go first.
void RequestMirror::Yield(std::unique_lock<std::mutex>& lock) {
  const auto end = Clock::now() + kMaxYield;
  while (!stopped_ && Clock::now() < end) {
    lock.unlock();
    const bool idle = stable_->Pending() == 0;
    lock.lock();
    if (idle) return;
    changed_.wait_for(lock, kYieldPoll, [&] { return stopped_; });
  }
}

void RequestMirror::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || (!waiting_.empty() && running_.size() < kMaxRunning); });
    if (!stopped_) Yield(lock);
    if (stopped_) return;
    std::unique_ptr<MirrorJob> job = std::move(waiting_.front());
    waiting_.pop_front();
    const bool control = job->NextIsControl();
    const auto call = std::make_shared<CopyCall>(shared_from_this(), std::move(job), control);
    running_.push_back(call);
    lock.unlock();
    const auto& version = control ? stable_ : candidate_;
    call->request.priority = LowestPriority(version->config());
    version->Submit(call);
    lock.lock();
  }
}

// Runs on the thread that executed the model. The comparison runs there too: it reads each tensor once.
void RequestMirror::OnAnswer(CopyCall& call, Response response) {
  std::unique_ptr<MirrorJob> job = call.TakeJob();
  if (!job) return;  // it took too long, or the mirror has stopped
  const Outcome outcome = OutcomeOf(call.times, EndingOf(response.status, true));
  bool more = ++job->runs < job->WantedRuns();
  if (call.control()) {
    job->result.control = outcome;
    counters_->control.fetch_add(1, std::memory_order_relaxed);
  } else {
    counters_->mirrored.fetch_add(1, std::memory_order_relaxed);
    if (job->runs % 2 == 1) {
      job->result.candidate = outcome;
      Judge(*job, response);
    } else if (outcome.ending == Ending::kOk) {
      job->result.candidate = outcome;
    }
    if (outcome.ending != Ending::kOk) {  // no duration to compare
      job->result.control.reset();
      more = false;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(running_, [&](const auto& other) { return other.get() == &call; });
    if (stopped_) return;
    if (more)
      waiting_.push_front(std::move(job));  // its other runs are next, so that all runs see the same load
    else
      bytes_ -= job->bytes;
    changed_.notify_all();
  }
  if (job) Finish(std::move(job));
}

void RequestMirror::Judge(MirrorJob& job, const Response& answer) const {
  job.error = answer.status.message();
  const bool classes = std::any_of(job.request.outputs.begin(), job.request.outputs.end(),
                                   [](const RequestedOutput& o) { return o.classification > 0; });
  if (answer.status.ok() && job.expected.status.ok() && policy_.max_disagreement &&
      (!classes || policy_.compare == CompareMode::kValues))
    job.result.differ = CompareOutputs(job.expected, answer, tolerance_);
}

void RequestMirror::Finish(std::unique_ptr<MirrorJob> job) {
  job->result.stable = job->stable;
  if (job->result.candidate.ending == Ending::kFailed)
    counters_->errors.fetch_add(1, std::memory_order_relaxed);
  if (job->result.differ && !job->result.differ->empty())
    counters_->differ.fetch_add(1, std::memory_order_relaxed);
  done_(job->result, job->error);
}

void RequestMirror::Sweep(Clock::time_point now) {
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(policy_.hang_seconds));
  std::vector<std::shared_ptr<CopyCall>> late;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& call : running_)
      if (now - call->started() > limit) late.push_back(call);
    std::erase_if(running_, [&](const auto& call) { return now - call->started() > limit; });
    changed_.notify_all();
  }
  for (const auto& call : late) {
    std::unique_ptr<MirrorJob> job = call->TakeJob();
    call->Cancel();
    if (!job) continue;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      bytes_ -= job->bytes;
    }
    if (call->control()) continue;  // the stable version is slow, which says nothing about the candidate
    job->result.candidate.ending = Ending::kFailed;
    job->result.hung = true;
    job->result.control.reset();
    job->error = StrCat("no answer within ", policy_.hang_seconds, " s");
    Finish(std::move(job));
  }
}

void RequestMirror::Stop() {
  std::list<std::shared_ptr<CopyCall>> running;
  std::list<std::unique_ptr<MirrorJob>> waiting;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    running.swap(running_);
    waiting.swap(waiting_);
    bytes_ = 0;
    changed_.notify_all();
  }
  for (const auto& call : running) {
    (void)call->TakeJob();
    call->Cancel();
  }
  if (thread_.joinable()) thread_.join();
}

uint64_t RequestMirror::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tern::server
