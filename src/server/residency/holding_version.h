// A version of a model that holds requests while no loaded version can run them.
#pragma once
#include <list>
#include <mutex>
#include <optional>

#include "server/core/model_version.h"
#include "server/residency/hold_timer.h"
#include "server/scheduler/removable.h"

namespace tern::server {

// A share in a version that runs requests. A thread that submits a request holds a lease until Submit has
// returned. So a version that was closed gets no more requests once only the lease of its owner is left.
using Lease = std::shared_ptr<const std::shared_ptr<ModelVersion>>;

// Thread-safe. While there is a target, requests go to it. Otherwise they wait until Open, Refuse, their
// time-out or their cancellation. Each request is forwarded or answered exactly once, by the thread that
// takes it out of the list.
class HoldingVersion : public ModelVersion,
                       public Removable,
                       public Expiring,
                       public std::enable_shared_from_this<HoldingVersion> {
 public:
  HoldingVersion(ModelConfig config, std::string version, std::shared_ptr<HoldTimer> timer)
      : ModelVersion(std::move(config), std::move(version)), timer_(std::move(timer)) {}
  ~HoldingVersion() override;

  void Submit(std::shared_ptr<Call> call) override;
  bool RefuseIfOverloaded(Call& call) override;
  size_t MemoryBytes() const override;
  size_t Pending() const override;
  bool Ready() const override;
  bool placeholder() const override { return true; }
  std::shared_ptr<const ModelProcess> process() const override;
  uint64_t Hangs() const override;
  std::vector<std::pair<std::string, double>> Metrics() const override;
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override;
  void Expire(Clock::time_point now) override;

  // Copies the signatures of a version, so that clients can ask for them while there is no target. Call it
  // before other threads use this version.
  void DescribeLike(const ModelVersion& other);
  const std::vector<Signature>* signatures() const override { return signatures_ ? &*signatures_ : nullptr; }

  // Sets the target and submits the requests that wait, in their order.
  void Open(const std::shared_ptr<ModelVersion>& target);
  // Removes the target and returns its lease. The target still runs the requests that it has accepted.
  Lease Close();
  // Answers the requests that wait with an error.
  void Refuse(const Status& status, std::chrono::milliseconds retry_after = {});
  size_t held() const;  // requests that wait

 protected:
  // OnHit is called when a request goes to the target at once, OnWait when a request begins to wait, and
  // OnForward when a request that waited for `held` goes to the target.
  virtual void OnHit() {}
  virtual void OnWait() {}
  virtual void OnForward(std::chrono::nanoseconds /*held*/) {}
  Lease lease() const;  // null if there is no target

 private:
  struct Held {
    std::shared_ptr<Call> call;
    Clock::time_point since, expires;
  };
  using List = std::list<Held>;
  void Hold(const std::shared_ptr<Call>& call);
  void Cancel(const Call& call);
  void Answer(const Held& held, const Status& status, FailReason reason,
              std::chrono::milliseconds retry_after = {});
  void Forward(Held held, ModelVersion& target);

  const std::shared_ptr<HoldTimer> timer_;
  std::optional<std::vector<Signature>> signatures_;  // copies; requests do not use their models
  mutable std::mutex mutex_;
  Lease target_;
  List list_;
  bool refusing_ = false;                               // Drain refuses requests, so there will be no target
  Clock::time_point armed_ = Clock::time_point::max();  // when the timer calls Expire next
};

}  // namespace tern::server
