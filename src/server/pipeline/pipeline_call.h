// One request that runs through a pipeline. It reads its items on a worker thread, submits runs to the model,
// and makes the response.
#pragma once
#include <atomic>
#include <optional>

#include "server/pipeline/pipeline_model.h"

namespace tern::server {

// Thread-safe. The model owns the request until it is answered. Calls to the model and running steps share
// the ownership. Steps that wait for a worker thread do not, so that a cancelled request is destroyed at
// once.
class PipelineCall : public std::enable_shared_from_this<PipelineCall> {
 public:
  PipelineCall(std::shared_ptr<PipelineModel> model, std::shared_ptr<Call> call)
      : model_(std::move(model)), call_(std::move(call)) {}
  void Start();
  // Ends the request with an error and cancels the run of the model.
  void Fail(Status status, std::chrono::milliseconds retry_after, FailReason reason);

 private:
  class ModelCall;
  class QueuedStep;
  using Step = Status (PipelineCall::*)();
  Status Read();             // reads the items
  Status Advance();          // submits the next run, or finishes
  void Continue(Step step);  // runs a step; a failure ends the request
  bool Post(Step step);      // runs a step on a worker thread; returns false if too many wait
  void OnResponse(Response response);
  Status TakeResponse();
  Status Finish();
  bool Close();  // returns true for the first caller, which must answer the request

  const std::shared_ptr<PipelineModel> model_;
  const std::shared_ptr<Call> call_;
  std::optional<pipeline::Work> work_;  // only one thread at a time continues the request
  Response answer_;                     // of the last run

  std::atomic<bool> stop_{false};  // the request has failed, so reading its items can end

  std::mutex mutex_;
  std::shared_ptr<Call> running_;
  bool closed_ = false;
};

}  // namespace tern::server
