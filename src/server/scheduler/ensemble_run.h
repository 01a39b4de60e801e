// One request that runs through the steps of an ensemble.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/scheduler/ensemble.h"

namespace tern::server {

// Thread-safe. The calls of its steps share the ownership.
class EnsembleRun : public std::enable_shared_from_this<EnsembleRun> {
 public:
  EnsembleRun(std::shared_ptr<EnsembleModel> model, std::shared_ptr<Call> call, int64_t items);
  void Start();
  // Ends the request with an error and cancels the steps that run.
  void Fail(Status status, std::chrono::milliseconds retry_after, FailReason reason);

 private:
  class StepCall;
  enum class State { kWaiting, kStarted, kDone };
  struct Step {
    State state = State::kWaiting;
    std::shared_ptr<Call> call;
    std::shared_ptr<ModelVersion> version;  // kept until the request is answered, even if it is replaced
  };

  void Advance();
  // Returns whether a step can start. Each of its inputs must exist, or be an optional input of the ensemble
  // that the request lacks. Called under the lock.
  bool Ready(const EnsembleStep& step) const;
  std::shared_ptr<Call> MakeCall(size_t index);
  void Submit(size_t index, const std::shared_ptr<Call>& call);
  void OnResponse(size_t index, Response response);
  void Finish();
  bool Close();  // returns true for the first caller, which must answer the request

  const std::shared_ptr<EnsembleModel> model_;
  const std::shared_ptr<Call> call_;
  const int64_t items_;

  std::mutex mutex_;
  std::map<std::string, WireTensor> tensors_;
  std::vector<Step> steps_;
  size_t done_ = 0;
  bool closed_ = false;
};

}  // namespace tern::server
