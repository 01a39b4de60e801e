// One version of a model, with its queue and its instances.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>

#include "server/core/model_version.h"
#include "server/scheduler/execution.h"
#include "server/scheduler/executor.h"
#include "server/scheduler/removable.h"
#include "server/scheduler/response_order.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

// Thread-safe. The lock guards the queue and the instances. No request is executed or answered while the lock
// is held.
class ModelRunner final : public ModelVersion,
                          public Executor::Client,
                          public Removable,
                          public std::enable_shared_from_this<ModelRunner> {
 public:
  static Result<std::shared_ptr<ModelRunner>> Create(ModelConfig config, std::string version,
                                                     std::unique_ptr<BackendModel> model,
                                                     std::shared_ptr<Executor> executor,
                                                     const SchedulerOptions& options);
  ~ModelRunner() override;

  void Submit(std::shared_ptr<Call> call) override;
  bool RefuseIfOverloaded(Call& call) override;
  size_t MemoryBytes() const override { return model_->MemoryBytes(); }
  size_t Pending() const override;
  bool Ready() const override;
  std::shared_ptr<const ModelProcess> process() const override;
  uint64_t Hangs() const override { return hangs_.load(std::memory_order_relaxed); }
  std::vector<std::pair<std::string, double>> Metrics() const override;

  void Work(int threads) override;
  void OnTimer() override;
  std::string Describe() const override { return StrCat("model '", config().name, "' version ", version()); }
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override;
  void SetBackground(bool background) { executor_->SetBackground(shared_from_this(), background); }

 private:
  struct Instance {
    std::unique_ptr<BackendInstance> backend;
    bool busy = false;
    std::vector<QueuedCallPtr> running;  // Drain answers these if they do not end in time
    Clock::time_point late = kNever;     // when the execution exceeds its time-out
  };
  // A decoupled request whose back end did not send the final response yet.
  struct Stream {
    QueuedCallPtr queued;
    std::weak_ptr<Call> call;         // the call that the back end has
    Clock::time_point late = kNever;  // when the time since the last response is too long
  };
  // An execution that was taken from the queue.
  struct Job {
    int instance = -1;
    Pick pick;
    std::chrono::nanoseconds waited{0};
    uint64_t epoch = 0;  // of the model's process
    bool empty() const { return pick.empty(); }
  };

  ModelRunner(ModelConfig config, std::string version, std::unique_ptr<BackendModel> model,
              std::shared_ptr<Executor> executor, const SchedulerOptions& options);
  Status CreateParts();

  void Enqueue(const QueuedCallPtr& queued, Clock::time_point now);
  void CancelQueued(const QueuedCallPtr& queued);

  bool MayRunInline() const;
  // Returns whether this many requests may be run on a thread that serves connections.
  bool FitsInline(size_t calls) const;
  bool TryInline(const QueuedCallPtr& queued);
  int ClaimInline(const QueuedCallPtr& queued, bool& give_up);
  void RunInline(Job job);

  // These are called under the lock.
  int IdleInstance() const;
  // Whether requests may be taken from the queue now. Rejects the requests of sequences that were lost with
  // the model's process.
  bool MayTake(std::vector<RejectedCall>& rejected);
  std::vector<QueuedCallPtr> TakeLate(Clock::time_point now);
  Clock::time_point NextTimer() const;
  Job TakeJob(Clock::time_point now, std::vector<RejectedCall>& rejected, Clock::time_point& again);
  Job TakeJobFor(int instance, Clock::time_point now, std::vector<RejectedCall>& rejected,
                 Clock::time_point& again);
  void Start(Job& job, Clock::time_point now);

  ExecutionResult Run(const Job& job, int threads, std::chrono::nanoseconds elapsed_as_cpu);
  void RunDecoupled(const Job& job);
  std::shared_ptr<Call> OpenStream(const QueuedCallPtr& queued);
  void CloseStream(const QueuedCall& queued);
  void HearStream(const QueuedCall& queued);  // called after a response that is not the last one
  Clock::time_point LateFrom(Clock::time_point now) const;
  void CancelStream(const QueuedCall& queued);  // tells the back end that nobody waits for more responses
  // Gives the instance back. If `next` is not null and requests wait, takes the next job in its place.
  void Release(const Job& job, const ExecutionResult& result, Job* next);
  void Learn(const Job& job, const ExecutionResult& result);

  void Answer(std::vector<FinishedCall> finished);
  void SendPartial(std::vector<FinishedCall> partial);
  void Reject(std::vector<RejectedCall> rejected);
  void Send(FinishedCall finished);
  void SendWaiting();         // sends the responses that wait for an earlier one
  void Forget(size_t calls);  // called when this many requests have been answered
  void Refuse(Call& call, Status status, std::chrono::milliseconds retry_after, FailReason reason);
  void Abandon(QueuedCall& queued);  // answers a request whose execution has not ended
  void AnswerLate(const std::vector<QueuedCallPtr>& late);
  void WatchProcess();

  const std::unique_ptr<BackendModel> model_;
  const std::shared_ptr<Executor> executor_;
  const std::chrono::nanoseconds inline_below_;
  const BatchBuilder builder_;
  ResponseOrder<FinishedCall> order_;
  bool keeps_order_ = false;
  bool runs_calls_ = false;  // the model is decoupled, and the back end itself sends the responses

  std::atomic<int64_t> single_ns_{0};  // decayed mean of executions of one request; 0: not known
  std::atomic<int64_t> cpu_ns_{0};     // decayed mean processor time of an execution
  std::atomic<uint64_t> hangs_{0};

  mutable std::mutex mutex_;
  std::unique_ptr<Feeder> feeder_;
  std::vector<Instance> instances_;
  Clock::time_point ready_since_ = kNever;
  uint64_t next_order_ = 0;
  uint64_t epoch_ = 0;   // of the model's process, at the last call of MayTake
  size_t accepted_ = 0;  // requests that are not answered yet
  std::map<const QueuedCall*, Stream> streams_;
  bool draining_ = false;
  bool ended_ = false;  // Drain gave up, so back ends must stop
  std::condition_variable drained_;
};

}  // namespace tern::server
