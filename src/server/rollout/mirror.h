// Sends copies of the stable version's requests to a candidate, after the stable version has answered them,
// and compares the answers. A client never waits for a copy: if the candidate cannot keep up, copies are
// dropped.
#pragma once
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "server/core/model_version.h"
#include "server/rollout/compare.h"
#include "server/rollout/trial.h"

namespace tern::server {

// A copy of a request that the stable version has answered.
struct MirrorJob {
  Request request;
  Response expected;  // final; outputs are shared with the response that the client gets
  Outcome stable;
  bool control = false;        // the stable version runs the copy, too
  bool control_first = false;  // chosen at random, so that the order favours no version
  uint64_t bytes = 0;          // of all tensors
  int runs = 0;                // finished runs
  // With a control, each version runs the copy twice in succession. The first run counts as the answer. The
  // second one is timed, because the first one fills the processor's caches: clients' requests keep the
  // weights of the stable version there, but not those of the candidate.
  int WantedRuns() const { return control ? 4 : 1; }
  // Returns whether the next run is the control's.
  bool NextIsControl() const { return control && control_first == (runs < 2); }
  MirrorResult result;
  std::string error;
};

// Returns how a call ended. Cancelled calls and refusals because of overload are ignored. kInvalidArgument is
// ignored for a client's request, and is a failure of a copy, because the stable version did not refuse its
// request.
Ending EndingOf(const Status& status, bool copy);
// Returns the outcome of a finished call. Its duration is without the time in the queue.
Outcome OutcomeOf(const CallTimes& times, Ending ending);

// At most `rate` grants per second, with bursts of a tenth of a second. A rate of 0 means no limit.
class CopyRate {
 public:
  explicit CopyRate(double rate) : rate_(rate) {}
  bool Take(Clock::time_point now);

 private:
  const double rate_;
  double tokens_ = 1;
  Clock::time_point last_;
};

// Thread-safe. Stop must be called before the last reference goes.
class RequestMirror : public std::enable_shared_from_this<RequestMirror> {
 public:
  using Done = std::function<void(const MirrorResult&, const std::string& error)>;
  RequestMirror(const RolloutPolicy& policy, std::shared_ptr<ModelVersion> stable,
                std::shared_ptr<ModelVersion> candidate, std::shared_ptr<VersionCounters> counters,
                Done done);
  ~RequestMirror();

  // Returns whether the next request of the stable version is copied. If so, sets whether the copy has a
  // control.
  bool Wants(Clock::time_point now, bool& control);
  void Offer(std::unique_ptr<MirrorJob> job);
  // Cancels copies that run for longer than hang_seconds. If the candidate's run takes so long, it counts as
  // failed. If the control's run takes so long, the copy is dropped.
  void Sweep(Clock::time_point now);
  // Drops copies that wait and cancels those that run. Later answers are ignored. Waits for the thread, which
  // may be in a call of Submit.
  void Stop();
  uint64_t held_bytes() const;

 private:
  class CopyCall;
  void Run();
  void Yield(std::unique_lock<std::mutex>& lock);
  void OnAnswer(CopyCall& call, Response response);
  void Finish(std::unique_ptr<MirrorJob> job);
  void Judge(MirrorJob& job, const Response& answer) const;

  const RolloutPolicy policy_;
  const OutputTolerance tolerance_;
  const std::shared_ptr<ModelVersion> stable_, candidate_;
  const std::shared_ptr<VersionCounters> counters_;  // of the candidate
  const Done done_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  CopyRate copies_, controls_;
  uint64_t random_ = 0;
  double share_ = 0;  // of requests, accumulated
  std::list<std::unique_ptr<MirrorJob>> waiting_;
  std::list<std::shared_ptr<CopyCall>> running_;
  uint64_t bytes_ = 0;
  bool stopped_ = false;
  std::thread thread_;  // started by the first copy
};

}  // namespace tern::server
