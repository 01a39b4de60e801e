// Chooses kernels by measuring them, within a budget of time, and remembers what it found.
#pragma once
#include <map>
#include <mutex>
#include <set>

#include "base/keyed_mutex.h"
#include "base/stop.h"
#include "runtime/options.h"
#include "runtime/tune/choice.h"
#include "runtime/tune/record.h"

namespace tern {

struct TuneReport {
  int64_t measured = 0, recorded = 0;  // kinds of nodes: by this session, or found in the record
  double milliseconds = 0;             // spent
  std::string record;                  // the file; empty: none
  Status read, written;                // why it could not be read, or written
};

// What has to be told apart: op, attributes, types, dims, which operands are weights, threads, precision.
std::string NodeKey(const KernelQuery& query, int threads);

// One per model, for all its sessions: one of them measures at a time, while others may ask what is known.
class Tuner {
 public:
  // Null where nothing may be measured and no record was asked for.
  static std::shared_ptr<Tuner> For(const SessionOptions& options);
  explicit Tuner(const SessionOptions& options);
  Tuner(const Tuner&) = delete;
  ~Tuner();  // writes what could not be written so far, if it can be now

  struct Limits {
    size_t memory = 0;   // for one node's operands and scratch memory
    size_t weights = 0;  // bytes of the model's
    Stop stop;
  };
  // Measures what is not known yet: those first that are estimated to take the most time, nodes that are
  // alike once. Ends when the budget is spent, or the stop says so: as soon as the one packing or run of one
  // kernel ends that is under way, and without waiting for others that measure. Then writes what the record
  // lacks, also of earlier calls; with nothing new, tries that once a second, and waits for nobody; after a
  // stop, leaves it for later.
  void Tune(const std::vector<KernelQuery>& queries, const Target& target, const Workers& workers,
            const Limits& limits);

  // What was measured, best first, and whether it was read from the record; empty where nothing was.
  struct Found {
    std::vector<Measured> times;
    bool recorded = false;
  };
  Found Find(const KernelQuery& query, int threads) const;
  TuneReport Report() const;

 private:
  struct Job;
  class Spending;
  using Candidates = std::vector<std::pair<double, const KernelEntry*>>;  // with estimates
  std::vector<Job> JobsFor(const std::vector<KernelQuery>& queries, const Target& target, int threads) const;
  static std::vector<Measured> TimesOf(const Job& job, const Workers& workers, const Limits& limits,
                                       std::chrono::steady_clock::time_point deadline);
  // Whether anything was measured, or this job.
  bool MeasureMissing(const std::vector<KernelQuery>& queries, const Target& target, const Workers& workers,
                      const Limits& limits);
  bool Measure(const Job& job, const Workers& workers, const Limits& limits);
  bool Knows(const Job& job) const;
  double LeftMicroseconds() const;
  bool MayRetry() const;
  void Write(std::chrono::milliseconds patience);

  const int64_t budget_ms_;  // for all measurements of a session and its clones; 0: only what is recorded
  const double within_;      // candidates are kernels whose estimate is at most so many times the least
  const bool keep_;          // measurements are to be kept on disk
  const bool fast_bf16_;     // the target's
  const RecordKey key_;
  std::string path_;
  CancellableMutex measuring_;

  mutable std::mutex mutex_;  // for what follows; never held for long
  Measurements known_;
  std::set<std::string> own_;           // of known_: measured here
  mutable std::set<std::string> used_;  // of known_: read from the record and asked for
  double spent_us_ = 0;
  Measurements unwritten_;  // measured here, and not in the record yet
  std::chrono::steady_clock::time_point retry_{};
  Status read_, written_;
};

}  // namespace tern
