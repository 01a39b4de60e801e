// One request that runs through a pipeline: reads its items on a worker thread, submits runs to the model,
// and makes the response.
#pragma once
#include <optional>

#include "server/pipeline/pipeline_model.h"

namespace tern::server {

// Thread-safe. The calls to the model share the ownership.
class PipelineCall : public std::enable_shared_from_this<PipelineCall> {
 public:
  PipelineCall(std::shared_ptr<PipelineModel> model, std::shared_ptr<Call> call)
      : model_(std::move(model)), call_(std::move(call)) {}
  void Start();
  // Ends the request with an error and cancels the run of the model.
  void Fail(Status status, std::chrono::milliseconds retry_after, FailReason reason);

 private:
  class ModelCall;
  Status Read();                                  // reads the items
  Status Advance();                               // submits the next run, or finishes
  void Continue(Status (PipelineCall::*step)());  // runs a step; a failure ends the request
  void OnResponse(Response response);
  Status TakeResponse();
  Status Finish();
  bool Close();  // returns true for the first caller, which must answer the request

  const std::shared_ptr<PipelineModel> model_;
  const std::shared_ptr<Call> call_;
  std::optional<pipeline::Work> work_;  // only one thread at a time continues the request
  Response answer_;                     // of the last run

  std::mutex mutex_;
  std::shared_ptr<Call> running_;
  bool closed_ = false;
};

}  // namespace tern::server
