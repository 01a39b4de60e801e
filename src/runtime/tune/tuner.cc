#include "runtime/tune/tuner.h"

#include <algorithm>
#include <filesystem>

#include "ir/graph_hash.h"
#include "kernel_api/target.h"
#include "runtime/tune/node_timer.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
// Another kernel is preferred to the kernel with the lowest estimate only if its measured time is at most
// this fraction of that kernel's measured time.
constexpr double kMargin = 0.95;
// NodeTimer::Measure stops early for kernels slower than this multiple of the best time so far.
constexpr double kCutoff = 1.5;
constexpr double kRuns = 4;                // minimum runs of a candidate, including the warm-up
constexpr std::chrono::seconds kRetry{1};  // delay before a failed write is retried

std::string TextOf(const TensorInfo& t) {
  return t.dtype == DType::kInvalid ? "_" : StrCat(DTypeName(t.dtype), "[", Join(t.dims, ","), "]");
}

// Returns whether kernels for this query may be chosen by their measured times. A user who requests bf16 on a
// processor without bf16 instructions wants bf16 results, not speed. So measurements must not replace bf16
// kernels by f32 kernels.
bool MayTune(const KernelQuery& q, bool fast_bf16) { return !q.bf16 || fast_bf16; }

// Sorts by measured time. On entry, times[0] is the kernel with the lowest estimate. It stays first unless
// another kernel takes at most kMargin times as long.
void PutBestFirst(std::vector<Measured>& times) {
  const Measured estimated_best = times[0];
  std::stable_sort(times.begin(), times.end(),
                   [](const Measured& a, const Measured& b) { return a.microseconds < b.microseconds; });
  if (times[0].microseconds <= kMargin * estimated_best.microseconds) return;
  const auto at = std::find_if(times.begin(), times.end(),
                               [&](const Measured& m) { return m.kernel == estimated_best.kernel; });
  std::rotate(times.begin(), at, at + 1);
}

}  // namespace

const char* TextOf(Reason reason) {
  constexpr const char* kTexts[] = {"the only legal kernel",
                                    "least estimated time",
                                    "least measured time",
                                    "least measured time, from the record",
                                    "best of the kernels with the node's pack layout",
                                    "least estimated time, within 5 % of the least measured"};
  return kTexts[static_cast<int>(reason)];
}

std::string NodeKey(const KernelQuery& q, int threads) {
  std::string key = q.op().name + "{";
  for (const auto& entry : q.attrs().List())
    key += StrCat(key.back() == '{' ? "" : ",", entry.name, "=", AttrToText(entry.value));
  key += "}";
  for (const Graph* sub : q.subgraphs) key += StrCat("[", HashOf(*sub), "]");
  for (int i = 0; i < q.InputCount(); ++i)
    key += StrCat(" ", TextOf(q.inputs[static_cast<size_t>(i)]), q.IsWeight(i) ? "!" : q.Known(i) ? "?" : "");
  key += " ->";
  for (const TensorInfo& out : q.outputs) key += " " + TextOf(out);
  return key + StrCat(" threads=", threads,
                      q.bf16        ? " bf16"
                      : q.fast_math ? " fast"
                                    : "",
                      q.exact_integers ? " exact_integers" : "");
}

struct Tuner::Job {
  std::string key;
  const KernelQuery* query = nullptr;
  Candidates candidates, legal;  // sorted by estimated time
  int64_t count = 1;             // number of nodes with this key
  double estimated_us() const { return candidates[0].first; }
};

// Adds the time between its construction and its destruction to spent_us_.
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
  const bool has_folder = options.cache_dir && !options.cache_dir->empty();
  if (options.reference || (options.tune_ms == 0 && !has_folder)) return nullptr;
  return std::make_shared<Tuner>(options);
}

Tuner::Tuner(const SessionOptions& options)
    : budget_ms_(options.tune_ms),
      within_(options.tune_within),
      store_(!options.cache_dir || !options.cache_dir->empty()),
      fast_bf16_(options.TargetOrDefault().fast_bf16()),
      key_(RecordKeyFor(options.TargetOrDefault().isa())) {
  const std::string folder = options.cache_dir.value_or(DefaultCacheDir());
  path_ = RecordPath(folder, key_);
  if (path_.empty()) return;
  std::error_code ignored;
  if (budget_ms_ == 0 && !std::filesystem::exists(folder, ignored)) {
    read_ =
        NotFound("there is no folder '", folder, "'; it is created only if there is a budget for measuring");
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
    Write(kLockTimeout);
    return {};
  });
  static_cast<void>(ignored);
}

std::vector<Tuner::Job> Tuner::JobsFor(const std::vector<KernelQuery>& queries, const Target& target,
                                       int threads) const {
  std::vector<Job> jobs;
  std::map<std::string, size_t> index;
  for (const KernelQuery& query : queries) {
    if (!MayTune(query, fast_bf16_)) continue;
    Job job;
    job.query = &query;
    for (const KernelEntry* entry : target.KernelsOf(query.op().name))  // only host kernels can be measured
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

// Returns whether the times of all candidates are known and the best kernel is legal. A record of another
// session may lack kernels that are candidates now. Its best kernel may no longer exist.
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

// Returns the times of the candidates in their order. Stops at the first candidate that cannot be measured.
std::vector<Measured> Tuner::TimesOf(const Job& job, const Workers& workers, const Limits& limits,
                                     Clock::time_point deadline) {
  NodeTimer timer(*job.query, workers, {deadline, limits.memory, limits.weights, limits.stop});
  std::vector<Measured> times;
  double best = 0;
  for (const auto& [estimate, entry] : job.candidates) {
    const std::optional<double> taken = timer.Measure(*entry, best > 0 ? best * kCutoff : 1e18);
    if (!taken) break;
    best = best > 0 ? std::min(best, *taken) : *taken;
    times.push_back({entry->name, *taken});
  }
  return times;
}

// Stores the times only if all candidates were measured, because later sessions choose between all
// candidates.
bool Tuner::Measure(const Job& job, const Workers& workers, const Limits& limits) {
  double min_us = 0;
  for (const auto& [estimate, entry] : job.candidates) min_us += estimate * kRuns / workers.threads();
  const double left = LeftMicroseconds();
  if (min_us > left) return false;
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
  // Writing could delay the stop, so a later call or the destructor writes.
  if (!limits.stop.Check().ok()) return;
  if (measured)
    Write(kLockTimeout);
  else if (MayRetry())
    Write(std::chrono::milliseconds(0));
}

// Returns whether a failed write may be retried now. Retries are limited to one per kRetry, because a model
// whose shapes change in every run calls Tune in every run.
bool Tuner::MayRetry() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !unwritten_.empty() && Clock::now() >= retry_;
}

bool Tuner::MeasureMissing(const std::vector<KernelQuery>& queries, const Target& target,
                           const Workers& workers, const Limits& limits) {
  if (LeftMicroseconds() <= 0) return false;
  const std::vector<Job> jobs = JobsFor(queries, target, workers.threads());
  if (jobs.empty()) return false;
  // Only one session measures at a time, because two would slow each other down. If limits.stop ends the
  // wait, this session measures nothing.
  const auto lock = measuring_.Acquire(limits.stop, "another session that measures kernels");
  if (!lock.ok()) return false;
  bool measured = false;
  for (const Job& job : jobs) {
    if (!limits.stop.Check().ok()) break;
    if (!Knows(job)) measured |= Measure(job, workers, limits);
  }
  return measured;
}

// Does not hold mutex_ while it writes, so that Find does not wait for the disk.
void Tuner::Write(std::chrono::milliseconds timeout) {
  Measurements taken;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (unwritten_.empty()) return;
    if (path_.empty()) {
      if (store_) written_ = NotFound("none of TERN_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
      return;
    }
    taken.swap(unwritten_);
  }
  Status written = Guard([&] { return AddToRecord(path_, taken, key_, timeout); });
  std::lock_guard<std::mutex> lock(mutex_);
  if (!written.ok()) unwritten_.merge(taken);  // keeps newer measurements of the same key
  written_ = std::move(written);
  retry_ = Clock::now() + kRetry;
}

Tuner::Found Tuner::Find(const KernelQuery& query, int threads) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (known_.empty() || !MayTune(query, fast_bf16_)) return {};
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
