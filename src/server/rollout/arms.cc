#include "server/rollout/arms.h"

#include <algorithm>

namespace tern::server {

// Sees the answer to one request.
class LiveObserver final : public ResponseObserver {
 public:
  LiveObserver(std::shared_ptr<const TrialParts> parts, bool candidate)
      : parts_(std::move(parts)), candidate_(candidate), began_(Clock::now()) {}

  void SetCopy(std::unique_ptr<MirrorJob> job) { job_ = std::move(job); }

  void OnResponse(const Call& call, const Response& response) override {
    if (job_ && (!response.outputs.empty() || !response.text.empty())) job_->expected = response;
    if (!response.final) return;
    const Outcome outcome = OutcomeOf(call.times, EndingOf(response.status, false));
    Count(outcome, response.status.message());
    if (!job_ || outcome.ending == Ending::kIgnored) return;
    if (!response.status.ok()) job_->expected = response;
    job_->stable = outcome;
    for (const WireTensor& output : job_->expected.outputs) job_->bytes += output.bytes.size();
    parts_->mirror->Offer(std::move(job_));
  }

  // Counts the request as failed if it began before `limit` and is not counted yet.
  void CountHang(Clock::time_point limit) {
    if (began_ < limit) Count({Ending::kFailed, {}, 0}, "no answer in time");
  }
  bool counted() const { return counted_.load(std::memory_order_acquire); }

 private:
  void Count(const Outcome& outcome, const std::string& error) {
    if (counted_.exchange(true, std::memory_order_acq_rel)) return;
    VersionCounters& counters = candidate_ ? *parts_->candidate_counters : *parts_->stable_counters;
    counters.live.fetch_add(1, std::memory_order_relaxed);
    if (outcome.ending == Ending::kFailed) counters.errors.fetch_add(1, std::memory_order_relaxed);
    parts_->trial->OnLive(candidate_, outcome, error);
  }

  const std::shared_ptr<const TrialParts> parts_;
  const bool candidate_;
  const Clock::time_point began_;
  std::atomic<bool> counted_{false};
  std::unique_ptr<MirrorJob> job_;
};

void LiveCalls::Add(const std::shared_ptr<LiveObserver>& observer) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(observer);
}

void LiveCalls::Sweep(Clock::time_point limit) {
  std::vector<std::shared_ptr<LiveObserver>> open;
  {
    const std::lock_guard lock(mutex_);
    calls_.remove_if([&](const std::weak_ptr<LiveObserver>& weak) {
      const auto observer = weak.lock();
      if (observer && !observer->counted()) open.push_back(observer);
      return !observer || observer->counted();
    });
  }
  for (const auto& observer : open) observer->CountHang(limit);
}

namespace {

// Returns a copy that outlives the request, or null if the request belongs to a sequence or does not own its
// bytes.
std::unique_ptr<MirrorJob> CopyOf(const Request& request) {
  if (!request.sequence.id.empty()) return nullptr;
  auto job = std::make_unique<MirrorJob>();
  for (const WireTensor& input : request.inputs) {
    if (input.bytes.size() > 0 && !input.bytes.owned()) return nullptr;
    job->bytes += input.bytes.size();
  }
  job->request = request;
  job->request.trace = {};
  job->request.timeout = {};
  return job;
}

// One of the two versions. Its name, configuration and statistics are those of the version.
class Arm final : public ModelVersion {
 public:
  Arm(std::shared_ptr<const TrialParts> parts, std::shared_ptr<LiveCalls> live, bool candidate)
      : ModelVersion(Own(*parts, candidate)->config(), Own(*parts, candidate)->version()),
        parts_(std::move(parts)),
        live_(std::move(live)),
        candidate_(candidate),
        own_(Own(*parts_, candidate)) {
    ShareStatistics(*own_);
    SetLoadTime(own_->load_time());
  }

  void Submit(std::shared_ptr<Call> call) override {
    const auto observer = std::make_shared<LiveObserver>(parts_, candidate_);
    bool control = false;
    if (!candidate_ && parts_->mirror && parts_->mirror->Wants(Clock::now(), control))
      if (auto job = CopyOf(call->request)) {
        job->control = control;
        observer->SetCopy(std::move(job));
      }
    call->observer = observer;
    if (candidate_) live_->Add(observer);
    own_->Submit(std::move(call));
  }
  bool RefuseIfOverloaded(Call& call) override { return own_->RefuseIfOverloaded(call); }
  std::shared_ptr<ModelVersion> behind() const override { return own_; }
  const std::vector<Signature>* signatures() const override { return own_->signatures(); }
  bool Ready() const override { return own_->Ready(); }
  std::shared_ptr<const ModelProcess> process() const override { return own_->process(); }
  uint64_t Hangs() const override { return own_->Hangs(); }
  TextGenerator* generator() override { return own_->generator(); }
  size_t MemoryBytes() const override { return own_->MemoryBytes(); }
  size_t Pending() const override { return own_->Pending(); }
  std::vector<std::pair<std::string, double>> Metrics() const override { return own_->Metrics(); }

 private:
  static const std::shared_ptr<ModelVersion>& Own(const TrialParts& parts, bool candidate) {
    return candidate ? parts.candidate : parts.stable;
  }
  const std::shared_ptr<const TrialParts> parts_;
  const std::shared_ptr<LiveCalls> live_;
  const bool candidate_;
  const std::shared_ptr<ModelVersion> own_;
};

// Gives each request to one of the arms. All other functions return what the stable version returns.
class Splitter final : public ModelVersion {
 public:
  Splitter(std::shared_ptr<Trial> trial, std::shared_ptr<Arm> stable, std::shared_ptr<Arm> candidate)
      : ModelVersion(stable->config(), stable->version()),
        trial_(std::move(trial)),
        stable_(std::move(stable)),
        candidate_(std::move(candidate)) {
    ShareStatistics(*stable_);
    SetLoadTime(stable_->load_time());
  }

  std::shared_ptr<ModelVersion> Choose(const Request& request) override {
    return trial_->PicksCandidate(request) ? candidate_ : stable_;
  }
  void Submit(std::shared_ptr<Call> call) override {
    const auto chosen = Choose(call->request);
    chosen->Submit(std::move(call));
  }
  bool RefuseIfOverloaded(Call& call) override { return stable_->RefuseIfOverloaded(call); }
  std::shared_ptr<ModelVersion> behind() const override { return stable_->behind(); }
  const std::vector<Signature>* signatures() const override { return stable_->signatures(); }
  bool Ready() const override { return stable_->Ready(); }
  std::shared_ptr<const ModelProcess> process() const override { return stable_->process(); }
  uint64_t Hangs() const override { return stable_->Hangs(); }
  TextGenerator* generator() override { return stable_->generator(); }
  size_t MemoryBytes() const override { return stable_->MemoryBytes(); }
  size_t Pending() const override { return stable_->Pending(); }
  std::vector<std::pair<std::string, double>> Metrics() const override { return stable_->Metrics(); }

 private:
  const std::shared_ptr<Trial> trial_;
  const std::shared_ptr<ModelVersion> stable_, candidate_;
};

}  // namespace

Arms MakeArms(TrialParts parts) {
  const auto trial = parts.trial;
  const auto shared = std::make_shared<const TrialParts>(std::move(parts));
  Arms arms;
  arms.live = std::make_shared<LiveCalls>();
  const auto stable = std::make_shared<Arm>(shared, arms.live, false);
  arms.stable = stable;
  arms.splitter = std::make_shared<Splitter>(trial, stable, std::make_shared<Arm>(shared, arms.live, true));
  return arms;
}

}  // namespace tern::server
