#include "runtime/tune/tuner.h"

#include <algorithm>
#include <filesystem>

#include "kernel_api/target.h"
#include "runtime/tune/node_timer.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kMargin = 0.95;           // of the estimated best's time: what another must undercut
constexpr double kHopeless = 1.5;          // times the best so far
constexpr double kRuns = 4;                // of a candidate, at least
constexpr std::chrono::seconds kRetry{1};  // after what could not be written, with nothing new to add

std::string TextOf(const TensorInfo& t) {
  return t.dtype == DType::kInvalid ? "_" : StrCat(DTypeName(t.dtype), "[", Join(t.dims, ","), "]");
}

// Where bf16 is computed by rounding f32, it is asked for to get its results, not its speed.
bool MayExchange(const KernelQuery& q, bool fast_bf16) { return !q.bf16 || fast_bf16; }

// The one that is estimated to be the quickest comes first, and stays there unless another is by far quicker.
void PutBestFirst(std::vector<Measured>& times) {
  const Measured likely = times[0];
  std::stable_sort(times.begin(), times.end(),
                   [](const Measured& a, const Measured& b) { return a.microseconds < b.microseconds; });
  if (times[0].microseconds <= kMargin * likely.microseconds) return;
  const auto at =
      std::find_if(times.begin(), times.end(), [&](const Measured& m) { return m.kernel == likely.kernel; });
  std::rotate(times.begin(), at, at + 1);
}

}  // namespace

const char* TextOf(Reason reason) {
  constexpr const char* kTexts[] = {"the only legal one",
                                    "least estimated time",
                                    "least measured time",
                                    "least measured time, from the record",
                                    "best of those that pack weights for its representative dims",
                                    "least estimated time, within 5 % of the least measured"};
  return kTexts[static_cast<int>(reason)];
}

std::string NodeKey(const KernelQuery& q, int threads) {
  std::string key = q.op().name + "{";
  for (const auto& entry : q.attrs().List())
    key += StrCat(key.back() == '{' ? "" : ",", entry.name, "=", AttrToText(entry.value));
  key += "}";
  for (int i = 0; i < q.InputCount(); ++i)
    key += StrCat(" ", TextOf(q.inputs[static_cast<size_t>(i)]), q.IsWeight(i) ? "!" : q.Known(i) ? "?" : "");
  key += " ->";
  for (const TensorInfo& out : q.outputs) key += " " + TextOf(out);
  return key + StrCat(" threads=", threads, q.bf16 ? " bf16" : "", q.exact_integers ? " whole" : "");
}

struct Tuner::Job {
  std::string key;
  const KernelQuery* query = nullptr;
  Candidates candidates, legal;  // by estimated time
  int64_t count = 1;             // nodes that are alike
  double estimated_us() const { return candidates[0].first; }
};

// Adds the time that it lives, however its scope ends.
class Tuner::Spending {
 public:
  explicit Spending(Tuner& tuner) : tuner_(tuner) {}
  Spending(const Spending&) = delete;
  ~Spending() {
    const auto spent = std::chrono::duration<double, std::micro>(Clock::now() - start_);
    std::lock_guard<std::mutex> lock(tuner_.mutex_);
    tuner_.spent_us_ += spent.count();
  }

 private:
  Tuner& tuner_;
  const Clock::time_point start_ = Clock::now();
};

std::shared_ptr<Tuner> Tuner::For(const SessionOptions& options) {
  const bool asked = options.cache_dir && !options.cache_dir->empty();
  if (options.reference || (options.tune_ms == 0 && !asked)) return nullptr;
  return std::make_shared<Tuner>(options);
}

Tuner::Tuner(const SessionOptions& options)
    : budget_ms_(options.tune_ms),
      within_(options.tune_within),
      keep_(!options.cache_dir || !options.cache_dir->empty()),
      fast_bf16_(options.TargetOrDefault().fast_bf16()),
      key_(RecordKeyFor(options.TargetOrDefault().isa())) {
  const std::string folder = options.cache_dir.value_or(DefaultCacheDir());
  path_ = RecordPath(folder, key_);
  if (path_.empty()) return;
  std::error_code ignored;
  if (budget_ms_ == 0 && !std::filesystem::exists(folder, ignored)) {
    read_ = NotFound("there is no folder '", folder,
                     "', and one is made only where there is a budget for measuring");
    return;
  }
  auto record = ReadRecord(path_, key_);
  if (record.ok())
    known_ = std::move(*record);
  else
    read_ = record.TakeStatus();
}

Tuner::~Tuner() {
  const Status ignored = Guard([&]() -> Status {
    Write(kLockPatience);
    return {};
  });
  static_cast<void>(ignored);
}

std::vector<Tuner::Job> Tuner::JobsFor(const std::vector<KernelQuery>& queries, const Target& target,
                                       int threads) const {
  std::vector<Job> jobs;
  std::map<std::string, size_t> index;
  for (const KernelQuery& query : queries) {
    if (!MayExchange(query, fast_bf16_)) continue;
    Job job;
    job.query = &query;
    for (const KernelEntry* entry : target.KernelsOf(query.op().name))  // of the host: its threads measure
      if (!target.MemoryOf(*entry) && entry->legal(query))
        job.candidates.emplace_back(EstimatedMicroseconds(*entry, query), entry);
    std::stable_sort(job.candidates.begin(), job.candidates.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    job.legal = job.candidates;
    while (job.candidates.size() > 1 && job.candidates.back().first > within_ * job.estimated_us())
      job.candidates.pop_back();
    if (job.candidates.size() < 2) continue;
    job.key = NodeKey(query, threads);
    if (!Recordable(job.key) || Knows(job)) continue;
    const auto [it, added] = index.emplace(job.key, jobs.size());
    if (added)
      jobs.push_back(std::move(job));
    else
      ++jobs[it->second].count;
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return a.estimated_us() * static_cast<double>(a.count) > b.estimated_us() * static_cast<double>(b.count);
  });
  return jobs;
}

// A record may lack kernels that are candidates now, and its best may be a kernel that is no longer there.
bool Tuner::Knows(const Job& job) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = known_.find(job.key);
  if (it == known_.end()) return false;
  const std::vector<Measured>& times = it->second;
  const auto recorded = [&](const auto& candidate) {
    return std::any_of(times.begin(), times.end(),
                       [&](const Measured& m) { return m.kernel == candidate.second->name; });
  };
  return std::all_of(job.candidates.begin(), job.candidates.end(), recorded) &&
         std::any_of(job.legal.begin(), job.legal.end(),
                     [&](const auto& entry) { return entry.second->name == times[0].kernel; });
}

double Tuner::LeftMicroseconds() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<double>(budget_ms_) * 1e3 - spent_us_;
}

// The microseconds of all candidates, in their order; fewer where one of them could not be measured.
std::vector<Measured> Tuner::TimesOf(const Job& job, const Workers& workers, const Limits& limits,
                                     Clock::time_point deadline) {
  NodeTimer timer(*job.query, workers, {deadline, limits.memory, limits.weights, limits.stop});
  std::vector<Measured> times;
  double best = 0;
  for (const auto& [estimate, entry] : job.candidates) {
    const std::optional<double> taken = timer.Measure(*entry, best > 0 ? best * kHopeless : 1e18);
    if (!taken) break;
    best = best > 0 ? std::min(best, *taken) : *taken;
    times.push_back({entry->name, *taken});
  }
  return times;
}

// All candidates, or nothing is known: a record is about a choice that was made.
bool Tuner::Measure(const Job& job, const Workers& workers, const Limits& limits) {
  double least = 0;
  for (const auto& [estimate, entry] : job.candidates) least += estimate * kRuns / workers.threads();
  const double left = LeftMicroseconds();
  if (least > left) return false;
  std::vector<Measured> times;
  {
    const Spending spending(*this);
    const auto deadline = Clock::now() + std::chrono::microseconds(static_cast<int64_t>(left));
    times = TimesOf(job, workers, limits, deadline);
  }
  if (times.size() != job.candidates.size()) return false;
  PutBestFirst(times);
  std::lock_guard<std::mutex> lock(mutex_);
  unwritten_[job.key] = times;
  known_[job.key] = std::move(times);
  own_.insert(job.key);
  return true;
}

void Tuner::Tune(const std::vector<KernelQuery>& queries, const Target& target, const Workers& workers,
                 const Limits& limits) {
  const bool measured = MeasureMissing(queries, target, workers, limits);
  if (!limits.stop.Check().ok()) return;  // a disk may be slow: with a later plan, or at the end
  if (measured)
    Write(kLockPatience);
  else if (MayRetry())
    Write(std::chrono::milliseconds(0));
}

// A model whose shapes change in every run makes a plan in every run.
bool Tuner::MayRetry() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !unwritten_.empty() && Clock::now() >= retry_;
}

bool Tuner::MeasureMissing(const std::vector<KernelQuery>& queries, const Target& target,
                           const Workers& workers, const Limits& limits) {
  if (LeftMicroseconds() <= 0) return false;
  const std::vector<Job> jobs = JobsFor(queries, target, workers.threads());
  if (jobs.empty()) return false;
  // Two that measure at once would measure each other. Who may not wait for that has what is known by then.
  const auto lock = measuring_.Acquire(limits.stop, "another session that measures kernels");
  if (!lock.ok()) return false;
  bool measured = false;
  for (const Job& job : jobs) {
    if (!limits.stop.Check().ok()) break;
    if (!Knows(job)) measured |= Measure(job, workers, limits);
  }
  return measured;
}

// Nobody waits for the disk who asks what is known.
void Tuner::Write(std::chrono::milliseconds patience) {
  Measurements taken;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (unwritten_.empty()) return;
    if (path_.empty()) {
      if (keep_) written_ = NotFound("none of TERN_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder");
      return;
    }
    taken.swap(unwritten_);
  }
  Status written = Guard([&] { return AddToRecord(path_, taken, key_, patience); });
  std::lock_guard<std::mutex> lock(mutex_);
  if (!written.ok()) unwritten_.merge(taken);  // unless it was measured again
  written_ = std::move(written);
  retry_ = Clock::now() + kRetry;
}

Tuner::Found Tuner::Find(const KernelQuery& query, int threads) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (known_.empty() || !MayExchange(query, fast_bf16_)) return {};
  const std::string key = NodeKey(query, threads);
  const auto it = known_.find(key);
  if (it == known_.end()) return {};
  const bool recorded = own_.count(key) == 0;
  if (recorded) used_.insert(key);
  return {it->second, recorded};
}

TuneReport Tuner::Report() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {static_cast<int64_t>(own_.size()),
          static_cast<int64_t>(used_.size()),
          spent_us_ * 1e-3,
          path_,
          read_,
          written_};
}

}  // namespace tern
