// Chooses kernels by measuring them within a time budget, and records the measurements.
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
  int64_t measured = 0;     // distinct NodeKeys that the model's sessions measured
  int64_t recorded = 0;     // distinct NodeKeys that the sessions read from the record
  double milliseconds = 0;  // spent on measuring
  std::string record;       // path of the record; empty if there is none
  Status read, written;     // errors of reading and writing the record
};

// Returns the key of a measurement. It contains the op, its attributes, a hash of the subgraphs, and the
// types and dims of operands and results. It also says which operands are weights, which others are known
// when the plan is built, and whether sums of integers must be exact. It contains the number of threads and
// the precision.
std::string NodeKey(const KernelQuery& query, int threads);

// A model has one tuner, which its sessions share. Thread-safe. One session measures at a time. Find and
// Report do not wait for the session that measures.
class Tuner {
 public:
  // Returns null if the options have neither a time budget nor a cache folder, or if they select the
  // reference evaluator.
  static std::shared_ptr<Tuner> For(const SessionOptions& options);
  explicit Tuner(const SessionOptions& options);
  Tuner(const Tuner&) = delete;
  ~Tuner();  // tries to write measurements that could not be written before

  struct Limits {
    size_t memory = 0;   // bytes for the operands and scratch memory of one node
    size_t weights = 0;  // bytes of the model's weights
    Stop stop;
  };
  // Measures the kernels of queries that have no measurements yet. Starts with the largest estimated times.
  // Queries with equal keys are measured once. Waits while another session measures. Stops when the budget is
  // spent or limits.stop fires, but does not interrupt a Prepare or Run of a kernel. Afterwards, Tune writes
  // all unwritten measurements to the record. If it measured nothing, it retries a failed write at most once
  // a second and does not wait for the file's lock. If limits.stop fired, Tune does not write, but a later
  // call does.
  void Tune(const std::vector<KernelQuery>& queries, const Target& target, const Workers& workers,
            const Limits& limits);

  // The measurements of a query. times[0] is the kernel to use. `times` is empty if there are no
  // measurements.
  struct Found {
    std::vector<Measured> times;
    bool recorded = false;  // read from the record
  };
  Found Find(const KernelQuery& query, int threads) const;
  TuneReport Report() const;

 private:
  struct Job;
  class Spending;
  using Candidates = std::vector<std::pair<double, const KernelEntry*>>;  // with estimated microseconds
  std::vector<Job> JobsFor(const std::vector<KernelQuery>& queries, const Target& target, int threads) const;
  static std::vector<Measured> TimesOf(const Job& job, const Workers& workers, const Limits& limits,
                                       std::chrono::steady_clock::time_point deadline);
  // MeasureMissing and Measure return whether they measured a query.
  bool MeasureMissing(const std::vector<KernelQuery>& queries, const Target& target, const Workers& workers,
                      const Limits& limits);
  bool Measure(const Job& job, const Workers& workers, const Limits& limits);
  bool Knows(const Job& job) const;
  double LeftMicroseconds() const;
  bool MayRetry() const;
  void Write(std::chrono::milliseconds timeout);

  const int64_t budget_ms_;  // for a session and its clones together; if 0, nothing is measured
  const double within_;      // candidates are kernels whose estimate is at most this multiple of the lowest
  const bool store_;         // whether measurements are stored on disk
  const bool fast_bf16_;     // Target::fast_bf16()
  const RecordKey key_;
  std::string path_;
  CancellableMutex measuring_;

  mutable std::mutex mutex_;  // guards the members below; never held while measuring or writing
  Measurements known_;
  std::set<std::string> own_;           // keys of known_ that were measured here
  mutable std::set<std::string> used_;  // keys of known_ that were read from the record and found by Find
  double spent_us_ = 0;
  Measurements unwritten_;  // measured here and not in the record yet
  std::chrono::steady_clock::time_point retry_{};
  Status read_, written_;
};

}  // namespace tern
